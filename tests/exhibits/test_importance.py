"""What is called importance, side by side: the order, the ranks, what they come to against erasure."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from components.analyses.importance import Importance
from components.exhibits.exhibit import heading_html
from components.exhibits.importance import AGREES, ATTENTION, BARS, HEAD, SENTENCE, Methods
from components.exhibits.similarity import HEATMAP
from components.texts import Sentence
from components.types import Floats
from tests.exhibits.answers import alike, made, without_attention
from tests.exhibits.showing import SAY, analysis, drawn, numbers, plain, rows
from tests.ui.fake_answers import HEADS


def given(backbone: str = "first", text: str = "not good but bad", text_pair: str = "") -> Importance:
    return made(analysis(backbone, text, text_pair))


def said(one: Importance) -> str:
    return plain(SENTENCE.show(one, {}, SAY).html)


def ranks(bar: go.Bar) -> dict[int, str]:
    """The ranks that are written, by token."""
    return {index: plain(text) for index, text in enumerate(bar.text) if text}


def test_the_numbers_are_those_of_each_answer() -> None:
    pair = given("pair", "not good", "a pair")
    assert pair.attention is not None
    assert pair.integrated is not None
    expected = {
        "similarity to [CLS]": pair.analysis.similarity[-1],
        "attention (last layer)": pair.attention[-1].mean(axis=0),
        "attention rolled out": pair.rollout,
        "gradient x input": pair.gradient_x_input,
        "integrated gradients": pair.integrated.values,
        "erasure": pair.erasure,
    }
    titles, *found = rows(BARS.show(pair, {}, SAY))
    assert titles[3:] == list(expected)
    values = np.stack(list(expected.values()))  # type: ignore[arg-type]  # each is there
    np.testing.assert_allclose(np.array([numbers(row[3:]) for row in found]).T, values, rtol=1e-5)
    for bar, one in zip(drawn(BARS, pair).data, values, strict=True):
        np.testing.assert_allclose(bar.x, one, rtol=5e-3)


def test_the_three_tokens_of_the_text_that_matter_most_have_a_rank() -> None:
    one = given()
    own, bar = np.flatnonzero(~one.analysis.tokens.special), drawn(BARS, one).data[0]
    order = own[np.argsort(-one.analysis.similarity[-1][own], kind="stable")][:3]
    assert ranks(bar) == {int(index): str(place) for place, index in enumerate(order, start=1)}
    assert {bar.marker.opacity[index] for index in order} == {1}
    assert set(ranks(drawn(BARS, one).data[-1])) <= set(own.tolist())
    # Where a model fails without a token that was added, there is no bar.
    failed = replace(
        one, erasure=np.where(one.analysis.tokens.special, np.nan, one.erasure).astype("float32")
    )
    assert [value is None for value in drawn(BARS, failed).data[-1].x] == one.analysis.tokens.special.tolist()
    assert "nan" not in said(failed)


def test_a_token_of_the_text_that_stands_in_the_place_of_cls_is_not_the_most_similar_to_itself() -> None:
    one = given("last", "a b c")
    cls, columns = one.analysis.tokens.cls, drawn(BARS, one).data
    assert not one.analysis.tokens.special[cls]
    assert one.analysis.similarity[-1].argmax() == cls
    assert (cls in ranks(columns[0]), len(ranks(columns[0])), len(ranks(columns[-1]))) == (False, 2, 3)
    second = one.analysis.tokens.text[int(np.argsort(-one.analysis.similarity[-1])[1])]
    assert f"similar to “c”, {second}" in said(one)


@pytest.mark.parametrize(
    ("erasure", "kind", "place"),
    [
        ([0.4, 0.3, 0.2, 0.1, 0.0, -0.1], "order the tokens alike: ρ = 1.00", 1),
        ([-0.1, 0.0, 0.1, 0.2, 0.3, 0.4], "the other way round: ρ = −1.00", 6),
        ([0.3, 0.0, 0.1, 0.2, 0.4, 0.05], "similarity to it says no more than chance: ρ = ", 2),
        ([0.1] * 6, "Rho has no value here", 1),
    ],
)
def test_it_is_said_whether_similarity_goes_with_erasure(erasure: list[float], kind: str, place: int) -> None:
    one = alike(given(text="a b c d e f"), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], erasure)
    assert kind in said(one)
    assert f"is number {place} of 6" in said(one)


def test_it_is_said_how_far_the_output_falls_without_the_token_that_matters_most() -> None:
    before = given(text="a b c")
    one = alike(before, [0.1, 0.2, 0.3], [0.0, 0.2, 0.1])
    methods, value = Methods(one), float(one.analysis.probabilities[one.label])
    ends = f"{methods.label} falls from {methods.text(value)} to {methods.text(value - 0.2)}"
    assert said(one).startswith(f"Without b ([MASK] in its place), {ends}, more than")
    rising = alike(before, [0.1, 0.2, 0.3], [-0.1, 0.0, -0.2])
    assert said(rising).startswith(f"No token makes {methods.label} fall")


def test_bars_that_do_not_start_at_0_say_so() -> None:
    one = alike(given(text="a b c"), [0.97, 0.98, 0.99], [0.1, 0.2, 0.3])
    near = one.analysis.similarity.copy()
    near[-1, one.analysis.tokens.special] = 0.95
    one = replace(one, analysis=replace(one.analysis, similarity=near))
    start = drawn(BARS, one).layout.xaxis.range[0]
    assert 0.9 < start < 0.95
    assert f"similarity to [CLS]: bars start at {start:.2f}" in plain(BARS.show(one, {}, SAY).legend)
    assert "bars start" not in plain(BARS.show(given("pair", "not good", "a pair"), {}, SAY).legend)


def test_the_heading_counts_which_tokens_come_first() -> None:
    one = given()
    firsts = {Methods(one).ranked(method)[0] for method in Methods(one).every}
    assert len(firsts) > 1
    assert f"5 answers put {len(firsts)} different tokens first" in BARS.show(one, {}, SAY).heading
    order: Floats = np.linspace(1, 0, len(one.erasure), dtype=np.float32)
    similarity = np.tile(order, (len(one.analysis.similarity), 1))
    orders = {"attention": np.tile(order, (1, 1, 1)), "rollout": order, "gradient_x_input": order}
    same = replace(one, analysis=replace(one.analysis, similarity=similarity), **orders, erasure=order)
    assert "All 5 answers put “not” first" in BARS.show(same, {}, SAY).heading


def test_chance_is_as_far_as_unrelated_orders_of_so_many_tokens_go() -> None:
    one = given(text=" ".join(f"w{n}" for n in range(20)))
    random = np.random.default_rng(0)
    orders = random.permuted(np.tile(np.arange(20.0), (4000, 1)), axis=1)
    rhos = np.corrcoef(np.arange(20.0), orders)[0, 1:]
    within = float((np.abs(rhos) <= Methods(one).chance).mean())
    assert within == pytest.approx(0.95, abs=0.015)


def test_each_rho_is_a_bar_grey_where_chance_gives_as_much() -> None:
    falling = np.arange(8, 0, -1)
    one = alike(given(text="a b c d e f g h"), list(falling), list(falling / 10))
    methods, figure = Methods(one), drawn(AGREES, one)
    rhos = [methods.rho(method) for method in methods.others]
    np.testing.assert_allclose(figure.data[0].x, [rho for rho in rhos if rho is not None], atol=1e-4)
    beyond = [abs(rho or 0) > methods.chance for rho in rhos]
    assert [colour != "#85898f" for colour in figure.data[0].marker.color] == beyond
    alike_ = sum(rho is not None and rho > methods.chance for rho in rhos)
    heading = f"{alike_} of 4 answers order the tokens as erasure does, beyond chance"
    assert AGREES.show(one, {}, SAY).heading == heading
    band = figure.layout.shapes[0]
    assert (band.x0, band.x1) == (-methods.chance, methods.chance)


def test_one_token_has_no_order() -> None:
    one = given("last", "one")
    assert not one.analysis.tokens.special.any()
    assert BARS.show(one, {}, SAY).heading == SAY("matters.heading_short")
    assert "is number" not in said(one)
    assert "any other" not in said(one)
    assert AGREES.show(one, {}, SAY).heading == SAY("matters.rho_heading_none")
    assert not AGREES.show(one, {}, SAY).legend


@pytest.mark.parametrize("head", [0, 1, HEADS])
def test_attention_is_that_of_the_head_that_is_chosen_or_the_mean(head: int) -> None:
    one = given("pair", "not good", "a pair")
    assert one.attention is not None
    expected = one.attention[:, head - 1] if head else one.attention.mean(axis=1)
    shown, figure = ATTENTION.show(one, {HEAD.key: head}, SAY), drawn(ATTENTION, one, **{HEAD.key: head})
    np.testing.assert_allclose(figure.data[0].z, expected, atol=1e-4)
    np.testing.assert_allclose(np.array([numbers(row[2:]) for row in rows(shown)[1:]]).T, expected, rtol=1e-5)
    assert (f"Head {head} alone" in shown.above) == bool(head)
    assert figure.layout.xaxis == drawn(HEATMAP, one.analysis).layout.xaxis


def test_what_cannot_be_had_is_said_and_not_drawn() -> None:
    one, why = without_attention(given().analysis), Sentence("errors.died")
    assert len(drawn(BARS, one).data) == 3
    shown = ATTENTION.show(one, {}, SAY)
    assert shown.figure is shown.data is None
    assert SAY("attention.none", reference="[CLS]") in plain(heading_html(shown, "attention", SAY))
    assert SAY("errors.stopping") in said(one)
    assert plain(SENTENCE.show(why, {}, SAY).html) == SAY("matters.refused", reason=SAY("errors.died"))
    assert not any(exhibit.shown(why, {}, SAY).figure for exhibit in (BARS, AGREES, ATTENTION))


def test_what_the_verdict_warns_of_is_not_said_again() -> None:
    one = given(text="not <good>")
    (typed,) = one.analysis.warnings
    html = said(replace(one, warnings=(typed, Sentence("errors.stopping"))))
    assert SAY("errors.stopping") in html
    assert typed.said(SAY) not in html


def test_what_an_untrained_head_says_is_grey_and_no_finding() -> None:
    one = given("untrained")
    for exhibit in (BARS, AGREES):
        assert "the outputs are random" in exhibit.show(one, {}, SAY).heading.lower()
    assert {colour for bar in drawn(BARS, one).data for colour in bar.marker.color} == {"#85898f"}
    assert said(one) == SAY("matters.random")
