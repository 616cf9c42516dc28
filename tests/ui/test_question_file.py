"""The file of the questions: whole in every language, without numbers, open to more questions."""

import re
from pathlib import Path

import pytest

from components.texts import ASSETS, load_texts
from components.types import Anatomy, Query
from components.ui.question_answers import Answers
from components.ui.question_file import Asked, read_questions
from tests.ui.asking import (
    FILE,
    KEYS,
    LANGUAGES,
    RESULTS,
    known,
    lines,
    placeholders,
    plain,
    shipped,
)
from tests.ui.fake_results import BACKBONES


def test_the_file_asks_what_people_asked() -> None:
    assert len(KEYS) == len(set(KEYS)) >= 8
    assert {asked.view for asked in FILE.questions} == {"tokens", "head", "evidence"}
    assert LANGUAGES == ("en", "zh")
    assert all(set(asked.backbones) <= set(BACKBONES) for asked in FILE.questions)
    for asked in FILE.questions:
        wordings = asked.wordings
        assert all(wordings[language].question and wordings[language].answer for language in LANGUAGES)
        assert re.search(r"[\u4e00-\u9fff]", wordings["zh"].question)
        assert not re.search(r"[\u4e00-\u9fff]", str(wordings["en"]))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("asked", FILE.questions, ids=KEYS)
def test_sentences_use_what_is_known_and_cover_every_case(asked: Asked, language: str) -> None:
    for part, line in lines(asked, language):
        names, cases = known(asked, part)
        for template in line.choices.values():
            assert placeholders(template) <= names
        values = set(cases[line.case]) if line.case else {"text"}
        assert line.choices.keys() <= values | {"text"}
        assert "text" in line.choices or line.choices.keys() == values


@pytest.mark.parametrize("asked", FILE.questions, ids=KEYS)
def test_both_languages_say_the_same_facts(asked: Asked) -> None:
    said = [
        [
            (part, line.case, {value: placeholders(text) for value, text in line.choices.items()})
            for part, line in lines(asked, one)
        ]
        for one in LANGUAGES
    ]
    assert said[0] == said[1]
    words = [{name: placeholders(text) for name, text in FILE.words[one].items()} for one in LANGUAGES]
    assert words[0] == words[1]


def test_no_number_is_written_down() -> None:
    templates = [
        template
        for asked in FILE.questions
        for language in LANGUAGES
        for _, line in lines(asked, language)
        for template in line.choices.values()
    ]
    templates += [text for words in FILE.words.values() for text in words.values()]
    assert not [template for template in templates if re.search(r"\d", template)]


def test_the_head_of_the_file_lists_the_facts_and_cases() -> None:
    head = (ASSETS / "questions.toml").read_text("utf-8").split("\n[words.en]")[0]
    listed = set(re.findall(r"\w+", head))
    for asked in FILE.questions:
        for part in ("answer", "each"):
            names, cases = known(asked, part)
            assert {name for name in names if not name.startswith("against_")} <= listed
            assert set(cases) <= listed
            assert {value for values in cases.values() for value in values} <= listed


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("view = ", "vue = "), TypeError),
        (('view = "tokens"', 'view = "elsewhere"'), ValueError),
        (("backbones = [", "backbones = []\nrest = ["), TypeError),
        (("[question.zh]", "[question.fr]"), KeyError),
        (("answer]]", "anwser]]"), TypeError),
        (("question = ", "quest = "), KeyError),
    ],
)
def test_a_file_with_a_fault_is_refused(tmp_path: Path, change: tuple[str, str], fault: type) -> None:
    text = (ASSETS / "questions.toml").read_text("utf-8")
    assert change[0] in text
    path = tmp_path / "questions.toml"
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(fault):
        read_questions(path)


def test_a_question_is_added_without_python(tmp_path: Path) -> None:
    added = """
[[question]]
key = "added"
view = "head"
backbones = ["bert-paraphrase"]
text = "one"
text_pair = "two"
[question.en]
question = "How many?"
answer = ["{parameters}."]
[question.zh]
question = "多少？"
answer = ["{parameters}。"]
"""
    path = tmp_path / "questions.toml"
    path.write_text((ASSETS / "questions.toml").read_text("utf-8") + added, encoding="utf-8")
    given = Answers(shipped(), RESULTS, read_questions(path), load_texts()).answer("added")
    anatomy: Anatomy = shipped().anatomy(Query("bert-paraphrase", "one", "two"))
    assert f"{sum(step.parameters for step in anatomy.steps)}." in plain(given.card)
    assert "“one” and “two”" in plain(given.card)
