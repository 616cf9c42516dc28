"""The form of assets/questions.toml: questions that people asked, and the sentences of their answers."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from components.texts import ASSETS, ENGLISH, read_toml
from components.types import Query

ELSE = "else"  # all values of a case that have no text of their own


def _by_value(line: Any) -> Any:
    """A sentence that depends on no case is one for all values; a text that is "" says nothing."""
    if not isinstance(line, Mapping):
        return line
    texts = {ELSE: line} if ENGLISH in line else line
    return {value: text or {} for value, text in texts.items()}


ByLanguage = Mapping[str, str]  # language -> text; empty: says nothing
ByCase = Annotated[Mapping[str, ByLanguage], BeforeValidator(_by_value)]  # value of the case -> text


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class QuestionCard:
    """A question; the head of assets/questions.toml says what each field means."""

    view: Literal["tokens", "head", "importance", "padding", "evidence"]
    backbones: tuple[str, ...]
    question: ByLanguage
    answer: Mapping[str, ByCase]
    each: Mapping[str, ByCase] = field(default_factory=dict)
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
    papers: Mapping[str, ByLanguage] = field(default_factory=dict)

    def query(self, backbone: str) -> Query:
        """Say what is asked of one backbone."""
        return Query(backbone, self.text, self.text_pair, self.pooling)


def read_questions(path: Path = ASSETS / "questions.toml") -> tuple[QuestionCard, ...]:
    """The questions of a file in their order; ValueError says what is wrong with which of them."""
    named = {key: {"key": key, **table} for key, table in read_toml(path).items()}
    return tuple(TypeAdapter(dict[str, QuestionCard]).validate_python(named).values())
