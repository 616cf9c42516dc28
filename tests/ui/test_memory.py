"""The process of the page holds nothing of a table, once its visitor has left."""

import gc
import inspect
import os
import time
from typing import Any

import httpx

from components.settings import Settings
from components.ui import gradio_internals
from components.ui.serving import serve
from components.ui.shell import build
from tests.public.asking import answers_of
from tests.serving import built, free_port, python
from tests.ui.fake import FakeAnalyst

MARK = f"zebra{os.getpid()}"
ROWS = "".join(f"{MARK} row {number} good,{number % 2}\n" for number in range(40))
TABLE = {"table": f"text,label\n{ROWS}", "text": "text", "label": "label"}
TYPED = {**{f"lab-{name}": text for name, text in TABLE.items()}, "text": f"{MARK} asked"}


def holders() -> list[str]:
    """Find what refers to a text with the mark, but for this module."""
    gc.collect()
    found = []
    for one in gc.get_objects():
        if one is not TYPED and one is not TABLE and one is not globals() and not inspect.iscode(one):
            texts = [text for text in gc.get_referents(one) if isinstance(text, str | bytes | bytearray)]
            if any(MARK in (text if isinstance(text, str) else text.decode("latin-1")) for text in texts):
                found.append(f"{type(one).__qualname__} {str(one)[:200]}")
    return found


def asked(client: httpx.Client, config: Any, function: str) -> str:
    """Give what a page is told that has a function called with what stands in its components."""
    values = {one["id"]: one["props"] for one in config["components"]}
    one = next(one for one in config["dependencies"] if one["api_name"] == function)
    of = {str(other["outputs"]): other["inputs"] for other in config["dependencies"] if other["js"]}

    def typed(part: int) -> Any:
        if (collected := of.get(str([part]))) is not None:
            return [typed(other) for other in collected]
        return TYPED.get(values[part].get("elem_id"), values[part].get("value"))

    data = [typed(part) for part in one["inputs"]]
    body = {"fn_index": one["id"], "data": data, "session_hash": "ann", "event_data": None}
    if not one["queue"]:
        return client.post("/gradio_api/run/predict", json=body).text
    assert client.post("/gradio_api/queue/join", json=body).status_code == 200
    return answers_of(client, "ann")


def main() -> None:
    """Serve the page in this process, visit it, leave, and print what still holds what was typed."""
    os.environ["GRADIO_SERVER_PORT"] = str(free_port())
    gradio_internals.LASTING = 0
    serve(built(lambda: build(FakeAnalyst(), Settings())), Settings(), ready=lambda: True)
    url = f"http://127.0.0.1:{os.environ['GRADIO_SERVER_PORT']}"
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=60) as client:
        config = client.get("/config").json()
        with client.stream("GET", "/gradio_api/heartbeat/ann"):
            assert "40 rows" in asked(client, config, "read_table")
            for function in ("ask", "fit_table", "try_mine"):
                assert MARK in (told := asked(client, config, function)), function
                assert function != "fit_table" or "more than the 3 tokens" in told  # notes on the texts
            assert holders(), "the last answer is there as long as its page"
        event = client.post("/gradio_api/call/v2/fit", json=TABLE).json()["event_id"]  # a program's, at last
        assert "event: complete" in client.get(f"/gradio_api/call/v2/fit/{event}").text
    for _ in range(10):
        time.sleep(2)  # nobody tells when a session has ended, and to look takes most of a second
        if not (held := holders()):
            break
    print("\n".join(["held:", *held]), flush=True)
    os._exit(0)


def test_nothing_of_a_table_is_held_when_its_visitor_has_left() -> None:
    """Neither by gradio nor by this app. In a process of its own: the server ends with it."""
    told = python("-m", "tests.ui.test_memory", timeout=120)
    assert told.stdout.partition("held:")[2] == "\n", told.stderr


if __name__ == "__main__":
    main()
