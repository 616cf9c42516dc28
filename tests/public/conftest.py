"""The app as it is served: the real one, and one on an analyst with faults, on ZeroGPU."""

import json
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.public.asking import client_of
from tests.public.image import ENVIRONMENT, PORT, below, copied
from tests.serving import RATE, ROOT, served

WAITING = 120  # questions, more than the pages of test_streams ask at once
GRANTED = {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "granted"}
Call = tuple[str, dict[str, list[str]]]  # the path of a request to the service, and its query


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="package")
def real(folder: Path) -> Iterator[httpx.Client]:
    """The app itself, as in the image, with MCP; it notes down every attempt to reach another machine."""
    attempts, log, image, files = (folder / name for name in ("attempts", "real.log", "image", "files"))
    attempts.touch()
    for made in (image, files):
        made.mkdir()
    before = below(copied(image))
    seen = {"ATTEMPTS": attempts, "LOG": log, "TMPDIR": files, "HF_HOME": folder / "cache"}
    more = {"POOLSCOPE_METRICS": "1", "POOLSCOPE_ADDRESS_RATE": RATE}  # all tests ask from this machine
    environment = ENVIRONMENT | {name: str(path) for name, path in seen.items()} | more
    del environment[PORT]
    environment["GRADIO_MCP_SERVER"] = "true"
    guarded = str(ROOT / "tests" / "guarded_app.py")
    with served(guarded, log=log, root=image, **environment) as url, client_of(url) as client:
        yield client
    assert attempts.read_text() == ""
    assert not {"Traceback", "WARNING", "WARNING:"} & {*log.read_text(errors="replace").split()}
    assert below(image) == before  # all of it is root's there: nothing may be written


@pytest.fixture(scope="package")
def lent() -> Iterator[tuple[str, list[Call]]]:
    """A stand-in for the service that lends GPUs, which grants every wish; and what it is asked, in order."""
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


@pytest.fixture(scope="package")
def faulty(folder: Path, lent: tuple[str, list[Call]]) -> Iterator[httpx.Client]:
    """The app on an analyst with faults; few questions may wait, and few come from one visitor."""
    module = ("-m", "tests.public.faulty_app", str(folder / "gate"))
    limits = {"POOLSCOPE_RATE": "4", "POOLSCOPE_WAITING": str(WAITING), "POOLSCOPE_SECONDS": "600"}
    zero = {"SPACES_ZERO_GPU": "true", "SPACES_ZERO_DEVICE_API_URL": lent[0]}
    with served(*module, log=folder / "faulty.log", **limits, **zero) as url, client_of(url) as client:
        yield client
