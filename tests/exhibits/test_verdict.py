"""The verdict in words, the bars of what the head says, and shares of what is read."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from components.errors import PoolscopeError
from components.exhibits.draw import OTHER, label_colour
from components.exhibits.exhibit import Shown
from components.exhibits.flow import token_parts
from components.exhibits.similarity import SIMILARITY, TABLE
from components.exhibits.verdict import OUTPUTS, SHOWN, VERDICT, mistake, output_text, ranked
from components.texts import Sentence, languages, load_texts
from components.types import Analysis, Query, Reads
from tests.exhibits.showing import checked, rows
from tests.ui.fake import XSS, FakeAnalyst

SAY = load_texts()


def analysis(backbone: str = "first", text: str = "not good", **query: str) -> Analysis:
    return FakeAnalyst().ask("analyze", Query(backbone, text, **query))


def plain(given: Analysis) -> str:
    """The verdict as a reader sees it."""
    lines = re.sub(r"</p>|</li>|</div>", "\n", VERDICT.show(given, {}, SAY).html)
    return unescape(re.sub(r"<[^>]+>", "", lines))


def reading(given: Analysis, *positions: int) -> Analysis:
    read = np.isin(np.arange(len(given.tokens.text)), positions)
    share = read / max(1, read.sum())
    return replace(given, reads=Reads(read, share.astype(np.float32)))


def saying(given: Analysis, *probabilities: float) -> Analysis:
    return replace(given, probabilities=np.array(probabilities, dtype=np.float32))


LONG = analysis(text="one two three four five six seven eight nine ten")  # 12 tokens


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (analysis(), "FirstForSequenceClassification reads 1 of 4 tokens: [CLS] (the first).\n"),
        (analysis(), "Changing any other final hidden state leaves every logit exactly as it is."),
        (analysis("last"), "reads 1 of 2 tokens: good (the last)."),
        (reading(analysis(), 2), "reads 1 of 4 tokens: good (number 3)."),
        (reading(LONG, 1, 2), "reads 2 of 12 tokens: one (number 2), two (number 3)."),
        (reading(LONG, *range(6)), "reads 6 of 12 tokens. Each is 17 % of what the head reads.\n"),
        (reading(LONG, *range(1, 12)), "reads 11 of 12 tokens: all but [CLS] (the first)."),
        (reading(LONG, *range(12)), "reads all 12 tokens. Each is 8 % of what the head reads.\n"),
        (reading(LONG), "reads none of the 12 tokens.\n"),
        (
            analysis(pooling="mean"),
            "FirstForSequenceClassification, given the mean vector, reads all 4 tokens.",
        ),
        (
            analysis(pooling="mean", head="probe"),
            "A linear classifier trained on the mean vector for sentiment reads all 4 tokens.",
        ),
        (saying(analysis(), 0.07, 0.93), "It says positive (93 %)."),
        (saying(analysis("emotions"), 0.9, 0.1, 0.6, 0.2), "It says joy (90 %), trust (60 %)."),
        (
            saying(analysis("emotions"), 0.4, 0.1, 0.3, 0.2),
            "It says none of its 4 labels: each is below 50 %.",
        ),
        (saying(analysis("score"), 3.416), "It says score (3.42)."),
        (
            analysis(text_pair="bad"),
            "This head was trained on one text at a time: what it says about a pair means little.",
        ),
    ],
)
def test_it_says_what_is_read_and_what_is_said(given: Analysis, said: str) -> None:
    assert said in plain(given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (analysis("untrained"), "Untrained head: these outputs are random."),
        (
            replace(analysis(), body_trained=False),
            "Weights of the body are random, so these outputs are random.",
        ),
    ],
)
def test_random_weights_say_nothing(given: Analysis, why: str) -> None:
    assert why in plain(given)
    assert "It says" not in plain(given)
    assert ("Untrained head" in plain(given)) != given.head_trained  # which is not blamed for the body


def test_a_lower_layer_that_is_pooled_is_named() -> None:
    given = analysis(pooling="mean")
    lower = replace(given, query=replace(given.query, pool_layer=1))
    assert "given the mean vector of layer 1, reads all 4 tokens." in plain(lower)
    assert "Changing the hidden state of any token at layer 1 changes the logits." in plain(lower)
    last = replace(given, query=replace(given.query, pool_layer=given.layers))
    assert plain(last) == plain(given)
    probe = replace(lower, query=replace(lower.query, head="probe", task="sentiment"))
    assert "trained on the mean vector of layer 1 for sentiment reads" in plain(probe)


@pytest.mark.parametrize("tag", languages())
def test_that_a_text_cannot_be_read_comes_before_any_answer(tag: str) -> None:
    say, warning = load_texts(tag), Sentence("warnings.unreadable", count=3, total=4, token="[UNK]")
    given = replace(analysis(), warnings=(warning, Sentence("warnings.places")))
    html = VERDICT.show(given, {}, say).html
    said = unescape(re.sub(r"<[^>]+>", "", html))
    assert said.startswith(warning.said(say))
    assert said.count(warning.said(say)) == 1
    assert said.index(warning.said(say)) < said.index(given.predicted[0])
    assert say("warnings.places") in said
    assert plain(given).split("\n")[2].startswith("Its answer says little about this text: ")


def test_nothing_from_outside_is_markup() -> None:
    given = analysis("hostile", f"{XSS} <b>")
    error = PoolscopeError("text", XSS, "errors.unloaded", reason=XSS)
    for html in (VERDICT.show(given, {}, SAY).html, mistake(error, SAY)):
        assert "<img" not in html
        assert "<script" not in html
        assert "<svg" not in html


@pytest.mark.parametrize("tag", languages())
def test_who_typed_nothing_reads_what_to_do_and_a_program_what_is_wrong(tag: str) -> None:
    error, say = PoolscopeError("text", "", "errors.word"), load_texts(tag)
    assert say("errors.sentence") in mistake(error, say)
    assert say("fields.text") not in mistake(error, say)
    assert str(error) == "text: '' was given; type at least one word."


def test_a_mistake_names_field_value_and_what_is_allowed() -> None:
    html = mistake(PoolscopeError("pooling", "median", "errors.allowed", allowed=("mean", "max")), SAY)
    assert "pooling: &#39;median&#39; was given; allowed are mean, max." in html
    assert 'role="alert"' in html


def shown(given: Analysis) -> Shown:
    return OUTPUTS.show(given, {}, SAY)


def test_the_likeliest_label_comes_first_and_has_its_colour() -> None:
    given = analysis("first")
    figure = checked(shown(given).figure)
    assert figure.layout.yaxis.ticktext[0] == given.predicted[0]
    assert list(figure.data[0].marker.color) == [label_colour(given.labels.index(given.predicted[0])), OTHER]
    assert figure.data[0].text[0] == output_text(given, ranked(given)[0])
    assert figure.layout.xaxis.title.text == "probability"


def test_many_labels_are_cut_at_the_likeliest() -> None:
    given = analysis("many")
    bars = checked(shown(given).figure).data[0]
    assert len(bars.x) == SHOWN
    assert bars.x[0] == round(float(given.probabilities.max()), 6)


def test_regression_shows_the_raw_value() -> None:
    given = analysis("score")
    figure = checked(shown(given).figure)
    assert figure.layout.xaxis.title.text == "raw value"
    assert figure.layout.xaxis.range[0] <= float(given.probabilities[0]) <= figure.layout.xaxis.range[1]
    assert "%" not in figure.data[0].text[0]


def test_they_are_described_and_the_rest_is_summed_up() -> None:
    assert "negative" in shown(analysis()).words
    assert "random" in shown(analysis("untrained")).heading
    assert shown(analysis(head="probe", task="topic")).heading == "What does the probe for topic say?"
    body = shown(replace(analysis(), body_trained=False))
    assert body.heading == "What the head says of a body with random weights: random"
    assert set(checked(body.figure).data[0].marker.color) == {OTHER}
    assert shown(analysis()).legend == ""
    assert "and 30 labels more, together" in shown(analysis("many")).legend


def test_all_are_there_in_numbers_and_not_only_those_with_bars() -> None:
    given = analysis("many")
    _, *found = rows(shown(given))
    assert len(found) == 40
    expected = dict(zip(given.labels, zip(given.logits, given.probabilities, strict=True), strict=True))
    for label, logit, probability, _ in found:
        np.testing.assert_allclose([float(logit), float(probability)], expected[label], rtol=1e-6)
    assert {row[3] for row in rows(shown(analysis("untrained")))[1:]} == {"no"}


QUERY = Query("first", "not very good")  # [CLS] not very good [SEP]


def sharing(share: list[float], read: list[int], wins: list[int] | None = None) -> Analysis:
    positions = np.isin(np.arange(len(share)), read)
    counts = None if wins is None else np.array(wins, dtype=np.int64)
    reads = Reads(positions, np.array(share, dtype=np.float32), counts)
    return replace(FakeAnalyst().ask("analyze", QUERY), reads=reads)


def hovers(given: Analysis) -> list[str]:
    figure = checked(SIMILARITY.show(given, {}, SAY).figure)
    assert figure is not None
    return [details[2] for details in figure.data[0].customdata]


def test_of_several_tokens_the_verdict_says_which_is_most_of_it() -> None:
    given = sharing([0.84, 0.04, 0.04, 0.04, 0.04], [0, 1, 2, 3, 4])
    assert "reads all 5 tokens. 84 % of what the head reads is [CLS]." in plain(given)
    assert SIMILARITY.show(given, {}, SAY).words.endswith("84 % of what the head reads is [CLS].")


def test_what_is_read_without_a_share_is_explained_wherever_it_stands() -> None:
    given = sharing([0.75, 0.0, 0.25, 0.0, 0.0], [0, 1, 2, 3])
    said = plain(given)
    assert "2 of them have no slope here: only a larger change of them moves the logits." in said
    silent = "0 % (no slope here: only a larger change moves the logits)"
    assert hovers(given) == ["75 %", silent, "25 %", silent, "0 %"]  # the last one is not read
    assert re.findall(r">(\d+ %[^<]*)<", TABLE.show(given, {}, SAY).html) == [
        *("75 %", "0 % (no slope)", "25 %", "0 % (no slope)", "0 %")
    ]
    anatomy = replace(FakeAnalyst().ask("anatomy", QUERY), analysis=given)
    assert [part.lines[1] for part in token_parts(anatomy, SAY)][1].endswith(silent)


def test_under_a_maximum_it_counts_the_dimensions_that_tokens_win() -> None:
    given = sharing([0.2] * 5, [0, 1, 2, 3, 4], [40, 7, 30, 0, 19])
    said = plain(given)
    assert (
        "In each of 96 dimensions one token has the largest value: [CLS] in 40, “very” in 30, [SEP] in 19, "
        "all others in 7." in said
    )
    assert hovers(given)[0] == "20 %, the largest value in 40 of 96 dimensions"
    data = TABLE.show(given, {}, SAY).data
    assert data is not None
    assert data["largest value, dimensions"].tolist() == [40, 7, 30, 0, 19]


def beside(given: Analysis) -> list[str]:
    figure = checked(SIMILARITY.show(given, {}, SAY).figure)
    assert figure is not None
    return [text.partition(" · ")[2] for text in figure.data[0].text]


@pytest.mark.parametrize(
    ("given", "texts", "key"),
    [
        (sharing([0.75, 0.0, 0.25, 0.0, 0.0], [0, 1, 2]), ["75 %", "", "25 %", "", ""], SAY("legend.share")),
        (sharing([0.2] * 5, [0, 1, 2, 3, 4]), [""] * 5, ""),
        (sharing([1.0, 0, 0, 0, 0], [0]), [""] * 5, ""),
        (
            sharing([0.5, 0.5, 0, 0, 0], [0, 1], wins=[5, 3, 0, 0, 0]),
            ["5", "3", "0", "0", "0"],
            SAY("legend.wins", total=8),
        ),
    ],
)
def test_beside_each_bar_stands_how_much_of_what_is_read_it_is(
    given: Analysis, texts: list[str], key: str
) -> None:
    assert beside(given) == texts
    legend = unescape(SIMILARITY.show(given, {}, SAY).legend)
    assert key in legend
    assert (" · " in legend or "· 0" in legend) == bool(key)
