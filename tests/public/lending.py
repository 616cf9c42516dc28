"""A stand-in for the service that lends the GPUs of a Space on ZeroGPU."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

GRANTED = {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "granted"}
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
