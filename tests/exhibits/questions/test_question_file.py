"""The file of the questions: whole in every language, without numbers, open to more questions."""

import re
from pathlib import Path

import pytest

from components.analyses.anatomy import Anatomy
from components.exhibits.facts import cases
from components.exhibits.questions import Answers, Question, read_questions
from components.texts import ASSETS, load_texts
from components.types import Query
from tests.exhibits.questions.asking import (
    KEYS,
    LANGUAGES,
    QUESTIONS,
    RESULTS,
    known,
    placeholders,
    shipped,
    texts,
)
from tests.exhibits.showing import plain
from tests.ui.fake_results import BACKBONES

FILE = ASSETS / "questions.toml"

PARTS = ("answer", "each")


def test_the_file_asks_what_people_asked() -> None:
    assert len(KEYS) == len(set(KEYS)) >= 8
    assert {question.view for question in QUESTIONS} == {
        "tokens",
        "head",
        "importance",
        "padding",
        "evidence",
    }
    assert LANGUAGES == ("en", "zh")
    assert all(set(question.backbones) <= set(BACKBONES) for question in QUESTIONS)
    for question in QUESTIONS:
        assert question.answer
        written = [question.question, *(text for *_, text in texts(question) if text)]
        assert all(tuple(text) == LANGUAGES and all(text.values()) for text in written)
        assert re.search(r"[\u4e00-\u9fff]", question.question["zh"])
        assert not any(re.search(r"[\u4e00-\u9fff]", text["en"]) for text in written)
        for text in question.papers.values():  # authors and years are the same in every language
            assert tuple(text) == LANGUAGES
            cited = [re.findall(r"[A-Z][a-z]+(?= )|\b\d{4}", text[tag]) for tag in LANGUAGES]
            assert {one for one in cited[1] if one.isdigit()} == {one for one in cited[0] if one.isdigit()}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("question", QUESTIONS, ids=KEYS)
def test_sentences_use_what_is_known_and_cover_every_case(question: Question, language: str) -> None:
    known_cases = cases(question.view)
    for part, name, value, text in texts(question):
        assert placeholders(text.get(language, "")) <= known(question, part) - known_cases.keys()
        lines = question.answer if part == "answer" else question.each
        if name in known_cases:
            assert name in known(question, part)
            assert value in (*known_cases[name], "else")
            assert "else" in lines[name] or lines[name].keys() == set(known_cases[name])
        else:
            assert value == "else"


def test_no_number_is_written_down() -> None:
    written = [one for question in QUESTIONS for *_, text in texts(question) for one in text.values()]
    written += [
        text
        for language in LANGUAGES
        for key, text in load_texts(language).entries.items()
        if key.startswith("questions.")
    ]
    assert not [text for text in written if re.search(r"\d", text)]


def test_every_fact_and_case_is_used_by_a_question() -> None:
    found = [text for question in QUESTIONS for text in texts(question)]
    used = {name for _, name, *_ in found}
    used |= {name for *_, text in found for one in text.values() for name in placeholders(one)}
    facts = {fact for question in QUESTIONS for part in PARTS for fact in known(question, part)}
    assert {fact for fact in facts if not fact.startswith("against_")} <= used
    assert used <= facts | {name for _, name, value, _ in found if value == "else"}


FAULTS = {
    "unknown field": (("view = ", "vue = "), r"pooler\.vue"),
    "unknown view": (('view = "tokens"', 'view = "elsewhere"'), r"pooler\.view"),
    "no backbones": (("backbones = [", "backbones = [] #"), r"pooler\s.*backbones and a text are needed"),
    "no task": (("task = ", "#"), r"position\s.*, for the evidence, backbones and a task"),
    "question in another language": (("question.zh", "question.fr"), r"needed in \['en', 'fr'\]"),
    "missing language": (("reads.cls.zh", "#"), r"reads: every text is needed in \['en', 'zh'\]"),
    "unknown case": (("reads.cls.", "raeds.cls."), r"raeds: there is no case with the values \['cls'\]"),
    "unknown value": (("reads.none.", "reads.nothing."), r"no case with the values \['nothing'\]"),
    "missing value": (("direct.no.", "# "), r"direct: the values \['no'\] have no text"),
    "paper of a backbone that is not asked": (("gpt2-pretrained.en", "gpt3-pretrained.en"), r"papers: "),
    "picture in the evidence": (
        ('task = "', 'shows = "flows"\ntask = "'),
        r"position\s.*the evidence has no",
    ),
    "case of heads in the evidence": (("differing.", "reads."), r"position\s.*reads: there is no case"),
}


@pytest.mark.parametrize(("change", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_file_with_a_fault_is_refused_and_told_why(
    tmp_path: Path, change: tuple[str, str], fault: str
) -> None:
    text = FILE.read_text("utf-8")
    assert change[0] in text
    path = tmp_path / "questions.toml"
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(ValueError, match=f"(?s){fault}"):
        read_questions(path)


def test_a_question_is_added_without_python(tmp_path: Path) -> None:
    added = """
[added]
view = "head"
backbones = ["bert-paraphrase"]
text = "one"
text_pair = "two"
question.en = "How many?"
question.zh = "多少？"
answer.count.en = "{parameters}."
answer.count.zh = "{parameters}。"
"""
    path = tmp_path / "questions.toml"
    path.write_text(FILE.read_text("utf-8") + added, encoding="utf-8")
    given = Answers(shipped(), RESULTS, read_questions(path), load_texts()).answer("added")
    anatomy: Anatomy = shipped().ask("anatomy", Query("bert-paraphrase", "one", "two"))
    assert f"{sum(step.parameters for step in anatomy.steps)}." in plain(given.card)
    assert "“one” and “two”" in plain(given.card)
