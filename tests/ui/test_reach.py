"""Phones and hand-outs are led to an address that others reach, or are told that there is none."""

import errno
import os
import pty
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from components import reach
from components.reach import Reach, in_network, is_near, reach_of
from components.settings import Settings
from components.ui import serving
from tests.ui.page import links_of

FOUND = "192.168.1.20"
CASES = tomllib.loads(Path(__file__).with_name("reach.toml").read_text("utf-8"))


class Asked(SimpleNamespace):
    """A UDP socket that knows from where it would send; it has no way to send anything."""

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_: object) -> None: ...

    def connect(self, peer: tuple[str, int]) -> None:
        assert peer[0] in ("192.0.2.1", "2001:db8::1")  # no machine has these
        if not self.name:
            raise OSError(errno.ENETUNREACH, "Network is unreachable")

    def getsockname(self) -> tuple[str, int]:
        return self.name, 40000


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """This machine's network: the ``name`` that it has there, "" for none; outside of a container."""
    here = SimpleNamespace(name=FOUND)
    monkeypatch.setattr(reach.socket, "socket", lambda *_: Asked(name=here.name))
    monkeypatch.setattr(reach, "INSIDE", ())
    return here


def test_which_links_lead_to_the_machine_that_opens_them() -> None:
    assert [link for link in CASES["near"] if not is_near(link)] == []
    assert [link for link in CASES["far"] if is_near(link)] == []


@pytest.mark.parametrize(("host", "name", "found"), CASES["in_network"])
def test_the_address_is_that_from_which_this_machine_would_send(
    network: SimpleNamespace, host: str, name: str, found: str
) -> None:
    network.name = name
    assert in_network(host) == found


def test_a_container_has_no_address_that_others_know(
    network: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "INSIDE", (Path(os.devnull),))
    assert (in_network("0.0.0.0"), network.name) == ("", FOUND)


@pytest.mark.parametrize(("url", "host", "link", "led"), CASES["led"])
def test_a_link_is_led_to_where_others_reach_the_app(
    network: SimpleNamespace, url: str, host: str, link: str, led: str
) -> None:
    assert Reach(url, host or None).link(link, "/zh") == led
    assert network.name == FOUND


def test_a_hand_out_leads_to_where_others_reach_the_app(
    whole: gr.Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = links_of(whole)
    monkeypatch.setattr(links, "reach", Reach("https://x.example"))
    handed = "".join(links.report("text=so+good", "http://127.0.0.1:7860/"))
    assert "https://x.example/?text=so+good" in handed
    assert "127.0.0.1" not in handed


def test_the_owner_states_an_address_and_only_a_room_finds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_SERVER_NAME", "[::]")
    assert reach_of(Settings(url="https://x.example")) == Reach("https://x.example", None)
    assert reach_of(Settings(room=True)) == Reach("", "::")
    with pytest.raises(ValueError, match="url"):
        Settings(url="x.example")


def printed(room: str, given: Reach) -> str:
    """Give what is printed to a terminal."""
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as terminal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving.sys, "stdout", terminal)
        serving._tell_phones(room, given)
    told = b""
    with os.fdopen(leader, "rb", 0) as shown, suppress(OSError):  # Linux tells the end by an error
        while part := shown.read(100_000):
            told += part
    return told.decode()


def test_who_starts_a_room_reads_where_phones_find_it_or_what_to_set(network: SimpleNamespace) -> None:
    told = printed("http://0.0.0.0:7860/room", Reach(host="0.0.0.0"))
    assert f"http://{FOUND}:7860/room " in told
    assert re.search("[█▀▄]{20}", told)  # the QR code
    assert "https://x.example/app/room " in printed("http://127.0.0.1:1/room", Reach("https://x.example/app"))
    network.name = ""
    lost = printed("http://0.0.0.0:7860/room", Reach(host="0.0.0.0"))
    assert "No phone can reach" in lost
    assert "GRADIO_SERVER_NAME=0.0.0.0 or, where that is set, POOLSCOPE_URL" in lost
    assert "█" not in lost
