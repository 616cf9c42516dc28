"""Puts questions to models, or to the results of the evidence, and says the answers as escaped HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import urlencode

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.answered import Answered
from components.exhibits.draw.labels import visible
from components.exhibits.evidence.evidence import BASE, Evidence, select
from components.exhibits.questions.head_facts import against_facts, head_facts, heads_facts
from components.exhibits.questions.importance_facts import importance_facts
from components.exhibits.questions.padding_facts import padding_facts
from components.exhibits.questions.pictures import flow_html, module_html
from components.exhibits.questions.question import ELSE, Line, Question
from components.exhibits.questions.result_facts import result_facts, results_facts
from components.results import Table, of
from components.texts import Texts, load_texts
from components.types import BackboneSpec

Facts = Mapping[str, str]  # facts and cases, by name

BREAK = "\u200b"  # a place where a line may break, of no width
LONG = re.compile(r"[\w.]{20,}")  # a name that may be wider than a phone
INSIDE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._])(?=\w)")  # before a capital, after a dot


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer: the HTML of its ``card`` and of its ``banner``, and what it was ``measured`` on.

    ``view`` is the part of the page that shows the same. Only a card has who was refused: it says why.
    """

    card: str
    banner: str = ""
    view: str = ""
    measured: Answered | Evidence | None = None


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to ``questions`` in the language of ``say`` or, if they are not translated, in English."""

    analyst: Analyst
    results: Table
    questions: tuple[Question, ...]
    say: Texts

    @property
    def texts(self) -> Texts:
        """The language that the answers are in."""
        tag = self.say.language.tag
        return self.say if all(tag in question.question for question in self.questions) else load_texts()

    @property
    def available(self) -> tuple[Question, ...]:
        """The questions that can be answered: a backbone of theirs is here, or its results are."""
        specs = self.analyst.backbones()
        return tuple(question for question in self.questions if self._backbones(question, specs))

    def takes_texts(self, key: str) -> bool:
        """Whether a question is asked with what the visitor asks about."""
        return any(question.own for question in self.questions if question.key == key)

    def answer(self, key: str, text: str = "", text_pair: str = "") -> Answer:
        """Measure the answer; a question that is refused is told why. KeyError if it is not available.

        ``text``, ``text_pair``: what the visitor asks about, for a question that takes it.
        """
        question = {one.key: one for one in self.available}[key]
        if question.own and text.strip():
            question = replace(question, text=text, text_pair=text_pair)
        try:
            return self._from_results(question) if question.view == "evidence" else self._from_heads(question)
        except PoolscopeError as error:
            heading = escape(self.texts("questions.mistake"))
            said = f'<p class="said">{heading}</p><p>{escape(visible(error.said(self.texts)))}</p>'
            tag, key = self.texts.language.tag, escape(question.key)
            return Answer(f'<div class="answer" role="alert" lang="{tag}" data-question="{key}">{said}</div>')

    def _backbones(self, question: Question, specs: Sequence[BackboneSpec]) -> list[str]:
        """The question's backbones that can be asked, or that were measured, in its order, of ``specs``."""
        here = {spec.key for spec in specs if spec.available}
        if question.view == "evidence":
            measured = set(of(self.results, "probe", task=question.task)["backbone"])
            here = measured & {spec.key for spec in specs}
        return [key for key in question.backbones if key in here]

    def _from_heads(self, question: Question) -> Answer:
        heads, each, pictures = [], [], []
        backbones = self._backbones(question, self.analyst.backbones())
        for key in backbones:
            head = self.analyst.ask("anatomy", question.query(key, question.pooling))
            facts = head_facts(head, self.texts)
            shown = Answered.apart(self.analyst, head, {})
            if question.view == "importance":
                facts |= importance_facts(shown.importance, self.texts)
            if question.view == "padding":
                facts |= padding_facts(shown.padding, self.texts)
            if question.against:
                other = self.analyst.ask("anatomy", question.query(key, question.against))
                facts |= against_facts(head, other, self.texts)
            heads.append(shown)
            each.append(facts)
            pictures.append(flow_html(head, self.texts) if question.shows == "flows" else "")
        together = each[0] | heads_facts([one.anatomy for one in heads], self.texts)
        lines = self._lines(question, backbones, each, pictures)
        code = module_html(heads[0].anatomy, self.texts) if question.shows == "module" else ""
        return self._said(question, together, lines, code, heads[0])

    def _from_results(self, question: Question) -> Answer:
        specs = self.analyst.backbones()
        titles = {spec.key: spec.said(self.say) for spec in specs}
        tasks = {task.key: task.said(self.say) for task in self.analyst.tasks()}
        evidence = select(self.results, question.task, self._backbones(question, specs), titles)
        each = [result_facts(evidence, key, question.poolings, self.texts) for key in evidence.backbones]
        task = {"task": visible(tasks.get(question.task, question.task))}  # the title of the task
        together = each[0] | results_facts(evidence, (*question.poolings, BASE)[0], self.texts)
        lines = self._lines(question, evidence.backbones, [one | task for one in each], [""] * len(each))
        return self._said(question, together | task, lines, "", evidence)

    def _lines(
        self, question: Question, backbones: Sequence[str], each: Sequence[Facts], pictures: Sequence[str]
    ) -> str:
        """A line for each backbone: its picture, if it has one, what is measured, what papers say."""
        say, items = self.texts, []
        for key, facts, picture in zip(backbones, each, pictures, strict=True):
            drawn = f'<p class="name">{_html(facts["backbone"])}</p>{picture}' if picture else ""
            paper = question.papers.get(key)
            cited = f'<p class="paper">{_html(paper[say.language.tag])}</p>' if paper else ""
            items.append(f"<li>{drawn}{sentences(question.each, facts, say)}{cited}</li>")
        style = "each flows" if question.shows == "flows" else "each"
        return f'<ul class="{style}">{"".join(items)}</ul>' if question.each else ""

    def _said(
        self, question: Question, together: Facts, lines: str, code: str, measured: Answered | Evidence
    ) -> Answer:
        say, tag, key = self.texts, self.texts.language.tag, escape(question.key)
        said = f'<p class="said">{sentences(question.answer, together, say)}</p>'
        seen = lines  # what is drawn is seen at once; sentences about one backbone after the other are folded
        if lines and question.shows != "flows":
            seen = f"<details><summary>{escape(say('questions.one_by_one'))}</summary>{lines}</details>"
        source = f'<p class="source">{escape(_source(question, say))} · {self._link(question)}</p>'
        return Answer(
            f'<div class="answer" role="status" lang="{tag}" data-question="{key}">'
            f"{said}{lines}{code}{source}</div>",
            f'<details class="banner" lang="{tag}" data-question="{key}" open>'
            f"<summary>{_html(question.question[tag])}</summary>{said}{seen}{code}{source}</details>",
            question.view,
            measured,
        )

    def _link(self, question: Question) -> str:
        """A link to this answer, in the language of the page."""
        own = {"text": question.text, "pair": question.text_pair, "panel": question.view}
        more = {} if question in self.questions else own
        address = urlencode(
            {"lang": self.say.language.tag, "question": question.key, **more}, errors="replace"
        )
        return f'<a href="?{escape(address)}">{escape(self.texts("questions.link"))}</a>'


def sentences(lines: Mapping[str, Line], facts: Facts, say: Texts) -> str:
    """The sentences that hold, with every fact marked; KeyError if a fact or a case is unknown."""
    marked = {name: f"<strong>{_html(fact)}</strong>" for name, fact in facts.items()}
    chosen = (
        line[ELSE] if line.keys() == {ELSE} else line.get(facts[name], line.get(ELSE))
        for name, line in lines.items()
    )
    tag = say.language.tag
    return say.together(escape(text[tag], quote=False).format(**marked) for text in chosen if text)


def breakable(text: str) -> str:
    """``text`` with places in its long names where a line may break."""
    return LONG.sub(lambda name: INSIDE.sub(BREAK, name.group()), text)


def _html(text: str) -> str:
    return escape(breakable(text)).replace(BREAK, "<wbr>")


def _source(question: Question, say: Texts) -> str:
    """Where the numbers come from."""
    if question.view == "evidence":
        return say("questions.results")
    if not question.text_pair:
        return say("questions.now", text=visible(question.text))
    pair = say("questions.pair", text=question.text, text_pair=question.text_pair)
    return say("questions.now", text=visible(pair))
