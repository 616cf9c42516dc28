"""Requests that no page and no program sends: they harm nobody and are answered in a sentence."""

import random
from collections import Counter
from http import HTTPStatus

import httpx
import pytest

from components.ui.gradio_internals import CLOSE
from tests.public.rubbish import ODD_EVENTS, ODD_VALUES

FAULT = "This is a fault of the page"


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
def test_nobody_decides_which_address_others_read(real: httpx.Client, header: str) -> None:
    real.get("/gradio_api/info", headers={header: "evil.example"})
    told = real.get("/gradio_api/info")
    assert told.status_code == HTTPStatus.OK
    assert "evil.example" not in told.text


def answers_of(app: httpx.Client, session: str) -> httpx.Response:
    """What comes of what a session has asked, until it is told to close the stream, as a page does."""
    lines = []
    with app.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if CLOSE in line.encode():
                break
    return httpx.Response(stream.status_code, text="\n".join(lines))


def test_odd_values_of_the_page_s_parts_are_answered_in_a_sentence(real: httpx.Client) -> None:
    """No traceback either: the fixture reads the log."""
    chosen = random.Random(7)
    session = "odd"
    told = Counter()
    for function in real.get("/config").json()["dependencies"]:
        for _ in range(2):
            event = {
                "data": [chosen.choice(ODD_VALUES) for _ in function["inputs"]],
                "fn_index": function["id"],
                "session_hash": session,
                "event_data": chosen.choice(ODD_EVENTS),
            }
            if function["queue"] is False:
                answer = real.post("/gradio_api/run/predict", json=event)
            else:
                answer = real.post("/gradio_api/queue/join", json=event)
                if answer.is_success:
                    answer = answers_of(real, session)
            told[answer.status_code] += 1
            if answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
                assert answer.json()["error"] not in (None, "", FAULT), event
            assert FAULT not in answer.text, event
    assert told[HTTPStatus.OK] > 50
