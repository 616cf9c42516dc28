"""What is called importance, side by side: the order, the ranks, what they come to against erasure."""

from dataclasses import replace

import numpy as np
import pytest

from components.analyses.importance import Importance
from components.exhibits.draw import OTHER
from components.exhibits.facts import importance_facts
from components.exhibits.importance import BARS, IMPORTANT, chance_of
from components.texts import Sentence
from tests.exhibits.answers import alike, made, without_attention
from tests.exhibits.showing import SAY, analysis, drawn, plain, records


def given(backbone: str = "first", text: str = "not good but bad", text_pair: str = "") -> Importance:
    return made(analysis(backbone, text, text_pair))


def said(one: Importance) -> str:
    return plain(IMPORTANT.show(one, {}, SAY).html)


def ranks(one: Importance, column: int) -> dict[int, str]:
    """The ranks that are written beside the bars of a column, by token."""
    texts = drawn(BARS, one).data[column].text
    return {index: plain(text) for index, text in enumerate(texts) if text}


def test_the_numbers_are_those_of_each_answer() -> None:
    pair = given("pair", "not good", "a pair")
    assert pair.attention is not None
    assert pair.integrated is not None
    expected = {
        "similarity to [CLS]": pair.analysis.similarity[-1],
        "attention, last layer": pair.attention[-1].mean(axis=0),
        "attention rolled out": pair.rollout,
        "gradient x input": pair.gradient_x_input,
        "integrated gradients": pair.integrated.values,
        "erasure": pair.erasure,
    }
    found = records(BARS.show(pair, {}, SAY))
    first, last, *others = drawn(BARS, pair).data  # similarity, and beside it what it is held against
    for bar, (title, values) in zip((first, *others, last), expected.items(), strict=True):
        np.testing.assert_allclose([float(row[title]) for row in found], values, rtol=1e-5)
        np.testing.assert_allclose(bar.x, values, rtol=5e-3)


def test_the_three_tokens_of_the_text_that_matter_most_have_a_rank() -> None:
    one = given()
    added = one.analysis.tokens.special
    order = np.argsort(np.where(added, np.inf, -one.analysis.similarity[-1]), kind="stable")[:3]
    assert ranks(one, 0) == {int(index): str(place) for place, index in enumerate(order, start=1)}
    assert {drawn(BARS, one).data[0].marker.opacity[index] for index in order} == {1}
    # Where a model fails without a token that was added, there is no bar.
    failed = replace(one, erasure=np.where(added, np.nan, one.erasure).astype("float32"))
    assert [value is None for value in drawn(BARS, failed).data[1].x] == added.tolist()
    assert "nan" not in said(failed)


def test_a_token_of_the_text_that_stands_in_the_place_of_cls_is_not_the_most_similar_to_itself() -> None:
    one = given("last", "a b c")
    cls, similarity = one.analysis.tokens.cls, one.analysis.similarity[-1]
    assert not one.analysis.tokens.special[cls]
    assert similarity.argmax() == cls
    assert (cls in ranks(one, 0), len(ranks(one, 0)), len(ranks(one, 1))) == (False, 2, 3)
    assert f"similar to “c”, {one.analysis.tokens.text[int(np.argsort(-similarity)[1])]}" in said(one)


def test_bars_that_do_not_start_at_0_say_so() -> None:
    one = given(text="a b c")
    near = np.where(one.analysis.tokens.special, 0.95, 0.98) * np.ones_like(one.analysis.similarity)
    one = replace(one, analysis=replace(one.analysis, similarity=near))
    start = drawn(BARS, one).layout.xaxis.range[0]
    assert 0.9 < start < 0.95
    assert f"similarity to [CLS]: bars start at {start:.2f}" in plain(BARS.show(one, {}, SAY).legend)
    assert "bars start" not in plain(BARS.show(given("pair", "not good", "a pair"), {}, SAY).legend)


def test_chance_is_as_far_as_unrelated_orders_of_so_many_tokens_go() -> None:
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(20.0), (4000, 1)), axis=1)
    rhos = 1 - 6 * ((orders - np.arange(20)) ** 2).sum(axis=1) / (20 * (20**2 - 1))
    assert float((np.abs(rhos) <= chance_of(20)).mean()) == pytest.approx(0.95, abs=0.015)


def test_rho_is_bold_where_chance_does_not_give_as_much() -> None:
    falling = np.arange(8, 0, -1)
    one = alike(given(text="a b c d e f g h"), list(falling), list(falling / 10))
    shown, titles = BARS.show(one, {}, SAY), [note.text for note in drawn(BARS, one).layout.annotations]
    rhos = [one.agreement[name] or 0 for name in ("similarity", "attention", "rollout", "gradient_x_input")]
    for rho, title in zip(rhos, (titles[0], *titles[2:]), strict=False):
        written = f"ρ = {rho:.2f}".replace("-", "−")
        assert title.endswith(f"<b>{written}</b>" if abs(rho) > chance_of(8) else f"<br>{written}")
        assert written.removeprefix("ρ = ") in shown.words
    assert f"±{chance_of(8):.2f}" in plain(shown.legend)


def test_of_five_tokens_of_which_one_is_the_reference_no_order_of_the_others_is_beyond_chance() -> None:
    one = alike(given("last", "a b c d e"), [1, 2, 3, 4, 5], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert SAY("matters.rho_few", rho="1.00") in said(one)
    assert drawn(BARS, one).layout.annotations[0].text.endswith("<br>ρ = 1.00")


@pytest.mark.parametrize(("text", "token"), [("not bad not", "the 2nd not"), ("not bad .", "“.”")])
def test_tokens_that_are_called_the_same_are_told_apart_and_a_mark_is_quoted(text: str, token: str) -> None:
    one = alike(given(text=text), [1, 2, 3], [0.1, 0.2, 0.3])
    assert f"Without {token} ([MASK]" in said(one)
    assert importance_facts(one, SAY)["erased"] == token


def test_what_cannot_be_had_is_said_once_and_not_drawn() -> None:
    one, why = without_attention(given(text="not <good>").analysis), Sentence("errors.died")
    assert len(drawn(BARS, one).data) == 3
    assert plain(IMPORTANT.show(why, {}, SAY).html) == SAY("matters.refused", reason=SAY("errors.died"))
    assert not BARS.shown(why, {}, SAY).figure
    (typed,) = one.analysis.warnings  # which the verdict says
    warned = said(replace(one, warnings=(typed, *one.warnings)))
    assert SAY("errors.stopping") in warned
    assert typed.said(SAY) not in warned


def test_what_an_untrained_head_says_is_grey_and_no_finding() -> None:
    assert {colour for bar in drawn(BARS, given("untrained")).data for colour in bar.marker.color} == {OTHER}
