"""The room: phones follow and vote, each once; only who has the key leads; hostile votes get a sentence."""

import random
from collections import Counter
from contextlib import suppress
from html import unescape
from http import HTTPStatus
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from components.errors import PoolscopeError
from components.exhibits.talks import parse_talks
from components.settings import Settings
from components.texts import load_texts
from components.ui.public.guard import GuardMiddleware
from components.ui.talk import KEY, STREAMS, TOKEN, Room, RoomMiddleware, phone_page, slide_html, votes_html
from tests.ui.fake import XSS
from tests.ui.page import SAY

CHOICES = {"en": ("This", XSS), "zh": ("这", "那")}
TALKS = {
    tag: parse_talks(
        f"# T {{#talk}}\n\n## {XSS}\n\nWhich?\n\n- {one}\n- {other}\n- None\n\n[reads](?)\n\n"
        "## And here\n\n[reads](?)\n\n## Last\n\nWhy?\n\n[reads](?)\n",
        (),
        {"reads": {}},
    )
    for tag, (one, other) in CHOICES.items()
}
ASKING = {"talk": "talk", "step": 1, "asking": True}
ANSWERED = {**ASKING, "asking": False}


@pytest.fixture
def room() -> Room:
    """A room whose talk asks its first question."""
    room = Room(TALKS)
    room.lead(ASKING)
    return room


def ask(
    room: Room,
    method: str,
    path: str,
    key: str = "",
    phone: str = "",
    address: str = "8.8.8.8",
    phones: bool = True,
    **more: Any,
) -> Any:
    """The answer of the room over HTTP."""
    client = there(RoomMiddleware(guard(), room, phones), address)
    client.cookies.update({KEY: key, TOKEN: phone})
    return client.request(method, path, **more)


def guard(**settings: Any) -> GuardMiddleware:
    """The guard around an app that says that it was asked."""
    return GuardMiddleware(PlainTextResponse("elsewhere"), {}, Settings(**settings), extent=iter)


def there(app: RoomMiddleware, address: str) -> TestClient:
    """A client at an address, which follows no redirect."""
    return TestClient(app, "http://localhost", follow_redirects=False, client=(address, 50_000))


def votes(room: Room, *phones: str, address: str) -> int:
    """Count these phones at an address that vote."""
    voted = 0
    for phone in phones:
        with suppress(PoolscopeError):
            room.vote(phone, address, room.round, "0")
            voted += 1
    return voted


def test_each_phone_has_one_vote_and_may_change_it(room: Room) -> None:
    drawn, last = random.Random(0), {}
    for _ in range(100):
        name, choice = f"phone {drawn.randrange(30)}", str(drawn.randrange(3))
        sent = ask(room, "POST", "/room/vote", phone=name, data={"round": room.round, "choice": choice})
        assert (sent.status_code, sent.headers["location"]) == (303, "../room?lang=en")
        last[name] = choice
    counts = Counter(last.values())
    exact = [counts[str(choice)] for choice in range(3)]
    assert room.counts() == exact
    room.lead(ANSWERED)
    assert (room.counts(), room.votes) == (exact, {})  # the phones are forgotten


def test_votes_are_secret_until_the_answer_and_anew_when_it_is_asked_again(room: Room) -> None:
    room.vote("a", "", room.round, "2")
    before = slide_html(room, "b", SAY)
    assert "1 of 1" not in before
    assert SAY("room.vote") in before
    assert 'aria-pressed="true"' in slide_html(room, "a", SAY)
    assert SAY("room.votes", votes=1) in votes_html(room, SAY)
    late = room.round
    for at, counts in ((ANSWERED, [0, 0, 1]), (ASKING, [0, 0, 0])):
        room.lead(at)
        assert room.counts() == counts
        assert ("None: 1 of 1" in slide_html(room, "b", SAY)) == any(counts)
        assert ("None: 1 of 1" in votes_html(room, SAY)) == any(counts)
        with pytest.raises(PoolscopeError, match="asked now"):
            room.vote("a", "", late, "1")


def test_a_phone_shows_the_talk_in_its_language_and_a_way_to_the_app() -> None:
    room = Room(TALKS)
    assert SAY("room.before") in slide_html(room, "", SAY)
    room.lead({**ASKING, "step": 3})  # a question without choices
    assert SAY("room.aloud") in slide_html(room, "", SAY)
    assert votes_html(room, SAY) == ""
    room.lead({**ANSWERED, "step": 4})
    assert SAY("talk.end") in slide_html(room, "", SAY)
    room.lead(ASKING)
    assert all(choice in slide_html(room, "", load_texts("zh")) for choice in CHOICES["zh"])
    room.vote("a", "", room.round, "1")
    assert "<img" not in slide_html(room, "", SAY) + votes_html(room, SAY)
    room.lead(ANSWERED)
    page = phone_page(room, "", SAY)
    assert 'href="./?lang=en"' in page
    assert "<img" not in page + votes_html(room, SAY)


def test_a_hostile_vote_gets_a_sentence(room: Room) -> None:
    ballots = {"choice": "3"}, {"choice": "-1"}, {"choice": "0", "round": "another"}, {}
    for phone, given in (("", {"choice": "0"}), *(("a", ballot) for ballot in ballots)):
        sent = ask(room, "POST", "/room/vote", phone=phone, data={"round": room.round, **given})
        assert sent.status_code == HTTPStatus.BAD_REQUEST
        assert sent.json()["detail"]
        assert room.counts() == [0, 0, 0]


@pytest.mark.parametrize("key", ["", "guessed"])
def test_nobody_else_moves_the_slides(room: Room, key: str) -> None:
    for refused in (
        ask(room, "POST", "/room/at", key=key, json=ANSWERED),
        ask(room, "GET", "/room/lead", params={"key": key}),
    ):
        assert refused.status_code == HTTPStatus.FORBIDDEN
        assert room.key not in str(refused.headers)
    assert ask(room, "GET", "/room/lead", key=key).json() == {"leads": False}
    assert room.at.asking


def test_who_has_the_key_leads(room: Room) -> None:
    came = ask(room, "GET", "/room/lead", params={"key": room.key})
    assert (came.status_code, came.headers["location"]) == (HTTPStatus.SEE_OTHER, "../?talk=1")
    assert "httponly" in came.headers["set-cookie"].lower()
    assert ask(room, "GET", "/room/lead", key=room.key).json() == {"leads": True}
    sent = ask(room, "POST", "/room/at", key=room.key, json=ANSWERED)
    assert sent.headers["content-type"].startswith("text/html")
    assert not room.at.asking
    for wrong in ({"talk": "other"}, {"step": -1}, {"step": 5}, {"step": True}, {"step": "1"}, {"talk": []}):
        sent = ask(room, "POST", "/room/at", key=room.key, json={**ASKING, **wrong})
        assert sent.status_code == HTTPStatus.BAD_REQUEST
    assert not room.at.asking


@pytest.mark.anyio
async def test_a_phone_is_told_at_once_and_whenever_the_talk_goes_on() -> None:
    room = Room(TALKS)
    room.admit("a", "")
    stream = room.follow("a", lambda: str(room.at.step), beat=0.01)
    for step in (0, 1, 2):
        assert await anext(stream) == f'data: "{step}"\n\n'
        assert room.streams == {"a": 1}
        assert await anext(stream) == ":\n\n"
        room.lead({**ANSWERED, "step": step + 1})
    await stream.aclose()
    assert not room.streams


def names(count: int, prefix: str) -> list[str]:
    return [f"{prefix} {number}" for number in range(count)]


def test_a_lecture_hall_behind_one_address_votes_and_one_address_keeps_no_other_out(room: Room) -> None:
    """Those 200 and more have a place; who makes cookies up has a quarter of all, and no more votes."""
    assert votes(room, *names(200, "hall"), address="9.9.9.9") == 200
    assert votes(room, *names(1000, "made up"), address="6.6.6.6") == room.share == 250
    for other in range(2):
        votes(room, *names(1000, f"other {other}"), address=f"6.6.6.{other}")
    assert votes(room, *names(100, "late"), address="7.7.7.7") == 100  # also in the places of who has most
    assert sum(room.counts() or []) == room.most == 1000
    assert {*names(200, "hall"), *names(100, "late")} <= {*room.votes}


@pytest.mark.anyio
async def test_who_follows_keeps_its_place_and_who_only_did_makes_room() -> None:
    room = Room(TALKS, most=4, share=2)
    streams = {}
    for phone, address in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")):
        room.admit(phone, address)
        streams[phone] = room.follow(phone, str, beat=0.01)
        await anext(streams[phone])
    with pytest.raises(PoolscopeError, match="2 of them at one network address"):
        room.admit("e", "x")
    room.admit("f", "z")  # an address without a phone, where all places are taken
    assert set(room.places) == {"a", "c", "d", "f"}
    assert [one async for one in streams["b"]] == []  # its stream ends
    await streams["a"].aclose()
    room.admit("e", "x")
    assert set(room.places) == {"e", "c", "d", "f"}


def test_a_phone_follows_a_few_times_and_cookies_that_are_long_are_cut(room: Room) -> None:
    room.admit("a", "8.8.8.8")
    room.streams["a"] = STREAMS
    assert ask(room, "GET", "/room/now", phone="a").status_code == HTTPStatus.TOO_MANY_REQUESTS
    sent = {"round": room.round, "choice": "0"}
    assert ask(room, "POST", "/room/vote", phone="x" * 3000, data=sent).status_code == 303
    assert {*room.votes} == {"x" * 64}


@pytest.mark.parametrize("trusted", [False, True])
def test_what_phones_ask_has_the_rate_of_their_address(room: Room, trusted: bool) -> None:
    """But in the room's own network; who asks too often hears when again, and no vote of theirs counts."""
    app = RoomMiddleware(guard(address_rate=2, room=trusted), room, phones=True)
    for address, served in (("8.8.8.8", 10), ("10.0.0.7", 11 if trusted else 10)):
        phone = there(app, address)
        told = [phone.get("/room").status_code for _ in range(11)]
        assert told == [HTTPStatus.OK] * served + [HTTPStatus.TOO_MANY_REQUESTS] * (11 - served)
        vote = phone.post("/room/vote", data={"round": room.round, "choice": "0"})
        assert ("retry-after" in vote.headers) == (served == 10)
        assert bool(room.votes) == (served == 11)


NOTED = {"en": parse_talks("# T\n\n## A\n\n[reads](?)\n\nOnly for me\n", (), {"reads": {}})}


@pytest.mark.parametrize("phones", [True, False])
def test_notes_are_for_who_leads_and_for_this_machine(phones: bool) -> None:
    """The window of anybody else says so; without a room there is no path for phones."""
    room = Room(NOTED)
    for given, told in (
        ({"key": "guessed"}, False),
        ({"address": "127.0.0.1", "headers": {"X-Forwarded-For": "8.8.8.8"}}, False),
        ({"address": "127.0.0.1", "headers": {"Host": "evil.example"}}, False),
        ({"address": "127.0.0.1"}, True),
        ({"key": room.key}, True),
    ):
        sent = ask(room, "GET", "/speaker", phones=phones, **given)  # type: ignore[arg-type]  # by name
        assert ("Only for me" in sent.text, SAY("speaker.locked") in unescape(sent.text)) == (told, not told)
    assert ask(room, "GET", "/room", phones=phones).status_code == (200 if phones else 404)
