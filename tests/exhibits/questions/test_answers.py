"""Answers to questions: every sentence of the file holds for whatever is measured."""

import re
from dataclasses import replace
from html import unescape

import pytest

from components.analyses.anatomy import Anatomy
from components.exhibits.evidence import Evidence
from components.exhibits.panels import Answered
from components.exhibits.questions import Answer, Answers, Question, flow_html, module_html, sentences
from components.results import table
from components.texts import load_texts
from components.types import Analysis, Query
from tests.exhibits.questions.asking import (
    KEYS,
    LANGUAGES,
    QUESTIONS,
    RESULTS,
    answered,
    put_to,
    shipped,
)
from tests.exhibits.showing import Tags, plain
from tests.measured import having, measured
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.fake_kinds import KINDS, Kind

SAY = load_texts()


def analysis_of(answer: Answer) -> Analysis:
    """The analysis that an answer was measured on."""
    assert isinstance(answer.measured, Answered)
    return answer.measured.analysis


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.spec.key for kind in KINDS])
@pytest.mark.parametrize("question", QUESTIONS, ids=KEYS)
def test_every_question_has_an_answer_from_every_kind_of_classifier(
    question: Question, kind: Kind, language: str
) -> None:
    given = put_to(kind, question, language)
    assert given.view == question.view
    for html in (given.card, given.banner):
        assert len(plain(html)) > 40
        pictures = {"flows": {"ol", "b", "span"}, "module": {"pre", "code"}}.get(question.shows, set())
        known = {"div", "p", "ul", "li", "strong", "details", "summary", "wbr", "a"}
        assert Tags(html).tags <= known | pictures
        seen = {"tabindex", "aria-label", "aria-hidden"} if pictures else set()
        assert Tags(html).attributes <= {"class", "lang", "role", "open", "data-question", "href"} | seen
        assert "{" not in html or "hostile" in kind.spec.key or question.shows == "module"
    if kind.spec.key == "hostile" and "{architecture}" in str(question):
        assert "<img" not in given.card
        assert "&lt;img" in given.card


def test_the_answer_says_which_tokens_are_read() -> None:
    analyst = shipped()
    asked = next(one for one in QUESTIONS if one.key == "families")
    said = plain(answered("families").card)
    for key in asked.backbones:
        analysis = analyst.ask("analyze", Query(key, asked.text))
        total, (read,) = len(analysis.tokens.text), analysis.reads.positions.nonzero()[0]
        place = "the first token" if read == 0 else "the last token"
        assert f"{analysis.backbone.architecture} reads 1 of {total} tokens: " in said
        assert re.search(rf"{analysis.backbone.architecture} [^:]*: [^:]*{place}\.", said)
    assert "No: 5 heads were asked; 3 of them read the first token alone (BERT-SENTIMENT, " in said
    assert "), 2 the last one alone (XLNET-SENTIMENT, GPT2-SENTIMENT)." in said


def test_what_papers_say_stands_with_the_backbone_that_was_asked() -> None:
    asked = next(one for one in QUESTIONS if one.papers)
    given = answered(asked.key)
    lines = given.card.split('<p class="name">')[1:]
    for key, line in zip(asked.backbones, lines, strict=True):
        assert plain(line).startswith(key.upper())
        (paper,) = re.findall(r'<p class="paper">(.*?)</p>', line)
        assert plain(paper) == asked.papers[key]["en"]
        assert re.search(r"[A-Z]\w+ et al\. \d{4}", paper)
    silent = replace(asked, papers={})
    assert 'class="paper"' not in Answers(shipped(), RESULTS, (silent,), SAY).answer(asked.key).card


def test_the_average_is_compared_with_the_own_vector() -> None:
    given = answered("average")
    swapped = analysis_of(given)
    assert swapped.query == Query("bert-sentiment", swapped.query.text, pooling="mean", reference="pooled")
    own = shipped().ask("analyze", replace(swapped.query, pooling="native"))
    said = plain(given.card)
    same = own.predicted == swapped.predicted
    assert ("still chooses the same" in said) == same
    assert f"{own.predicted[0]} ({100 * own.probabilities.max():.0f} %)" in said
    assert f"{swapped.predicted[0]} ({100 * swapped.probabilities.max():.0f} %)" in said
    assert f"the cosine of the two is {swapped.similarity[-1, swapped.tokens.cls]:.2f};" in said


def test_the_evidence_is_that_of_the_results() -> None:
    given = answered("position")
    assert isinstance(given.measured, Evidence)
    assert given.measured.task == "sentiment"
    assert given.measured.backbones == ("bert-pretrained", "bert-sentiment")
    said = plain(given.card)
    for key in given.measured.backbones:
        rows = {
            row.pooling: row
            for row in measured(RESULTS, "probe")
            if (row.backbone, row.task) == (key, "sentiment")
        }
        for pooling in ("cls", "lasttoken", "mean", "max", "flatten"):
            row = rows[pooling]
            value, low, high = (f"{100 * one:.1f}" for one in (row.value, row.low, row.high))
            assert f"{pooling} {value} % ({low} to {high})" in said


def test_a_question_that_takes_the_visitor_s_own_text_is_asked_with_that() -> None:
    given = Answers(shipped(), RESULTS, QUESTIONS, SAY)
    own = given.answer("matters", "so <good>", "")
    assert (analysis_of(own).query.text, given.takes_texts("matters")) == ("so <good>", True)
    assert "on “so <good>”" in plain(own.card)
    assert "question=matters&amp;text=so+%3Cgood%3E&amp;pair=&amp;panel=importance" in own.card
    for key, text in (("matters", "  "), ("pooler", "so good")):
        asked = next(one for one in QUESTIONS if one.key == key)
        assert analysis_of(given.answer(key, text)).query.text == asked.text


def test_a_question_that_nobody_here_can_answer_is_left_out() -> None:
    tuned = FakeAnalyst(tuple(kind for kind in shipped().kinds if "pretrained" not in kind.spec.key))
    left = [asked.key for asked in Answers(tuned, table(), QUESTIONS, SAY).available]
    assert left == ["pooler", "families", "when", "matters", "batch", "average"]
    with pytest.raises(KeyError):
        Answers(tuned, table(), QUESTIONS, SAY).answer("position")
    elsewhere = having(RESULTS, probe=[row for row in measured(RESULTS, "probe") if row.task == "topic"])
    assert "fair" not in [asked.key for asked in Answers(tuned, elsewhere, QUESTIONS, SAY).available]


def test_what_cannot_be_answered_as_asked_is_said_in_its_place() -> None:
    asked = replace(QUESTIONS[0], text=f" {XSS}", reference=f"{XSS}")
    given = Answers(shipped(), RESULTS, (asked,), SAY).answer(asked.key)
    assert (given.view, given.measured, given.banner) == ("", None, "")
    assert "This cannot be answered here." in given.card
    assert "reference: " in plain(given.card)
    in_chinese = Answers(shipped(), RESULTS, (asked,), load_texts("zh")).answer(asked.key)
    assert "参照：" in plain(in_chinese.card)
    assert Tags(given.card).tags == {"div", "p"}


def test_an_unknown_fact_or_case_is_named() -> None:
    with pytest.raises(KeyError, match="nothing"):
        sentences({"a": {"else": {"en": "{nothing}."}}}, {"something": "1"}, SAY)
    with pytest.raises(KeyError, match="trained"):
        sentences({"trained": {"yes": {"en": "Yes."}, "no": {}}}, {}, SAY)


TEXT = "a very slow film"


def anatomy(key: str = "first", **query: str) -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(key, TEXT, **query))  # type: ignore[arg-type]  # all are texts


def cells(html: str) -> list[bool]:
    """For each token whether it is drawn as one that is read."""
    return [style == "cell read" for style in re.findall(r'<span class="(cell[^"]*)">', html)]


def steps(html: str) -> list[tuple[str, str]]:
    """The kind and the name of each step, from the top down."""
    return re.findall(r'<li class="(\w+)"><b>(.*?)</b>', html)


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
