"""What the speaker's window holds: the notes and the plan of every slide of every talk."""

from components.exhibits.talks import parse_talks
from components.texts import load_texts
from components.ui.talk.speaker import speaker_html
from tests.ui.fake import XSS

TALKS = f"""
# One {{#one}}

## Look

[reads](?) 1.5 minutes

First <b>this</b>.

Then that.

## And here

Which <one>?

- <This>
- That

[reads](?)

# {XSS} {{#other}}

## {XSS}

{XSS}

[reads](?)

{XSS}
"""


def test_every_slide_has_its_notes_and_its_plan() -> None:
    html = speaker_html(parse_talks(TALKS, (), {"reads": {}}), load_texts())
    one, other = html.split('<div data-talk="other">')
    assert '<div data-talk="one"><section data-minutes="1.5" hidden><h2>Look</h2>' in one
    assert "<h2>Look</h2><p>First &lt;b&gt;this&lt;/b&gt;.</p><p>Then that.</p></section>" in one
    assert '<p class="ask">First a question: Which &lt;one&gt;?</p>' in one
    assert '<ul class="choices"><li>&lt;This&gt;</li><li>That</li></ul><p class="none">' in one
    assert one.count('data-minutes="0"') == 2  # a step without minutes, and the slide behind the last one
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img" in other
