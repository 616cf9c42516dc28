"""The verdict in words, the bars of what the head says, and shares of what is read."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from components.errors import PoolscopeError
from components.exhibits.draw import LABELS, OTHER
from components.exhibits.similarity import SIMILARITY, TABLE
from components.exhibits.verdict import OUTPUTS, SHOWN, VERDICT, mistake, output_bars, output_text, ranked
from components.texts import Sentence, Texts, languages, load_texts
from components.types import Analysis
from tests.exhibits.showing import SAY, Document, analysis, drawn, lower, reading, rows, saying, sharing
from tests.ui.fake import XSS


def plain(given: Analysis, say: Texts = SAY) -> str:
    """The verdict as a reader sees it."""
    lines = re.sub(r"</p>|</li>|</div>", "\n", VERDICT.show(given, {}, say).html)
    return unescape(re.sub(r"<[^>]+>", "", lines)).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (analysis(), "FirstForSequenceClassification reads 1 of 4 tokens: [CLS] (the first). No other final"),
        (lower(-1), "FirstForSequenceClassification, given the mean vector, reads all 4 tokens."),
        (lower(2), "FirstForSequenceClassification, given the mean vector, reads all 4 tokens."),
        (lower(1), "given the mean vector of layer 1, reads all 4 tokens."),
        (lower(-1, head="probe"), "classifier trained on the mean vector for sentiment reads all"),
        (lower(1, head="probe"), "trained on the mean vector of layer 1 for sentiment reads"),
        (saying(analysis("emotions"), 0.9, 0.1, 0.6, 0.2), "It says joy (90 %), trust (60 %)."),
        (saying(analysis("emotions"), *[0.9] * 6, labels=tuple("abcdef")), "d (90 %), and 2 more."),
        (analysis("untrained"), "moves a logit.\nUntrained head: these outputs are random.[CLS]"),
        (analysis(text_pair="bad"), "one text at a time: what it says about a pair means little."),
    ],
)
def test_it_says_what_is_read_and_what_is_said(given: Analysis, said: str) -> None:
    assert said in plain(given)
    assert ("It says" in plain(given)) != given.random


def picture(given: Analysis) -> tuple[list[tuple[str, str]], list[str]]:
    """The row of tokens, each with its class, and what stands at the end of the arrow."""
    html = VERDICT.show(given, {}, SAY).html.replace("\u00a0", " ")
    assert '<span class="picture" aria-hidden="true"' in html  # the sentences say it to who hears the page
    cells = re.findall(r'<i class="(\w*)">([^<]*)</i>', html)
    return [(unescape(text), kind) for kind, text in cells], re.findall(r"<em[^>]*>(.*?)</em>", html)


def test_the_row_of_tokens_lights_what_is_read_and_ends_at_the_answer() -> None:
    row = [("[CLS]", "read"), ("not", ""), ("good", ""), ("[SEP]", "")]
    assert picture(analysis()) == (row, ["negative 75 %"])
    assert picture(analysis(text="play ##ing", text_pair="bad"))[0] == [
        *(("[CLS]", "read"), ("play", "first"), ("##ing", "first"), ("[SEP]", "")),
        *(("bad", "second"), ("[SEP]", "")),
    ]
    assert picture(saying(analysis("emotions"), 0.9, 0.1, 0.6, 0.2))[1] == ["joy 90 %", "trust 60 %"]
    assert picture(analysis("untrained"))[1] == ["Untrained head: these outputs are random."]
    assert len(picture(analysis(text="word " * 22))[0]) == 24  # whole: so few are not counted
    (none,) = picture(saying(analysis("emotions"), 0.4, 0.1, 0.5, 0.2))[1]
    assert none.startswith("It says none of its 4 labels")
    assert 'dir="rtl"' in VERDICT.show(analysis(text="سلام دنيا و همه"), {}, SAY).html
    assert 'dir="rtl"' not in VERDICT.show(analysis(text="say سلام to me"), {}, SAY).html


@pytest.mark.parametrize(
    ("read", "rests"),
    [
        ([0], {("… 82 more …", "rest")}),
        ([50], {("… 41 more …", "rest")}),
        (range(100), {("… 82 more …", "read")}),
        (range(0, 100, 2), {("… 82 more, 41 of them read …", "rest")}),
        ([*range(0, 12, 3)], {("… 82 more …", "rest")}),
    ],
)
def test_of_a_long_text_the_row_has_what_is_read_and_counts_the_rest(
    read: range | list[int], rests: set[tuple[str, str]]
) -> None:
    row, _ = picture(reading(analysis(text=" ".join(f"w{place}" for place in range(1, 99))), *read))
    words = [one for one in row if "…" not in one[0]]
    assert {*row} - {*words} == rests
    assert len(words) == 18
    lit = [text for text, kind in words if kind == "read"]
    if len(read) < 9:  # all that is read is in sight
        assert lit == [["[CLS]", *(f"w{place}" for place in range(1, 99))][place] for place in read]


@pytest.mark.parametrize("tag", languages())
def test_that_a_text_cannot_be_read_comes_before_any_answer(tag: str) -> None:
    say, warning = load_texts(tag), Sentence("warnings.unreadable", count=3, total=4, token="[UNK]")
    said = plain(replace(analysis(), warnings=(warning, Sentence("warnings.places"))), say)
    assert said.startswith(warning.said(say))
    assert said.count(warning.said(say)) == 1  # not among the notices again
    assert say("warnings.places") in said


def test_a_mistake_is_said_to_who_reads_and_to_a_program() -> None:
    html = mistake(PoolscopeError("pooling", "median", "errors.allowed", allowed=("mean", "max")), SAY)
    assert "pooling: 'median' was given; allowed are mean, max." in unescape(html)
    assert 'role="alert"' in html
    empty = PoolscopeError("text", "", "errors.word")  # who typed nothing reads what to do
    assert SAY("errors.sentence") in mistake(empty, SAY)
    assert SAY("fields.text") not in mistake(empty, SAY)
    assert str(empty) == "text: '' was given; type at least one word."
    hostile = mistake(PoolscopeError("text", XSS, "errors.unloaded", reason=XSS), SAY)
    assert not Document(hostile).tags & {"img", "script", "svg"}


def test_outputs_of_a_regression_of_random_weights_and_of_a_probe_are_called_so() -> None:
    given, body = analysis("score"), replace(analysis(), body_trained=False)
    assert "raw value" in OUTPUTS.show(given, {}, SAY).legend
    assert "%" not in output_bars(given, SAY)[0].text
    probe = analysis(head="probe", task="topic")
    assert OUTPUTS.show(probe, {}, SAY).heading == "What does the probe for topic say?"
    assert {bar.colour for bar in output_bars(body, SAY)} == {OTHER}


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([3.0, 1.5], [(0, 1), (0, 0.5)]),
        ([1.0, -3.0], [(0.75, 0.25), (0, 0.75)]),
        ([-2.0, -1.0], [(0, 1), (0.5, 0.5)]),
        ([0.0, 0.0], [(0, 0), (0, 0)]),
    ],
)
def test_a_bar_of_raw_values_reaches_from_0_to_its_value(
    values: list[float], ends: list[tuple[float, float]]
) -> None:
    given = replace(analysis("score"), probabilities=np.array(values), labels=("a", "b"))
    assert [(bar.start, bar.share) for bar in output_bars(given, SAY)] == ends


def test_a_long_label_is_cut_beside_its_bar_and_whole_in_the_numbers() -> None:
    given = replace(analysis("score"), labels=("long " * 40,))
    assert len(output_bars(given, SAY)[0].name) == 40
    assert "long " * 39 in rows(OUTPUTS.show(given, {}, SAY))[1][0]


def test_of_many_labels_the_likeliest_have_bars_and_all_are_there_in_numbers() -> None:
    given = analysis("many")
    bars, shown = output_bars(given, SAY), OUTPUTS.show(given, {}, SAY)
    assert (len(bars), bars[0].start, bars[0].share) == (SHOWN, 0, float(given.probabilities.max()))
    assert [bar.colour for bar in bars] == [LABELS[ranked(given)[0] % len(LABELS)], *[OTHER] * (SHOWN - 1)]
    assert bars[0].text == output_text(given, ranked(given)[0])
    assert shown.html.count("<li>") == SHOWN
    assert "and 30 labels more, together" in shown.legend
    _, *found = rows(shown)
    assert len(found) == 40
    expected = dict(zip(given.labels, zip(given.logits, given.probabilities, strict=True), strict=True))
    for label, logit, probability, trained in found:
        np.testing.assert_allclose([float(logit), float(probability)], expected[label], rtol=1e-6)
        assert trained == "yes"


FIVE = analysis(text="not very good")  # [CLS] not very good [SEP]


def hovers(given: Analysis) -> list[str]:
    return [details[2] for details in drawn(SIMILARITY, given).data[0].customdata]


def test_what_is_read_without_a_share_is_explained_wherever_it_stands() -> None:
    given = sharing(FIVE, [0.75, 0.0, 0.25, 0.0, 0.0], [0, 1, 2, 3])
    silent, larger = "0 % (a small change moves no logit, only a larger one)", " (larger changes only)"
    assert hovers(given) == ["75 %", silent, "25 %", silent, "0 %"]  # the last one is not read
    assert re.findall(r">(\d+\u00a0%)([^<]*)<", TABLE.show(given, {}, SAY).html) == [
        *(("75\u00a0%", ""), ("0\u00a0%", larger), ("25\u00a0%", ""), ("0\u00a0%", larger), ("0\u00a0%", ""))
    ]  # no line begins with a percent sign


def test_under_a_maximum_it_counts_the_dimensions_that_tokens_win() -> None:
    given = sharing(FIVE, [0.2] * 5, range(5), [40, 7, 30, 0, 19])
    assert hovers(given)[0] == "20 %, the largest value in 40 of 96 dimensions"
    data = dict(TABLE.show(given, {}, SAY).data or ())
    assert list(data["largest value, dimensions"]) == [40, 7, 30, 0, 19]


@pytest.mark.parametrize(
    ("given", "texts", "key"),
    [
        (sharing(FIVE, [0.75, 0, 0.25], range(3)), ["75 %", "", "25 %", "", ""], SAY("legend.share")),
        (sharing(FIVE, [0.2] * 5, range(5)), [""] * 5, ""),
        (sharing(FIVE, [1.0], [0]), [""] * 5, ""),
        (sharing(FIVE, [0.5] * 2, [0, 1], [5, 3, 0, 0, 0]), [*"53000"], SAY("legend.wins", total=8)),
    ],
)
def test_beside_each_bar_stands_how_much_of_what_is_read_it_is(
    given: Analysis, texts: list[str], key: str
) -> None:
    assert [text.partition(" · ")[2] for text in drawn(SIMILARITY, given).data[-1].text] == texts
    legend = unescape(SIMILARITY.show(given, {}, SAY).legend).replace("\u00a0", " ")
    assert key in legend
    assert (" · " in legend or "· 0" in legend) == bool(key)
