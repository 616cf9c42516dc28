"""What assets/questions.toml holds: questions that people asked, and how each is answered."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from components.texts import ASSETS
from components.types import Query, Reference

ViewName = Literal["tokens", "head", "evidence"]
Words = Mapping[str, str]  # the words and the little sentences of one language, by name


@dataclass(frozen=True)
class Line:
    """A sentence with placeholders for facts; which one depends on the ``case``.

    ``choices``: templates by the value of the case; "text" is the one for all other values.
    """

    case: str
    choices: Mapping[str, str]

    def template(self, cases: Mapping[str, str]) -> str:
        """The template that holds in these ``cases``; KeyError if there is none."""
        value = cases[self.case] if self.case else "text"
        return self.choices[value] if value in self.choices else self.choices["text"]


@dataclass(frozen=True)
class Wording:
    """A question in one language: the ``answer``, and lines for ``each`` of its backbones."""

    question: str
    answer: tuple[Line, ...]
    each: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Asked:
    """One question. ``view`` is where it leads: to the tokens, to the head or to the evidence.

    ``backbones``: each is asked for ``text`` with ``pooling`` and ``reference``; the first one is what the
    page shows. ``against``: another pooling to compare with, or "". For the evidence, ``task`` and
    ``poolings`` say which results are meant, and nothing is asked of a model.
    """

    key: str
    view: ViewName
    backbones: tuple[str, ...]
    wordings: Mapping[str, Wording]
    text: str = ""
    text_pair: str = ""
    pooling: str = "native"
    reference: Reference = "cls"
    against: str = ""
    task: str = ""
    poolings: tuple[str, ...] = ()

    def query(self, backbone: str, pooling: str = "") -> Query:
        """What is asked of one backbone; with its own pooling or another one."""
        pooled = pooling or self.pooling
        return Query(backbone, self.text, self.text_pair, pooled, reference=self.reference)


@dataclass(frozen=True)
class QuestionFile:
    """The questions in their order, and the words of each language."""

    words: Mapping[str, Words]
    questions: tuple[Asked, ...]


def read_questions(path: Path = ASSETS / "questions.toml") -> QuestionFile:
    """The questions of a file; KeyError and ValueError say what is missing, TypeError what is unknown."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    words: Mapping[str, Words] = tables["words"]
    return QuestionFile(words, tuple(_asked(entry, tuple(words)) for entry in tables["question"]))


def _asked(entry: Mapping[str, Any], languages: Sequence[str]) -> Asked:
    wordings = {language: _wording(entry[language]) for language in languages}
    rest = {name: _frozen(value) for name, value in entry.items() if name not in languages}
    asked = Asked(wordings=wordings, **rest)
    if asked.view not in get_args(ViewName):
        raise ValueError(f"{asked.key}: no view is called {asked.view!r}")
    if not asked.backbones or not (asked.text or asked.task):
        raise ValueError(f"{asked.key}: backbones and a text, or a task of the evidence, are needed")
    return asked


def _wording(table: Mapping[str, Any]) -> Wording:
    lines = {name: _lines(table.get(name, [])) for name in ("answer", "each")}
    unknown = table.keys() - {"question", *lines}
    if unknown:
        raise TypeError(f"{table['question']}: {', '.join(sorted(unknown))} means nothing here")
    return Wording(table["question"], **lines)


def _lines(entries: Sequence[str | Mapping[str, str]]) -> tuple[Line, ...]:
    tables = ({"text": entry} if isinstance(entry, str) else entry for entry in entries)
    return tuple(
        Line(table.get("case", ""), {value: text for value, text in table.items() if value != "case"})
        for table in tables
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
