"""The room: phones follow and vote, each once; only who has the key leads; hostile votes get a sentence."""

import asyncio
import json
import random
from collections import Counter
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse

from components.errors import PoolscopeError
from components.exhibits.control import Control
from components.exhibits.script import Script, parse_talk
from components.texts import languages, load_texts
from components.ui.public.middleware import GuardMiddleware
from components.ui.public.rate_limit import Rates
from components.ui.shell import build
from components.ui.talk.phone import phone_page, room_link
from components.ui.talk.room import KEY, Room, RoomMiddleware
from tests.serving import built
from tests.ui.fake import XSS, FakeAnalyst

TALK = """
[[step]]
show = "reads"
caption.en = "Look"
ask.en = "Which?"
choices.en = ["This", "That", "None"]
choices.zh = ["这", "那", "无"]
[[step]]
show = "reads"
caption.en = "And here"
[[step]]
show = "reads"
caption.en = "Last"
ask.en = "Why?"
"""
NO_CONTROLS: tuple[Control[str], ...] = ()
ASKING = {"talk": "talk", "step": 1, "asking": True}
ANSWERED = {**ASKING, "asking": False}
PHONES, VOTES = 300, 3


def script(text: str = TALK) -> Script:
    return parse_talk(text, "talk.toml", "talk", NO_CONTROLS, {"reads": {}})


def asking(most: int = 1000) -> Room:
    """A room whose talk asks its first question."""
    room = Room([script()], most)
    room.lead(ASKING)
    return room


def ballot(room: Room, phone: object, choice: object) -> dict[str, Any]:
    return {"phone": phone, "round": room.told()["round"], "choice": choice}


def client_of(room: Room) -> httpx.AsyncClient:
    """Who asks the room and the guard behind it, all from one address; one question a minute is allowed."""
    pages = {tag: phone_page([script()], load_texts(tag)) for tag in languages()}
    guarded = GuardMiddleware(PlainTextResponse("gradio's"), {}, Rates(1, 1), 999, body_timeout=30)
    transport = httpx.ASGITransport(RoomMiddleware(guarded, room, pages))
    return httpx.AsyncClient(transport=transport, base_url="http://app.example")


def ask(room: Room, method: str, path: str, **more: Any) -> httpx.Response:
    async def answer() -> httpx.Response:
        async with client_of(room) as client:
            return await client.request(method, path, **more)

    return asyncio.run(answer())


def test_the_votes_of_a_full_room_are_counted_exactly() -> None:
    """Each of 300 phones votes three times at random, all at once; its last vote counts."""
    room, drawn = asking(), random.Random(0)
    last: dict[str, int] = {}

    async def phone(client: httpx.AsyncClient, name: str) -> None:
        for _ in range(VOTES):
            last[name] = drawn.randrange(3)
            sent = await client.post("/room/vote", json=ballot(room, name, last[name]))
            assert sent.status_code == HTTPStatus.OK
            await asyncio.sleep(0)

    async def all_phones() -> None:
        async with client_of(room) as client:
            await asyncio.gather(*(phone(client, f"phone {number}") for number in range(PHONES)))

    asyncio.run(all_phones())
    counted = Counter(last.values())
    assert sum(counted.values()) == PHONES
    exact = [counted[choice] for choice in range(3)]
    assert room.led()["counts"] == exact
    room.lead(ANSWERED)
    assert room.told()["tally"] == room.led()["counts"] == exact


def test_a_tally_is_secret_until_the_answer_and_stays_with_its_slide() -> None:
    room = asking()
    room.vote(ballot(room, "a", 2))
    assert room.told()["tally"] is None
    assert "counts" not in room.told()  # which the speaker alone knows
    for place in (ANSWERED, {**ANSWERED, "step": 2}, ANSWERED):
        room.lead(place)
    assert room.told()["tally"] == [0, 0, 1]
    before = room.told()["round"]
    room.lead(ASKING)  # a jump there asks again
    assert room.told()["tally"] is None
    assert room.told()["round"] != before
    room.lead(ANSWERED)
    assert room.told()["tally"] == [0, 0, 0]


def test_nothing_of_a_phone_is_kept() -> None:
    room = asking()
    room.vote(ballot(room, "the token of a phone", 1))
    assert "the token of a phone" in str(vars(room))
    room.lead(ANSWERED)
    assert "the token of a phone" not in str(vars(room))


def test_a_late_vote_is_for_no_other_question() -> None:
    room = asking()
    late = ballot(room, "a", 1)
    room.lead(ANSWERED)
    with pytest.raises(PoolscopeError, match="the question that is asked now"):
        room.vote(late)
    room.lead(ASKING)
    with pytest.raises(PoolscopeError, match="the question that is asked now"):
        room.vote(late)
    assert room.led()["counts"] == [0, 0, 0]


def test_a_question_without_choices_takes_no_vote() -> None:
    room = asking()
    room.lead({**ASKING, "step": 3})
    assert room.told() == {"talk": "talk", "step": 3, "asking": True, "round": "", "tally": None}
    with pytest.raises(PoolscopeError, match="the question that is asked now"):
        room.vote(ballot(room, "a", 0))


def test_votes_are_bounded() -> None:
    room = asking(most=2)
    for phone in ("a", "b", "a"):
        room.vote(ballot(room, phone, 0))
    with pytest.raises(PoolscopeError, match="at most 2 phones"):
        room.vote(ballot(room, "c", 0))


@pytest.mark.parametrize("choice", [-1, 3, 1e999, True, "0", None, [0], {"a": 0}])
def test_what_is_no_choice_gets_a_sentence(choice: object) -> None:
    room = asking()
    sent = ask(room, "POST", "/room/vote", content=json.dumps(ballot(room, "a", choice)))
    assert sent.status_code == HTTPStatus.BAD_REQUEST
    assert sent.json()["detail"].endswith("a number from 0 to 2 is expected.")
    assert room.led()["counts"] == [0, 0, 0]


@pytest.mark.parametrize("phone", ["", "x" * 65, 7, None, ["a"]])
def test_what_is_no_phone_gets_a_sentence(phone: object) -> None:
    room = asking()
    sent = ask(room, "POST", "/room/vote", json=ballot(room, phone, 0))
    assert sent.status_code == HTTPStatus.BAD_REQUEST
    assert room.led()["counts"] == [0, 0, 0]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"7", b"[" * 900, b"x" * 1001])
def test_what_is_no_vote_gets_a_sentence(body: bytes) -> None:
    sent = ask(asking(), "POST", "/room/vote", content=body)
    too_long = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert sent.status_code == (too_long if len(body) > 1000 else HTTPStatus.BAD_REQUEST)
    assert sent.json()["detail"]


def test_another_sites_page_cannot_vote() -> None:
    room = asking()
    sent = ask(
        room, "POST", "/room/vote", json=ballot(room, "a", 0), headers={"Origin": "http://evil.example"}
    )
    assert sent.status_code == HTTPStatus.FORBIDDEN
    assert room.led()["counts"] == [0, 0, 0]


@pytest.mark.parametrize("key", [None, "", "wrong", "é"])
def test_nobody_else_moves_the_slides(key: str | None) -> None:
    room = asking()
    headers = {} if key is None else {"Cookie": f"{KEY}={key}".encode()}
    for refused in (
        ask(room, "POST", "/room/at", json={**ANSWERED, "key": room.key[:-1]}, headers=headers),
        ask(room, "GET", "/room/lead", params={"key": key or ""}),
    ):
        assert refused.status_code == HTTPStatus.FORBIDDEN
        assert refused.json()["detail"] == load_texts()("room.not_leading")
        assert room.key not in str(refused.headers)
    assert ask(room, "GET", "/room/lead", headers=headers).json() == {"leads": False}
    assert room.told()["asking"] is True


def test_who_has_the_key_leads() -> None:
    room = asking()

    async def lead() -> httpx.Response:
        async with client_of(room) as client:
            came = await client.get("/room/lead", params={"key": room.key})
            assert (came.status_code, came.headers["location"]) == (HTTPStatus.SEE_OTHER, "../?talk=1")
            assert "httponly; path=/; samesite=strict" in came.headers["set-cookie"].lower()
            assert (await client.get("/room/lead")).json() == {"leads": True}
            return await client.post("/room/at", json=ANSWERED)

    told = asyncio.run(lead()).json()
    assert told == {**ANSWERED, "round": "", "tally": [0, 0, 0], "counts": [0, 0, 0]}


@pytest.mark.parametrize(
    "place", [{}, {"talk": "other"}, {"step": -1}, {"step": 5}, {"step": True}, {"step": "1"}, {"talk": []}]
)
def test_a_slide_that_is_none_gets_a_sentence(place: dict[str, object]) -> None:
    room = asking()
    with pytest.raises(PoolscopeError):
        room.lead({**ANSWERED, **place} if place else {})
    assert room.told()["asking"] is True


def test_who_follows_is_told_at_once_and_at_each_step() -> None:
    room = Room([script()], most=1)

    async def followed() -> list[dict[str, Any]]:
        stream, seen = room.follow(), []
        for place in (ASKING, ANSWERED, None):
            seen.append(json.loads((await anext(stream)).removeprefix("data: ")))
            assert room.full
            if place:
                room.lead(place)
        await stream.aclose()  # type: ignore[attr-defined]
        return seen

    assert [(one["step"], one["asking"]) for one in asyncio.run(followed())] == [
        (0, False),
        (1, True),
        (1, False),
    ]
    assert not room.full


def test_the_page_of_a_phone_has_its_language_and_no_markup_of_a_script() -> None:
    page = phone_page([script(TALK.replace('"Look"', f"'''{XSS}'''"))], load_texts("zh"))
    assert '<html lang="zh"' in page
    assert '"choices": ["这", "那", "无"]' in page
    assert "<img" not in page
    room = asking()
    answer = ask(room, "GET", "/room?lang=zh")
    assert '<html lang="zh"' in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("page", ["http://a.example/", "http://a.example/zh?text=b&lang=zh"])
def test_the_code_of_a_talk_leads_to_the_room(page: str) -> None:
    assert room_link(page) == "http://a.example/room"


def test_without_the_setting_there_is_no_room() -> None:
    site = built(lambda: build(FakeAnalyst()))
    assert site.phones == {}
    assert "talk-room" not in str(site.page.get_config_file())
    there = built(lambda: build(FakeAnalyst(), room=True))
    assert there.phones.keys() == set(languages())
    assert "talk-room" in str(there.page.get_config_file())


@pytest.mark.parametrize(
    "choices",
    [
        "choices = 3",
        "choices.en = 'ab'",
        "choices.en = ['a']",
        "choices.en = ['a', '']",
        "choices.en = ['a', 2]",
        'choices.en = ["a", "b\\nc"]',
        "choices = {}",
        f"choices.en = ['a', '{'b' * 81}']",
        "choices.en = ['a', 'b', 'c', 'd', 'e', 'f', 'g']",
        "choices.en = ['a', 'b']\nchoices.zh = ['a', 'b', 'c']",
        "choices.en = ['a', 'b']\nchoices.zh = 'ab'",
    ],
)
def test_choices_that_are_none_get_a_sentence(choices: str) -> None:
    step = f"[[step]]\nshow = 'reads'\ncaption.en = 'Look'\nask.en = 'Which?'\n{choices}"
    with pytest.raises(PoolscopeError, match="2 to 6 texts"):
        script(step)


def test_choices_need_a_question() -> None:
    with pytest.raises(PoolscopeError, match="below a question"):
        script("[[step]]\nshow = 'reads'\ncaption.en = 'Look'\nchoices.en = ['a', 'b']")
