"""Asked -> Answered: who is asked, what they say, and the sentences for it, as escaped HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.labels import visible
from components.figures.view import Say
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
    """An answer. ``card`` and ``banner`` are HTML.

    ``view`` is where it can be seen, or "" where there is no answer: "tokens" and "head" show ``anatomy``,
    "evidence" shows ``task`` for ``backbones``.
    """

    card: str
    banner: str = ""
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
    """Puts the questions of ``file`` to ``analyst``, and those about the evidence to ``results``.

    Everything is said in the language of ``say`` or, where the file does not speak that, in its first one.
    """

    analyst: Analyst
    results: Results
    file: QuestionFile
    say: Say

    @property
    def language(self) -> str:
        """The tag of the language."""
        tag = self.say.language.tag
        return tag if tag in self.file.words else next(iter(self.file.words))

    @property
    def words(self) -> Words:
        """The words of the language."""
        return self.file.words[self.language]

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
            return Answered(self._mistake(error))

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
        card, banner = self._said(asked, _of_heads(heads, self.words))
        return Answered(card, banner, asked.view, heads[0][0])

    def _evidence(self, asked: Asked) -> Answered:
        chosen = self._selection(asked)
        card, banner = self._said(asked, _of_results(chosen, self.words))
        return Answered(card, banner, asked.view, None, asked.task, chosen.backbones)

    def _selection(self, asked: Asked) -> Selection:
        titles = {spec.key: spec.title for spec in self.analyst.backbones()}
        tasks = {task.key: task.title for task in self.analyst.tasks()}
        keys = [key for key in asked.backbones if key in titles]
        return selection(self.results, asked, keys, titles, tasks.get(asked.task, asked.task))

    def _said(self, asked: Asked, told: _Told) -> tuple[str, str]:
        """What the card says, and what the banner does."""
        language, words = self.language, self.words
        return _card(asked, language, told, words), _banner(asked, language, told, words)

    def _mistake(self, error: PoolscopeError) -> str:
        heading, message = escape(self.words["mistake"]), escape(visible(error.said(self.say)))
        parts = f'<p class="said">{heading}</p><p>{message}</p>'
        return f'<div class="answer" role="alert" lang="{self.language}">{parts}</div>'


@dataclass(frozen=True)
class _Told:
    """What was measured, in words: of all together, and of each backbone."""

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
