"""Questions: the file is whole in every language, and its sentences hold for whatever is measured."""

import re
import string
from dataclasses import replace
from functools import cache, partial
from html import unescape
from itertools import cycle
from pathlib import Path

import pytest

from components.analyses.anatomy import Anatomy
from components.exhibits import measures
from components.exhibits.head import WORDED
from components.exhibits.panels import Answered
from components.exhibits.question import ByLanguage, QuestionCard, read_questions
from components.exhibits.questions import CardAnswer, sentences
from components.exhibits.view import render
from components.results import read_results, table
from components.texts import ASSETS, load_texts
from components.types import Analysis, Query
from tests.exhibits.asking import KEYS, LANGUAGES, QUESTIONS, RESULTS, answers, cases, check, put_to, shipped
from tests.exhibits.showing import CASES, Document, anatomy, plain
from tests.measured import having, measured
from tests.ui.fake import KINDS, XSS, FakeAnalyst, Kind
from tests.ui.fake_results import BACKBONES

SAY = load_texts()
FILE = ASSETS / "questions.toml"
ASKED = dict(zip(KEYS, QUESTIONS, strict=True))
(HOSTILE,) = (kind for kind in KINDS if kind.spec.key == "hostile")
TOLD = [  # each question by hostile words and by another kind, each kind by some question
    *((question, HOSTILE, "en") for question in QUESTIONS),
    *((question, kind, "zh") for question, kind in zip(cycle(QUESTIONS), KINDS * 2, strict=False)),
]


@cache
def answered(key: str) -> CardAnswer:
    return answers().answer(key)


def analysis_of(answer: CardAnswer) -> Analysis:
    """The analysis that an answer was measured on."""
    assert isinstance(answer.measured, Answered)
    return answer.measured.analysis


def texts(question: QuestionCard) -> list[tuple[str, str, str, ByLanguage]]:
    """Every text of the answers after its part, its sentence and the value of the case that it is for."""
    return [
        (part, name, value, text)
        for part, lines in (("answer", question.answer), ("each", question.each))
        for name, line in lines.items()
        for value, text in line.items()
    ]


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@cache
def known(key: str, part: str) -> set[str]:
    """The facts and the cases that a sentence of a question may use."""
    puts = answers().put(ASKED[key])
    found = {*measures.measured(puts[0])}
    return found | measures.together(puts).keys() if part == "answer" else found


def test_the_file_asks_what_people_asked_in_every_language_without_a_number() -> None:
    assert len(KEYS) == len(set(KEYS)) >= 8
    assert {one.view for one in QUESTIONS} == {"tokens", "head", "importance", "padding", "evidence"}
    assert LANGUAGES == ("en", "zh")
    for question in QUESTIONS:
        check(question)
        assert set(question.backbones) <= {*BACKBONES, "all-minilm-l6-v2"}
        said = [one for *_, text in texts(question) for one in text.values()]
        assert said
        assert all(said)
        assert not re.search(r"\d", "".join(said))
        chinese = [bool(re.search(r"[\u4e00-\u9fff]", question.question[tag])) for tag in LANGUAGES]
        assert chinese == [False, True]
        for text in question.papers.values():  # years are the same in every language
            years = [set(re.findall(r"\b\d{4}", text[tag])) for tag in LANGUAGES]
            assert years[0] == years[1]


@pytest.mark.parametrize("question", QUESTIONS, ids=KEYS)
def test_sentences_use_what_is_known(question: QuestionCard) -> None:
    known_cases = cases(question.measures).keys()
    for part, name, _, text in texts(question):
        there = known(question.key, part)
        assert name in there or name not in known_cases
        assert {used for one in text.values() for used in placeholders(one)} <= there - known_cases


def test_every_fact_and_case_is_used_by_a_question() -> None:
    found = [text for question in QUESTIONS for text in texts(question)]
    used = {name for _, name, *_ in found}
    used |= {name for *_, text in found for one in text.values() for name in placeholders(one)}
    every = {fact for key in KEYS for part in ("answer", "each") for fact in known(key, part)}
    assert every <= used


@pytest.mark.parametrize(("there", "instead", "fault"), CASES["faults"].values(), ids=CASES["faults"])
def test_a_file_with_a_fault_is_told_why(tmp_path: Path, there: str, instead: str, fault: str) -> None:
    text, path = FILE.read_text("utf-8"), tmp_path / "questions.toml"
    assert there in text
    path.write_text(text.replace(there, instead), encoding="utf-8")
    with pytest.raises(ValueError, match=f"(?s){fault}"):
        list(map(check, read_questions(path)))


def test_a_question_is_added_without_python(tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(FILE.read_text("utf-8") + CASES["added"], encoding="utf-8")
    given = answers(read_questions(path)).answer("added")
    whole: Anatomy = shipped().ask("anatomy", Query("bert-paraphrase", "one", "two"))
    assert f"{sum(step.parameters for step in whole.steps)}." in plain(given.card)
    assert "“one” and “two”" in plain(given.card)


@pytest.mark.parametrize(
    ("question", "kind", "language"),
    TOLD,
    ids=[f"{one.key}-{kind.spec.key}-{tag}" for one, kind, tag in TOLD],
)
def test_every_question_has_an_answer_from_every_kind_of_classifier(
    question: QuestionCard, kind: Kind, language: str
) -> None:
    given = put_to(kind, question, language)
    assert given.view == question.view
    for html in (given.card, given.banner):
        assert len(plain(html)) > 40
        pictures = {"flows": {"ol", "b", "span"}, "module": {"pre", "code"}}.get(question.shows, set())
        found = {"div", "p", "ul", "li", "strong", "details", "summary", "wbr", "a"}
        assert Document(html).tags <= found | pictures
        seen = {"tabindex", "aria-label", "aria-hidden"} if pictures else set()
        seen |= {"class", "lang", "role", "open", "data-question", "data-view", "href"}
        assert Document(html).attributes <= seen
        assert "{" not in html or kind is HOSTILE or question.shows == "module"
    if kind is HOSTILE and "{architecture}" in str(question):
        assert "&lt;img" in given.card


def test_the_answer_says_which_tokens_are_read() -> None:
    analyst, asked, said = shipped(), ASKED["families"], plain(answered("families").card)
    for key in asked.backbones:
        analysis = analyst.ask("analyze", Query(key, asked.text))
        total, (read,) = len(analysis.tokens.text), analysis.reads.positions.nonzero()[0]
        place = "the first token" if read == 0 else "the last token"
        assert f"{analysis.backbone.architecture} reads 1 of {total} tokens: " in said
        assert re.search(rf"{analysis.backbone.architecture} [^:]*: [^:]*{place}\.", said)
    assert "No: 5 heads were asked. The first token alone is read by 3 (BERT-SENTIMENT, " in said
    assert "), the last one alone by 2 (XLNET-SENTIMENT, GPT2-SENTIMENT)." in said


@pytest.mark.parametrize(("key", "knows"), [("first", True), ("untrained", False), ("score", False)])
def test_of_a_head_that_says_no_label_it_is_not_told_which_tokens_would_do(key: str, knows: bool) -> None:
    (kind,) = (kind for kind in KINDS if kind.spec.key == key)
    card = plain(put_to(kind, ASKED["when"]).card)
    assert ("it says the same for" in card) == knows
    assert ("By itself the head reads the last layer alone." in card) == (key != "untrained")


def test_what_papers_say_stands_with_the_backbone_that_was_asked() -> None:
    asked = next(one for one in QUESTIONS if one.papers)
    lines = answered(asked.key).card.split('<p class="name">')[1:]
    for key, line in zip(asked.backbones, lines, strict=True):
        assert plain(line).startswith(key.upper())
        (paper,) = re.findall(r'<p class="paper">(.*?)</p>', line)
        assert plain(paper) == asked.papers[key]["en"]
    assert 'class="paper"' not in answers((replace(asked, papers={}),)).answer(asked.key).card


@pytest.mark.parametrize(("key", "told"), CASES["averaged"].items(), ids=CASES["averaged"])
def test_what_is_told_of_averages_is_of_every_backbone_as_on_the_tab(key: str, told: list[str]) -> None:
    said = plain(answers(results=read_results(ASSETS / "results.csv")).answer(key).card).replace("−", "-")
    assert [one for one in told if one not in said] == []


def test_a_question_that_takes_the_visitor_s_own_text_is_asked_with_that() -> None:
    given = answers()
    own = given.answer("matters", "so <good>", "")
    assert analysis_of(own).query.text == "so <good>"
    assert "on “so <good>”" in plain(own.card)
    assert "question=matters&amp;text=so+%3Cgood%3E&amp;pair=&amp;panel=importance" in own.card
    for key, text in (("matters", "  "), ("pooler", "so good")):
        assert analysis_of(given.answer(key, text)).query.text == ASKED[key].text


def test_a_question_that_nobody_here_can_answer_is_left_out() -> None:
    tuned = FakeAnalyst(tuple(kind for kind in shipped().kinds if "pretrained" not in kind.spec.key))
    left = answers(analyst=tuned, results=table())
    tuned_for = {key: any("pretrained" not in one for one in asked.backbones) for key, asked in ASKED.items()}
    keys = [key for key, asked in ASKED.items() if tuned_for[key] and not asked.task]
    assert [one.key for one in left.available] == keys
    with pytest.raises(KeyError):
        left.answer("position")
    elsewhere = having(RESULTS, probe=measured(RESULTS, "probe", task="topic"))
    assert "fair" not in [one.key for one in answers(analyst=tuned, results=elsewhere).available]


def test_what_cannot_be_answered_as_asked_is_said_in_its_place() -> None:
    asked = replace(QUESTIONS[0], text=f" {XSS}", pooling=f"{XSS}")
    given = answers((asked,)).answer(asked.key)
    assert (given.view, given.measured, given.banner) == ("", None, "")
    assert "This cannot be answered here." in given.card
    assert "pooling: " in plain(given.card)
    assert "池化：" in plain(answers((asked,), language="zh").answer(asked.key).card)
    assert Document(given.card).tags == {"div", "p"}


def test_an_unknown_fact_or_case_is_named() -> None:
    with pytest.raises(KeyError, match="nothing"):
        sentences({"a": {"else": {"en": "{nothing}."}}}, {"something": "1"}, SAY)
    with pytest.raises(KeyError, match="trained"):
        sentences({"trained": {"yes": {"en": "Yes."}, "no": {}}}, {}, SAY)


def test_a_head_is_drawn_step_by_step_and_its_code_can_be_copied() -> None:
    own, flow = anatomy(), partial(render, "flow", SAY, worded=WORDED)
    steps = re.findall(r'<li class="(\w+)"><b>(.*?)</b>', flow(anatomy=own))
    assert steps == list(map(tuple, CASES["flow"]))
    untrained = flow(anatomy=anatomy("untrained"))
    assert '<li class="new"><b>classifier</b> <span>newly initialised: random' in untrained
    codes = re.findall(r"<pre [^>]*><code>(.*?)</code></pre>", render("module", SAY, anatomy=own), re.DOTALL)
    assert [unescape(code) for code in codes] == [own.module.rstrip("\n"), own.program.rstrip("\n")]
