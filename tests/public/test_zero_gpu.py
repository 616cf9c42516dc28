"""A Space on ZeroGPU: the real package ``spaces``, and a stand-in for the service that lends the GPU."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np

from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from components.zero_gpu import SECONDS
from tests.serving import START, served
from tests.zero_gpu_app import GPU

GRANTED = {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "granted"}
VISITOR = "head.e30.signature"  # a token of Hugging Face, which says whose quota it is: {} in base64
Call = tuple[str, dict[str, list[str]]]  # the path of a request to the service, and its query


@contextmanager
def lending() -> Iterator[tuple[str, list[Call]]]:
    """The address of a service that grants every wish, and what it is asked, in order."""
    calls: list[Call] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            address = urlsplit(self.path)
            calls.append((address.path, parse_qs(address.query)))
            body = json.dumps(GRANTED).encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", calls
        server.shutdown()
        thread.join()


def test_it_starts_and_only_who_asks_for_the_gpu_is_lent_it(tmp_path: Path) -> None:
    (log := tmp_path / "app.log").touch()
    with lending() as (service, calls):
        zero = {"SPACES_ZERO_GPU": "true", "SPACES_ZERO_DEVICE_API_URL": service}
        with served("tests/zero_gpu_app.py", log=log, **zero) as url, httpx.Client(base_url=url) as client:
            client.timeout = START
            question = {"backbone": "bert-sentiment", "text": "a good film"}
            answer = client.post("/analyze", json=question).json()
            assert calls == [("/startup-report", {})]  # what is measured costs nobody anything
            said = client.post("/gpu", json={}, headers={"X-IP-Token": VISITOR})
    np.testing.assert_allclose(
        answer["logits"], Engine(Settings()).ask("analyze", Query(**question)).logits, atol=1e-6
    )
    assert said.json() == GPU, log.read_text(errors="replace")
    assert [path for path, _ in calls] == ["/startup-report", "/schedule", "/allow", "/release"]
    _, wished, allowed, released = (query for _, query in calls)
    assert (wished["token"], wished["durationSeconds"]) == ([VISITOR], [str(SECONDS)])  # of whom, how much
    assert allowed["allowToken"] == released["allowToken"] == [GRANTED["allowToken"]]
    assert released["fail"] == ["false"]
