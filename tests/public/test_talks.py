"""A talk that is made in the page, as the server that is reached from everywhere answers it."""

import json
from http import HTTPStatus

import httpx
import pytest

TALK = json.dumps({"step": [{"show": "reads", "caption": {"en": "Look"}, "text": ["a fine film"]}]})


def asked(talk: object, **more: object) -> dict[str, object]:
    return {"talk": talk, "session_hash": "x", **more}


def test_a_talk_is_checked_saved_opened_and_handed_out(real: httpx.Client) -> None:
    checked = real.post("/talk/check", json=asked(TALK)).json()
    assert checked["lost"] == {}
    saved = real.post("/talk/save", json=asked(TALK))
    assert saved.headers["content-type"].startswith("text/plain")
    assert real.post("/talk/open", json=asked(saved.text)).json() == checked
    for path, language in (("/", "en"), ("/zh", "zh")):
        headers = {"Referer": str(real.base_url.join(path))}
        sent = real.post("/talk/handout", json=asked(TALK, page="https://example.org/"), headers=headers)
        assert sent.text.startswith(f'<!doctype html>\n<html lang="{language}')
        assert "a fine film" in sent.text
        assert "https://example.org/?text=a+fine+film" in sent.text


@pytest.mark.parametrize("path", ["/talk/open", "/talk/check", "/talk/save", "/talk/handout"])
@pytest.mark.parametrize(
    "body",
    [
        asked("step = 3"),
        asked("{"),
        asked(["x"]),
        asked(7),
        asked('{"step": [[[]]]}'),
        {"talk": TALK},
        asked("[" * 9000),
    ],
)
def test_what_is_no_talk_gets_a_sentence(real: httpx.Client, path: str, body: object) -> None:
    answer = real.post(path, json=body)
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert " was given; " in answer.json()["detail"]


def test_nothing_else_is_there(real: httpx.Client) -> None:
    assert real.get("/talk/open").status_code == HTTPStatus.NOT_FOUND
    assert real.post("/talk/other", json=asked(TALK)).status_code == HTTPStatus.NOT_FOUND


def test_a_hand_out_costs_several_questions(faulty: httpx.Client) -> None:
    """Half of three questions a minute is the most that one may cost."""
    headers = {"X-Forwarded-For": "8.8.3.3"}
    sent = [faulty.post("/talk/handout", json=asked('{"step": []}'), headers=headers) for _ in range(3)]
    assert [one.status_code for one in sent] == [200, 200, 429]
