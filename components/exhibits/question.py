"""The form of assets/questions.toml: questions that people asked, and the sentences of their answers."""

from collections.abc import Mapping
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from components.exhibits.facts import cases
from components.texts import ASSETS, ENGLISH, read_toml
from components.types import Query

ELSE = "else"  # all values of a case that have no text of their own


def _by_value(line: Any) -> Any:
    """A sentence that depends on no case is one for all values; a text that is "" says nothing."""
    if not isinstance(line, Mapping):
        return line
    texts = {ELSE: line} if ENGLISH in line else line
    return {value: text or {} for value, text in texts.items()}


Text = Mapping[str, str]  # language -> text; empty: says nothing
Line = Annotated[Mapping[str, Text], BeforeValidator(_by_value)]  # value of the case -> text


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Question:
    """A question; the head of assets/questions.toml says what each field means."""

    view: Literal["tokens", "head", "importance", "padding", "evidence"]
    backbones: tuple[str, ...]
    question: Text
    answer: Mapping[str, Line]
    each: Mapping[str, Line] = field(default_factory=dict)
    key: str = ""
    text: str = ""
    text_pair: str = ""
    texts: tuple[str, ...] = ()
    own: bool = False
    pooling: str = "native"
    against: str = ""
    task: str = ""
    poolings: tuple[str, ...] = ()
    measures: tuple[str, ...] = ("head",)
    shows: Literal["", "flows", "module"] = ""
    link: str = ""
    papers: Mapping[str, Text] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """ValueError says what does not fit together."""
        if not self.backbones or not (self.task if self.view == "evidence" else self.text):
            raise ValueError("backbones and a text are needed, or, for the evidence, backbones and a task")
        if self.view == "evidence" and self.shows:
            raise ValueError(f"shows: the evidence has no {self.shows}")
        if strangers := self.papers.keys() - set(self.backbones):
            raise ValueError(f"papers: {sorted(strangers)} are not among the backbones")
        if any(text.keys() != self.question.keys() for text in self.papers.values()):
            raise ValueError(f"papers: every text is needed in {sorted(self.question)}")
        known = cases(self.measures)
        for name, line in chain(self.answer.items(), self.each.items()):
            values = {*known.get(case_of(name), ())}
            if unknown := line.keys() - values - {ELSE}:
                raise ValueError(f"{name}: there is no case with the values {sorted(unknown)}")
            if ELSE not in line and (missing := values - line.keys()):
                raise ValueError(f"{name}: the values {sorted(missing)} have no text")
            if any(text and text.keys() != self.question.keys() for text in line.values()):
                raise ValueError(f"{name}: every text is needed in {sorted(self.question)}")

    def query(self, backbone: str) -> Query:
        """Say what is asked of one backbone."""
        return Query(backbone, self.text, self.text_pair, self.pooling)


def read_questions(path: Path = ASSETS / "questions.toml") -> tuple[Question, ...]:
    """The questions of a file in their order; ValueError says what is wrong with which of them."""
    tables = read_toml(path)
    named = {key: {"key": key, **table} for key, table in tables.items()}
    return tuple(TypeAdapter(dict[str, Question]).validate_python(named).values())


def case_of(name: str) -> str:
    """The case that a sentence of this name depends on, if on any: "knows" of "knows-caution"."""
    return name.partition("-")[0]
