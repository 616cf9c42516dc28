"""The questions of assets/questions.toml, put to models or to results, and the answers as escaped HTML."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from markupsafe import Markup, escape
from pydantic import BeforeValidator, ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from components.analyses.anatomy import Anatomy
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits import facts
from components.exhibits.evidence import BASE, Evidence, select
from components.exhibits.exhibit import strong_html
from components.exhibits.head import sizes, step_name
from components.exhibits.panels import Answered
from components.exhibits.view import indices, listed, shorten, visible
from components.markup import render
from components.results import Table, of
from components.texts import ASSETS, ENGLISH, Texts, load_texts
from components.types import BackboneSpec, Query, Reference

ELSE = "else"  # all values of a case that have no text of their own
LENGTH = 24  # characters of a token

Facts = Mapping[str, str]  # facts and cases, by name


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
    own: bool = False
    pooling: str = "native"
    reference: Reference = "cls"
    against: str = ""
    task: str = ""
    poolings: tuple[str, ...] = ()
    shows: Literal["", "flows", "module"] = ""
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
        for name, line in chain(self.answer.items(), self.each.items()):
            values = {*facts.cases(self.view).get(case_of(name), ())}
            if unknown := line.keys() - values - {ELSE}:
                raise ValueError(f"{name}: there is no case with the values {sorted(unknown)}")
            if ELSE not in line and (missing := values - line.keys()):
                raise ValueError(f"{name}: the values {sorted(missing)} have no text")
            if any(text and text.keys() != self.question.keys() for text in line.values()):
                raise ValueError(f"{name}: every text is needed in {sorted(self.question)}")

    def query(self, backbone: str, pooling: str) -> Query:
        """Say what is asked of one backbone under one pooling."""
        return Query(backbone, self.text, self.text_pair, pooling, reference=self.reference)


def read_questions(path: Path = ASSETS / "questions.toml") -> tuple[Question, ...]:
    """The questions of a file in their order; ValueError says what is wrong with which of them."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    named = {key: {"key": key, **table} for key, table in tables.items()}
    return tuple(TypeAdapter(dict[str, Question]).validate_python(named).values())


def flow_html(anatomy: Anatomy, say: Texts) -> Markup:
    """A head from the top down: its T tokens, of which those are marked that are read, and its steps."""
    tokens, read = anatomy.analysis.tokens, anatomy.analysis.reads.positions
    texts = [shorten(visible(tokens.text[index]), LENGTH) for index in indices(read)]
    names = listed(texts, facts.NAMED, say)
    taken = say("questions.tokens", read=names, count=int(read.sum()), total=len(read))
    steps = [(step, step_name(anatomy, step, say), sizes(step, say)) for step in anatomy.steps]
    return render("flow", say, read=read.tolist(), taken=taken, steps=steps)


def module_html(anatomy: Anatomy, say: Texts) -> Markup:
    """The head as PyTorch code to train, and the program that runs the whole model, which is folded."""
    codes = (("takehome.module", anatomy.module, True), ("takehome.program", anatomy.program, False))
    told = [(key, "\n".join(map(visible, code.splitlines())), open_) for key, code, open_ in codes]
    return render("module", say, codes=told)


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
        """Tell whether a question is asked with what the visitor asks about."""
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
            refused = Markup(
                '<div class="answer" role="alert" lang="{}" data-question="{}">'
                '<p class="said">{}</p><p>{}</p></div>'
            )
            why = visible(error.said(self.texts))
            tag, heading = self.texts.language.tag, self.texts("questions.mistake")
            return Answer(refused.format(tag, question.key, heading, why))

    def _backbones(self, question: Question, specs: Sequence[BackboneSpec]) -> list[str]:
        here = {spec.key for spec in specs if spec.available}
        if question.view == "evidence":
            measured = set(of(self.results, "probe", task=question.task)["backbone"])
            here = measured & {spec.key for spec in specs}
        return [key for key in question.backbones if key in here]

    def _from_heads(self, question: Question) -> Answer:
        heads, each = [], {}
        for key in self._backbones(question, self.analyst.backbones()):
            head = self.analyst.ask("anatomy", question.query(key, question.pooling))
            each[key] = facts.head_facts(head, self.texts)
            shown = Answered(self.analyst, head.analysis, {}, head)
            if question.view == "importance":
                each[key] |= facts.importance_facts(shown.importance, self.texts)
            if question.view == "padding":
                each[key] |= facts.padding_facts(shown.padding, self.texts)
            if question.against:
                other = self.analyst.ask("anatomy", question.query(key, question.against))
                each[key] |= facts.against_facts(head, other, self.texts)
            heads.append(shown)
        together = facts.heads_facts([one.anatomy for one in heads], self.texts)
        return self._said(question, each, together, heads[0], [one.anatomy for one in heads])

    def _from_results(self, question: Question) -> Answer:
        specs = self.analyst.backbones()
        titles = {spec.key: spec.said(self.say) for spec in specs}
        tasks = {task.key: task.said(self.say) for task in self.analyst.tasks()}
        evidence = select(self.results, question.task, self._backbones(question, specs), titles)
        task = {"task": visible(tasks.get(question.task, question.task))}  # the title of the task
        named, keys = question.poolings, evidence.backbones
        each = {key: facts.result_facts(evidence, key, named, self.texts) | task for key in keys}
        together = facts.results_facts(evidence, (*named, BASE)[0], self.texts)
        return self._said(question, each, together, evidence)

    def _said(
        self,
        question: Question,
        each: Mapping[str, Facts],
        together: Facts,
        measured: Answered | Evidence,
        heads: Sequence[Anatomy] = (),
    ) -> Answer:
        """The answer as a card and as a banner, which folds sentences about one backbone after the other."""
        say, tag = self.texts, self.texts.language.tag
        own = {"text": question.text, "pair": question.text_pair, "panel": question.view}
        asked = {"lang": self.say.language.tag, "question": question.key}  # in the language of the page
        pair = say("questions.pair", text=question.text, text_pair=question.text_pair)
        values = {
            "tag": tag,
            "question": question,
            "each": each if question.each else {},
            "together": {**next(iter(each.values())), **together},
            "pictures": [flow_html(head, say) for head in heads] if question.shows == "flows" else [],
            "code": module_html(heads[0], say) if question.shows == "module" else "",
            "asked": visible(pair if question.text_pair else question.text),
            "address": urlencode(asked if question in self.questions else asked | own, errors="replace"),
            "sentences": partial(sentences, say=say),
        }
        card, banner = (render("answer", say, card=alone, **values) for alone in (True, False))
        return Answer(card, banner, question.view, measured)


def sentences(lines: Mapping[str, Line], facts: Facts, say: Texts) -> Markup:
    """The sentences that hold, with every fact marked; KeyError if a fact or a case is unknown."""
    marked = {name: strong_html(escape(fact)) for name, fact in facts.items()}
    chosen = (
        line[ELSE] if line.keys() == {ELSE} else line.get(facts[case_of(name)], line.get(ELSE))
        for name, line in lines.items()
    )
    tag = say.language.tag
    return Markup(say.together(escape(text[tag]).format(**marked) for text in chosen if text))


def case_of(name: str) -> str:
    """The case that a sentence of this name depends on, if on any: "knows" of "knows-caution"."""
    return name.partition("-")[0]
