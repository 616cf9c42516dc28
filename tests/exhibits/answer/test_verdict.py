import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from components.errors import PoolscopeError
from components.exhibits.answer.verdict import VERDICT, mistake
from components.texts import Sentence, languages, load_texts
from components.types import Analysis, Query, Reads
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
    assert "pooling: &#x27;median&#x27; was given; allowed are mean, max." in html
    assert 'role="alert"' in html
