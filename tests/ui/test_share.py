"""The link of what is on the screen, as buttons and as a QR code."""

import io
import json
import re
from html import unescape

import pytest
import zxingcpp
from PIL import Image

from components.errors import PoolscopeError
from components.exhibits.control import Control, SomeOf, Switch, Text
from components.texts import load_texts
from components.ui.links.links import LONG, LONGEST, build_share, code, encoded
from tests.serving import built

SAY = load_texts()
LINK = 'https://example.org/?text=<b>"not bad"&centred=1'


def test_the_browser_knows_what_every_control_is_on_arrival() -> None:
    controls = (
        Control("text", Text(), 'a "fine" <film>'),
        Control("rows", SomeOf(lambda: ("a", "b")), ("a", "b")),
        Control("centred", Switch(), False),
    )
    html = str(built(lambda: build_share(controls, SAY)).value)
    told = re.search(r'data-controls="([^"]*)"', html)
    assert told is not None
    known = json.loads(unescape(told[1]))
    assert known == [["text", ['a "fine" <film>']], ["rows", ["a", "b"]], ["centred", ["0"]]]
    assert "<film>" not in html


def test_a_code_shows_its_link_as_text_and_says_where_no_phone_can_reach_it() -> None:
    html = code(LINK, SAY)
    assert "<svg" in html
    assert "&lt;b&gt;&quot;not bad&quot;&amp;centred=1" in html
    assert "<b>" not in html
    assert SAY("link.near") not in html
    assert SAY("link.near") in code("http://127.0.0.1:7860/", SAY)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (3, "link: 3 was given"),
        ("javascript:pwn()", "link: "),
        ("https://example.org/".ljust(LONGEST + 1, "x"), f"at most {LONGEST:,} bytes"),
    ],
)
def test_what_is_no_link_or_too_long_gets_no_code(link: object, said: str) -> None:
    with pytest.raises(PoolscopeError, match=said):
        code(link, SAY)


@pytest.mark.parametrize("length", [40, LONG, LONGEST])
def test_a_code_of_any_length_is_read_as_its_link(length: int) -> None:
    link = "https://example.org/?text=so+%C3%A4+good+"
    link += link * (length // len(link))
    picture = io.BytesIO()
    encoded(link[:length]).save(picture, kind="png", scale=3, border=4)
    (read,) = zxingcpp.read_barcodes(Image.open(picture))
    assert read.text == link[:length]
