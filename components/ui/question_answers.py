"""Asked -> Answered: who is asked, what they say, and the sentences for it, as escaped HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.labels import visible
from components.results import Results
from components.types import Anatomy, Query
from components.ui.facts import Measured, head_facts, heads_facts
from components.ui.question_file import Asked, Line, QuestionFile, Words
from components.ui.result_facts import Selection, result_facts, results_facts, selection

BREAK = "\u200b"  # a place where a line may break, of no width
LONG = re.compile(r"[\w.]{20,}")  # a name that may be wider than a phone
INSIDE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._])(?=\w)")  # before a capital, after a dot

Heads = Sequence[tuple[Anatomy, Anatomy | None]]  # each with the one to compare with


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer. ``cards`` and ``banners`` are HTML by language.

    ``view`` is where it can be seen, or "" where there is no answer: "tokens" and "head" show ``anatomy``,
    "evidence" shows ``task`` for ``backbones``.
    """

    cards: Mapping[str, str]
    banners: Mapping[str, str]
    view: str = ""
    anatomy: Anatomy | None = None
    task: str = ""
    backbones: tuple[str, ...] = ()

    @property
    def query(self) -> Query | None:
        """What the page is to ask, or None where it shows the evidence."""
        return self.anatomy.analysis.query if self.anatomy else None


@dataclass(frozen=True, eq=False)
class Answers:
    """Puts the questions of ``file`` to ``analyst``, and those about the evidence to ``results``."""

    analyst: Analyst
    results: Results
    file: QuestionFile

    @property
    def here(self) -> tuple[Asked, ...]:
        """The questions that can be answered: a backbone of theirs is here, or its results are."""
        return tuple(asked for asked in self.file.questions if self._backbones(asked))

    def answer(self, key: str) -> Answered:
        """Measure the answer; what cannot be answered as asked is said in its place. KeyError if unknown."""
        asked = {one.key: one for one in self.here}[key]
        try:
            return self._evidence(asked) if asked.view == "evidence" else self._heads(asked)
        except PoolscopeError as error:
            cards = {name: _mistake(error, words, name) for name, words in self.file.words.items()}
            return Answered(cards, dict.fromkeys(cards, ""))

    def _backbones(self, asked: Asked) -> tuple[str, ...]:
        """The question's backbones that can be asked, in its order."""
        if asked.view == "evidence":
            return self._selection(asked).backbones
        available = {spec.key for spec in self.analyst.backbones() if spec.available}
        return tuple(key for key in asked.backbones if key in available)

    def _heads(self, asked: Asked) -> Answered:
        ask = self.analyst.anatomy
        heads = [
            (ask(asked.query(key)), ask(asked.query(key, asked.against)) if asked.against else None)
            for key in self._backbones(asked)
        ]
        told = {name: _of_heads(heads, words) for name, words in self.file.words.items()}
        anatomy = heads[0][0]
        return Answered(self._cards(asked, told), self._banners(asked, told), asked.view, anatomy)

    def _evidence(self, asked: Asked) -> Answered:
        chosen = self._selection(asked)
        told = {name: _of_results(chosen, words) for name, words in self.file.words.items()}
        cards, banners = self._cards(asked, told), self._banners(asked, told)
        return Answered(cards, banners, asked.view, None, asked.task, chosen.backbones)

    def _selection(self, asked: Asked) -> Selection:
        titles = {spec.key: spec.title for spec in self.analyst.backbones()}
        tasks = {task.key: task.title for task in self.analyst.tasks()}
        keys = [key for key in asked.backbones if key in titles]
        return selection(self.results, asked, keys, titles, tasks.get(asked.task, asked.task))

    def _cards(self, asked: Asked, told: Mapping[str, _Told]) -> dict[str, str]:
        return {name: _card(asked, name, one, self.file.words[name]) for name, one in told.items()}

    def _banners(self, asked: Asked, told: Mapping[str, _Told]) -> dict[str, str]:
        return {name: _banner(asked, name, one, self.file.words[name]) for name, one in told.items()}


@dataclass(frozen=True)
class _Told:
    """What was measured, in the words of one language: of all together, and of each backbone."""

    together: Measured
    each: tuple[Measured, ...]


def _of_heads(heads: Heads, words: Words) -> _Told:
    each = tuple(head_facts(anatomy, words, against) for anatomy, against in heads)
    return _Told(each[0] | heads_facts([anatomy for anatomy, _ in heads]), each)


def _of_results(chosen: Selection, words: Words) -> _Told:
    each = tuple(result_facts(chosen, key, words) for key in chosen.backbones)
    return _Told(each[0] | results_facts(chosen, words), each)


def _card(asked: Asked, language: str, told: _Told, words: Words) -> str:
    wording = asked.wordings[language]
    said = f'<p class="said">{sentences(wording.answer, told.together, words)}</p>'
    parts = f"{said}{_each(asked, language, told, words)}{_source(asked, words)}"
    return f'<div class="answer" role="status" lang="{language}">{parts}</div>'


def _banner(asked: Asked, language: str, told: _Told, words: Words) -> str:
    """The question above its answer, which folds away; the lines for each backbone are folded at first."""
    wording = asked.wordings[language]
    said = f'<p class="said">{sentences(wording.answer, told.together, words)}</p>'
    each = _each(asked, language, told, words)
    if each:
        each = f"<details><summary>{escape(words['one_by_one'])}</summary>{each}</details>"
    return (
        f'<details class="banner" lang="{language}" open><summary>{_html(wording.question)}</summary>'
        f"{said}{each}{_source(asked, words)}</details>"
    )


def sentences(lines: Sequence[Line], measured: Measured, words: Words) -> str:
    """The sentences that hold, with every fact marked; KeyError if one or a case is unknown."""
    facts = {name: f"<strong>{_html(fact)}</strong>" for name, fact in measured.facts.items()}
    templates = (line.template(measured.cases) for line in lines)
    return words["space"].join(
        escape(template, quote=False).format(**facts) for template in templates if template
    )


def breakable(text: str) -> str:
    """``text`` with places in its long names where a line may break."""
    return LONG.sub(lambda name: INSIDE.sub(BREAK, name.group()), text)


def _html(text: str) -> str:
    return escape(breakable(text)).replace(BREAK, "<wbr>")


def _each(asked: Asked, language: str, told: _Told, words: Words) -> str:
    """A line for each backbone, or "" where the question has none."""
    lines = asked.wordings[language].each
    if not lines:
        return ""
    items = (f"<li>{sentences(lines, one, words)}</li>" for one in told.each)
    return f'<ul class="each">{"".join(items)}</ul>'


def _source(asked: Asked, words: Words) -> str:
    """Where the numbers come from."""
    text = asked.text
    if asked.text_pair:
        text = words["pair"].format(text=text, text_pair=asked.text_pair)
    where = words["results"] if asked.view == "evidence" else words["now"].format(text=visible(text))
    return f'<p class="source">{escape(where)}</p>'


def _mistake(error: PoolscopeError, words: Words, language: str) -> str:
    heading, message = escape(words["mistake"]), escape(visible(str(error)))
    parts = f'<p class="said">{heading}</p><p>{message}</p>'
    return f'<div class="answer" role="alert" lang="{language}">{parts}</div>'
