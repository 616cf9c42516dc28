"""Where a change is: the cells and the sentence are the shares that were measured."""

from dataclasses import replace

import numpy as np

from components.analyses.trace import Patched
from components.exhibits.comparison import Comparison
from components.exhibits.exhibit import heading_html
from components.exhibits.trace import TRACE, TRACED, stays, traced, traced_backbone
from components.texts import Sentence
from components.types import BackboneSpec, Query
from tests.exhibits.showing import SAY, drawn, numbers, plain, rows
from tests.ui.fake import FakeAnalyst


def asked(query: Query, other: str = "not bad") -> Patched:
    return FakeAnalyst().ask("trace", query, other=other, other_pair="")


def made(*shares: list[float]) -> Patched:
    """A trace with these shares, (L + 1, P) of the first P tokens: [CLS], not, good, [SEP]."""
    found, given = asked(Query("first", "not good")), np.array(shares, dtype=np.float32)
    return replace(found, shares=given, pairs=found.pairs[: given.shape[1]])


def story(given: Patched) -> str:
    return plain(TRACE.show(given, {}, SAY).above)


def heading(given: Patched) -> str:
    return TRACE.show(given, {}, SAY).heading


def test_the_sentence_follows_the_change_up_the_layers() -> None:
    given = made([0, 0, 1, 0], [0.1, 0.2, 0.8, 0], [0.93, 0, 0.1, 0])
    assert (
        "the change is from the embeddings to layer 1 in good → bad (80 % to 100 %); "
        "after layer 2 in [CLS] (93 %)." in story(given)
    )
    assert heading(given) == "From layer 2 on, most of the change is in [CLS]"


def test_what_no_token_carries_alone_is_not_said_to_be_in_one() -> None:
    given = made([0, 0, 1, 0], [0, 0.4, 0.3, 0], [0.2, 0.4, 0.1, 0])
    assert "after layers 1 to 2 in no single token (most in not, 40 %)" in story(given)
    assert heading(given) == SAY("trace.heading")  # the head reads [CLS], which has little


def test_the_heading_holds_only_from_where_no_other_token_carries_more() -> None:
    given = made([0.9, 0, 0, 0], [0.55, 0.7, 0, 0], [1, 0, 0, 0])
    assert "From layer 2 on" in heading(given)
    assert "at the embeddings in [CLS] (90 %); after layer 1 in not (70 %); after layer 2" in story(given)
    whole = made([1, 0, 0, 0], [0.9, 0, 0, 0], [1, 0, 0, 0])
    assert "From the embeddings on, most of the change is in [CLS]" in heading(whole)


def test_of_tokens_that_are_called_alike_it_is_said_which() -> None:
    given = asked(Query("first", "bad bad film"), "bad bad plot")
    shares = np.zeros(given.shares.shape, np.float32)
    shares[:, 2] = 1
    assert "in bad no. 2 (100 %)" in story(replace(given, shares=shares))


def test_the_cells_are_the_shares_and_a_token_without_a_counterpart_has_none() -> None:
    given = made(*[[0, -19.3, 1.2]] * 3)
    cells = drawn(TRACE, given).data[0]
    assert [row[3] for row in cells.z] == [None] * 3
    np.testing.assert_allclose([row[:3] for row in cells.z], given.shares, atol=1e-4)
    assert list(cells.text[0][:3]) == ["0 %", "−1930 %", "120 %"]
    table = rows(TRACE.show(given, {}, SAY))[1:]
    np.testing.assert_allclose([numbers(row[4:]) for row in table], given.shares.T, rtol=1e-5)
    assert [row[:4] for row in table[1:]] == [["1", "not", "1", "not"], ["2", "good", "2", "bad"]]
    left = replace(given, warnings=(Sentence("warnings.unpaired", tokens=("[SEP]",)),))
    assert "Blank columns: these tokens have" in story(left)
    assert "left alone: [SEP]." in story(left)


def test_an_untrained_head_and_what_cannot_be_traced_have_no_story() -> None:
    given = asked(Query("untrained", "not good"))
    assert "random" in heading(given)
    assert "the change is" not in story(given) + TRACE.show(given, {}, SAY).words
    why = Sentence("errors.no_change")
    shown = TRACE.shown(why, {}, SAY)
    assert shown.figure is shown.data is None
    assert why.said(SAY) in plain(heading_html(shown, "trace", SAY))


def test_it_is_asked_of_the_backbone_that_is_set_and_else_of_the_first() -> None:
    given = Comparison(tuple(BackboneSpec(key, key, "", "", "local", "") for key in ("a", "b")), ("native",))
    assert traced_backbone(given, {}) == traced_backbone(given, {TRACED.key: "gone"}) == "a"
    assert traced_backbone(given, {TRACED.key: "b"}) == "b"
    assert traced(given) is None


def test_behind_a_lower_layer_nothing_is_told_of_those_above() -> None:
    given = asked(Query("first", "not good", pool_layer=1))
    given.shares[2:] = 0
    assert stays(given)[-1].last == 1
    assert SAY("trace.pooled", layer=1) in story(given)
    (frame, *_) = drawn(TRACE, given).layout.shapes
    assert frame.y0 == 0.5
    assert "is pooled:" not in story(asked(Query("first", "not good")))
