"""A hub that never comes to its answer is left; none that sends into this network is followed."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from huggingface_hub import constants

from components.errors import PoolscopeError
from components.model.hub import web
from components.model.hub.downloads import Downloads
from components.model.hub.listing import Listing, listed
from components.model.hub.web import is_private, small
from tests.hub import Hub
from tests.model.hub.conftest import LIMIT, MODEL

LATE = 10  # seconds after which the head would be whole


@pytest.fixture
def dripping(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A hub that sends a byte of its answer's head twenty times a second."""
    going = threading.Event()

    def serve(server: socket.socket) -> None:
        while not going.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    def drip(connection: socket.socket) -> None:
        until = time.monotonic() + LATE
        try:
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nX-Long: ")
            while time.monotonic() < until and not going.wait(0.05):
                connection.sendall(b"x")
            connection.sendall(b"\r\n\r\n")
        except OSError:
            pass  # who asked has left
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        monkeypatch.setattr(web, "BEGIN", 0.3)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        going.set()


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(
    listing: Listing, dripping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", dripping)
    template = dripping + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    with pytest.raises(PoolscopeError, match="does not answer in time"):
        listed(MODEL, None, LIMIT)
    with pytest.raises(PoolscopeError, match="does not answer in time"):
        list(Downloads().fetch(listing))


def test_a_public_hub_that_sends_to_a_private_address_is_not_followed(
    there: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{there.address}/{MODEL}/resolve/main/model.safetensors"
    until = time.monotonic() + 20
    assert len(small(url, MODEL, LIMIT, until)) > 1_000  # an owner's own hub, in the same network
    there.requests.clear()
    monkeypatch.setattr(constants, "ENDPOINT", "http://hub.invalid")
    with pytest.raises(PoolscopeError, match="an address of this server's own network"):
        small(url, MODEL, LIMIT, until)
    assert there.asked("elsewhere") == []


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("127.0.0.1", True), ("localhost", True), ("10.1.2.3", True), ("169.254.169.254", True),
        ("192.168.0.1", True), ("::1", True), ("fd00::1", True), ("0.0.0.0", True), ("1.1.1.1", False),
        ("2606:4700:4700::1111", False), ("nobody.invalid", False),
    ],
)  # fmt: skip
def test_which_addresses_are_private(host: str, private: bool) -> None:
    assert is_private(host) is private
