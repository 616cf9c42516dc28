"""The Questions tab, without a browser: every sentence of the file holds for whatever is measured."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from components.results import Results, write_results
from components.texts import Language, Texts, load_texts
from components.types import Query
from components.ui.question_answers import BREAK, Answers, breakable
from components.ui.question_file import Asked
from components.ui.questions import Questions, build_questions
from tests.serving import built
from tests.ui.asking import (
    FILE,
    KEYS,
    LANGUAGES,
    RESULTS,
    Tags,
    answered,
    plain,
    put_to,
    shipped,
)
from tests.ui.fake import KINDS, XSS, FakeAnalyst, Kind

SAY = load_texts()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.spec.key for kind in KINDS])
@pytest.mark.parametrize("asked", FILE.questions, ids=KEYS)
def test_every_question_has_an_answer_from_every_kind_of_classifier(
    asked: Asked, kind: Kind, language: str
) -> None:
    given = put_to(kind, asked, language)
    assert given.view == asked.view
    for html in (given.card, given.banner):
        assert len(plain(html)) > 40
        assert Tags(html).tags <= {"div", "p", "ul", "li", "strong", "details", "summary", "wbr"}
        assert Tags(html).attributes <= {"class", "lang", "role", "open"}
        assert "{" not in html or "hostile" in kind.spec.key
    if kind.spec.key == "hostile" and "{architecture}" in str(asked):
        assert "<img" not in given.card
        assert "&lt;img" in given.card


@pytest.mark.parametrize("key", KEYS)
def test_every_fact_is_marked_and_nothing_else(key: str) -> None:
    marked = re.findall(r"<strong>(.*?)</strong>", answered(key).card)
    assert marked
    rest = plain(re.sub(r"<strong>.*?</strong>", "", answered(key).card))
    assert not re.search(r"\d", rest.split("Measured just now")[0])


def test_the_answer_says_which_tokens_are_read() -> None:
    analyst = shipped()
    asked = next(one for one in FILE.questions if one.key == "families")
    said = plain(answered("families").card)
    for key in asked.backbones:
        analysis = analyst.analyze(Query(key, asked.text))
        total, (read,) = len(analysis.tokens.text), analysis.reads.positions.nonzero()[0]
        place = "the first token" if read == 0 else "the last token"
        assert f"{analysis.backbone.architecture} reads 1 of {total} tokens: " in said
        assert re.search(rf"{analysis.backbone.architecture} [^:]*: [^:]*{place}\.", said)
    assert "No: 5 heads were asked; 3 of them read the first token alone, 2 the last one alone." in said


def test_the_verdict_follows_what_is_measured() -> None:
    asked = next(one for one in FILE.questions if one.key == "pooler")
    kind = next(kind for kind in KINDS if kind.spec.key == "first")
    assert plain(put_to(kind, asked).card).startswith("It starts from [CLS] and nothing else")
    every = put_to(kind, replace(asked, pooling="mean"))
    assert plain(every.card).startswith("It uses more than [CLS]")
    assert plain(put_to(kind, replace(asked, pooling="mean"), "zh").card).startswith("不只用 [CLS]")


def test_the_average_is_compared_with_the_own_vector() -> None:
    given = answered("average")
    assert given.query == Query("bert-sentiment", given.query.text, pooling="mean", reference="pooled")
    own = shipped().anatomy(replace(given.query, pooling="native")).analysis
    swapped = given.anatomy.analysis if given.anatomy else own
    said = plain(given.card)
    same = own.predicted == swapped.predicted
    assert ("still chooses the same" in said) == same
    assert f"{own.predicted[0]} ({100 * own.probabilities.max():.0f} %)" in said
    assert f"{swapped.predicted[0]} ({100 * swapped.probabilities.max():.0f} %)" in said
    assert f"the cosine of the two is {swapped.similarity[-1, swapped.tokens.cls]:.2f};" in said


def test_the_evidence_is_that_of_the_results() -> None:
    given = answered("position")
    assert (given.query, given.task, given.backbones) == (
        None,
        "sentiment",
        ("bert-pretrained", "bert-sentiment"),
    )
    said = plain(given.card)
    for key in given.backbones:
        rows = {row.pooling: row for row in RESULTS.probes if (row.backbone, row.task) == (key, "sentiment")}
        for pooling in ("cls", "lasttoken", "mean", "max", "flatten"):
            row = rows[pooling]
            value, low, high = (f"{100 * one:.1f}" for one in (row.accuracy, row.low, row.high))
            assert f"{pooling} {value} % ({low} to {high})" in said


def test_an_absent_backbone_is_not_asked() -> None:
    analyst = FakeAnalyst(tuple(kind for kind in shipped().kinds if kind.spec.key.startswith("bert")))
    answers = Answers(analyst, RESULTS, FILE, SAY)
    assert [asked.key for asked in answers.here] == KEYS
    given = answers.answer("families")
    assert given.query is not None
    assert given.query.backbone == "bert-sentiment"
    assert given.card.count("<li>") == 1
    away = tuple(replace(kind, spec=replace(kind.spec, available=False)) for kind in analyst.kinds)
    assert {asked.view for asked in Answers(FakeAnalyst(away), RESULTS, FILE, SAY).here} == {"evidence"}


def test_a_question_that_nobody_here_can_answer_is_left_out() -> None:
    tuned = FakeAnalyst(tuple(kind for kind in shipped().kinds if "pretrained" not in kind.spec.key))
    left = [asked.key for asked in Answers(tuned, Results(), FILE, SAY).here]
    assert left == ["pooler", "families", "average", "endings"]
    with pytest.raises(KeyError):
        Answers(tuned, Results(), FILE, SAY).answer("position")
    elsewhere = replace(RESULTS, probes=tuple(row for row in RESULTS.probes if row.task == "topic"))
    assert "fair" not in [asked.key for asked in Answers(tuned, elsewhere, FILE, SAY).here]


def test_what_cannot_be_answered_as_asked_is_said_in_its_place() -> None:
    asked = replace(FILE.questions[0], text=f" {XSS}", reference=f"{XSS}")
    file = replace(FILE, questions=(asked,))
    given = Answers(shipped(), RESULTS, file, SAY).answer(asked.key)
    assert (given.view, given.query, given.banner) == ("", None, "")
    assert "This cannot be answered here." in given.card
    assert "reference: " in plain(given.card)
    in_chinese = Answers(shipped(), RESULTS, file, load_texts("zh")).answer(asked.key)
    assert "参照：" in plain(in_chinese.card)
    assert Tags(given.card).tags == {"div", "p"}


def tab(analyst: FakeAnalyst, folder: Path, say: Texts = SAY) -> tuple[Any, Any]:
    write_results(RESULTS, folder / "results.json")
    made = SimpleNamespace(tab=None)

    def page() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as blocks:
            made.tab = build_questions(analyst, folder / "results.json", say)
        return blocks

    return built(page), made.tab


def test_a_click_fills_its_card(tmp_path: Path) -> None:
    page, questions = tab(shipped(), tmp_path)
    assert isinstance(questions, Questions)
    assert list(questions.cards) == KEYS
    assert not page.fns  # what a click does beyond its card is up to the page
    result, updates = questions.ask("families")
    assert updates == {questions.cards["families"].answer: result.card}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_are_asked_in_the_language_of_the_page(tmp_path: Path, language: str) -> None:
    _, questions = tab(shipped(), tmp_path, say=load_texts(language))
    for asked in FILE.questions:
        button = questions.cards[asked.key].button.value
        assert button.replace(BREAK, "") == asked.wordings[language].question
    assert f'lang="{language}"' in questions.ask("pooler")[0].card


def test_a_language_that_the_file_does_not_speak_is_its_first(tmp_path: Path) -> None:
    other = replace(SAY, language=Language("xx", "Other"))
    _, questions = tab(shipped(), tmp_path, say=other)
    assert questions.answers.language == "en"


def test_only_long_names_may_break() -> None:
    name = "BertForSequenceClassification"
    assert breakable(f"RoBERTa and {name}").split(BREAK) == [
        "RoBERTa and Bert",
        "For",
        "Sequence",
        "Classification",
    ]
    assert breakable("cls.predictions.LayerNorm").split(BREAK) == ["cls.", "predictions.", "Layer", "Norm"]
    assert "Bert<wbr>For<wbr>Sequence" in answered("pooler").banner


def test_a_bug_is_said_to_be_one(tmp_path: Path) -> None:
    _, questions = tab(replace(shipped(), broken=True), tmp_path)
    with pytest.raises(gr.Error, match="fault of the page"):
        questions.ask("pooler")


def test_without_any_question_there_is_no_tab(tmp_path: Path) -> None:
    assert tab(FakeAnalyst(), tmp_path)[1] is None
