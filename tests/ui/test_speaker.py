"""The speaker's window as it is served: the notes and the plan of every slide, in each language."""

import asyncio
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from components.exhibits.control import Control
from components.exhibits.script import Script, read_talk
from components.texts import languages, load_texts
from components.ui.public.middleware import GuardMiddleware
from components.ui.public.rate_limit import Rates
from components.ui.talk.speaker import SpeakerMiddleware, SpeakerPage, speaker_page
from tests.ui.fake import XSS

SCRIPT = """
[[step]]
show = "reads"
caption = { en = "Look", zh = "看" }
notes.en = "First <b>this</b>.\\n\\nThen that."
minutes = 1.5
[[step]]
show = "reads"
caption.en = "And here"
ask.en = "Which <one>?"
choices.en = ["<This>", "That"]
"""
Pages = dict[str, dict[str, SpeakerPage]]
NO_CONTROLS: tuple[Control[str], ...] = ()


def steps(tmp_path: Path, script: str = SCRIPT) -> Script:
    file = tmp_path / "talk.toml"
    file.write_text(script, encoding="utf-8")
    return read_talk(file, NO_CONTROLS, {"reads": {}})


def ask(pages: Pages, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    """What is answered behind the guard."""

    async def answer() -> httpx.Response:
        app: ASGIApp = SpeakerMiddleware(PlainTextResponse("gradio's"), pages)
        guarded = GuardMiddleware(app, {}, Rates(9, 9), max_body_bytes=999, body_timeout=30)
        transport = httpx.ASGITransport(guarded)
        async with httpx.AsyncClient(transport=transport, base_url="http://app.example") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(answer())


def test_every_slide_has_its_notes_and_its_plan(tmp_path: Path) -> None:
    html = speaker_page(steps(tmp_path), load_texts()).html
    assert '<section data-minutes="1.5" hidden><h2>Look</h2>' in html
    assert "<h2>Look</h2><p>First &lt;b&gt;this&lt;/b&gt;.</p><p>Then that.</p></section>" in html
    asked = (
        '<p class="ask">First a question: Which &lt;one&gt;?</p>'
        '<ul class="choices" data-share="{choice}: {votes} of {total}">'
        "<li>&lt;This&gt;</li><li>That</li></ul>"
        '<p class="none">No notes for this slide.</p>'
    )
    assert f'<section data-minutes="0" hidden><h2>And here</h2>{asked}' in html
    assert html.count("<section data-minutes") == 3  # and the one behind the last step


def test_a_language_has_its_own_page_or_the_words_that_there_are(tmp_path: Path) -> None:
    page = speaker_page(steps(tmp_path), load_texts("zh"))
    assert "<h2>看</h2><p>First" in page.html
    assert '<html lang="zh"' in page.html
    assert page.address.startswith("./speaker?lang=zh&talk=talk&version=")
    assert page != speaker_page(steps(tmp_path), load_texts())


def test_the_address_changes_with_the_page(tmp_path: Path) -> None:
    """Browsers keep it for a day."""
    first, again, other = (
        speaker_page(steps(tmp_path, script), load_texts()).address
        for script in (SCRIPT, SCRIPT, SCRIPT.replace("that", "this"))
    )
    assert first == again != other


def test_nothing_from_a_script_is_markup(tmp_path: Path) -> None:
    one = (
        f"[[step]]\nshow = 'reads'\ncaption.en = '''{XSS}'''\nnotes.en = '''{XSS}'''\nask.en = '''{XSS}'''\n"
        f"choices.en = ['''{XSS[:80]}''', 'b']"
    )
    html = speaker_page(steps(tmp_path, one), load_texts()).html
    assert "<img" not in html
    assert html.count("<script") == 1


def test_it_is_served_in_the_language_of_its_address_and_guarded(tmp_path: Path) -> None:
    pages = {tag: {"talk": speaker_page(steps(tmp_path), load_texts(tag))} for tag in languages()}
    for tag, page in ((tag, page) for tag, talks in pages.items() for page in talks.values()):
        answer = ask(pages, page.address.removeprefix("."))
        assert answer.status_code == HTTPStatus.OK
        assert answer.text == page.html
        assert f'<html lang="{tag}"' in answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "max-age=86400" in answer.headers["cache-control"]
    assert '<html lang="zh"' in ask(pages, "/speaker", **{"Accept-Language": "zh"}).text
    assert '<html lang="en"' in ask(pages, "/speaker?lang=klingon").text


def test_each_talk_has_its_own_notes(tmp_path: Path) -> None:
    one, other = steps(tmp_path), steps(tmp_path, SCRIPT.replace("Then that", "Not that"))
    pages = {"en": {"one": speaker_page(one, load_texts()), "other": speaker_page(other, load_texts())}}
    for asked, there in (
        ("other", "Not that"),
        ("one", "Then that"),
        ("gone", "Then that"),
        ("", "Then that"),
    ):
        assert there in ask(pages, f"/speaker?lang=en&talk={asked}").text


@pytest.mark.parametrize(
    ("path", "method"), [("/speaker", "POST"), ("/speaker/en", "GET"), ("/speaker.js", "GET")]
)
def test_nothing_else_is_there(tmp_path: Path, path: str, method: str) -> None:
    pages = {"en": {"talk": speaker_page(steps(tmp_path), load_texts())}}
    assert ask(pages, path, method).status_code == HTTPStatus.NOT_FOUND


def test_where_there_is_no_talk_there_is_no_speaker() -> None:
    answer = ask({}, "/speaker")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert answer.json() == {"detail": load_texts()("refusal.not_found")}
