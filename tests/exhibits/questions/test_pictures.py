"""What stands in an answer besides its sentences: heads side by side, and code."""

import re
from html import unescape

from components.analyses.anatomy import Anatomy
from components.exhibits.questions.pictures import flow_html, module_html
from components.texts import load_texts
from components.types import Query
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
TEXT = "a very slow film"


def anatomy(key: str = "first", **query: str) -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(key, TEXT, **query))  # type: ignore[arg-type]  # all are texts


def cells(html: str) -> list[bool]:
    """For each token whether it is drawn as one that is read."""
    return [style == "cell read" for style in re.findall(r'<span class="(cell[^"]*)">', html)]


def steps(html: str) -> list[tuple[str, str]]:
    """The kind and the name of each step, from the top down."""
    return re.findall(r'<li class="(\w+)"><b>(.*?)</b>', html)


def test_the_tokens_that_are_read_are_drawn_in_their_place() -> None:
    for key in ("first", "last"):
        given = anatomy(key)
        html = flow_html(given, SAY)
        assert cells(html) == given.analysis.reads.positions.tolist()
        assert f"reads 1 of {len(cells(html))} tokens: " in plain(html)
    every = flow_html(anatomy(pooling="mean"), SAY)
    assert all(cells(every))
    assert "reads 6 of 6 tokens: [CLS], a, very, slow and 2 more" in plain(every)


def test_every_step_stands_in_the_order_in_which_it_ran() -> None:
    assert steps(flow_html(anatomy(), SAY)) == [
        ("plain", "takes one position"),
        ("checkpoint", "dense"),
        ("plain", "tanh"),
        ("idle", "dropout"),
        ("checkpoint", "classifier"),
    ]
    assert steps(flow_html(anatomy("untrained"), SAY))[-1] == ("new", "classifier")
    assert "newly initialised: random" in flow_html(anatomy("untrained"), SAY)


def test_the_code_is_that_of_the_head_and_can_be_copied() -> None:
    given = anatomy()
    codes = re.findall(r"<pre [^>]*><code>(.*?)</code></pre>", module_html(given, SAY), re.DOTALL)
    assert [unescape(code) for code in codes] == [given.module.rstrip("\n"), given.program.rstrip("\n")]
