"""The questions of assets/questions.toml, put to models or to results, and the answers as escaped HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlencode

from markupsafe import Markup, escape

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.evidence import Evidence
from components.exhibits.exhibit import strong_html
from components.exhibits.head import WORDED
from components.exhibits.measures import CaseFacts, Put, is_stored, measured, together
from components.exhibits.panels import Answered
from components.exhibits.question import ELSE, ByCase, QuestionCard
from components.exhibits.view import render, visible
from components.results import Table, of
from components.texts import Texts, load_texts
from components.types import BackboneSpec


@dataclass(frozen=True, eq=False)
class CardAnswer:
    """An answer: the HTML of its ``card`` and of its ``banner``, and what it was ``measured`` on.

    ``view`` is the part of the page that shows the same. Only a card has who was refused: it says why.
    """

    card: str
    banner: str = ""
    view: str = ""
    measured: Answered | Evidence | None = None


@dataclass(frozen=True, eq=False)
class CardAnswers:
    """The answers to ``questions`` in the language of ``say`` or, if they are not translated, in English."""

    analyst: Analyst
    results: Table
    questions: tuple[QuestionCard, ...]
    say: Texts

    @property
    def texts(self) -> Texts:
        """The language that the answers are in."""
        tag = self.say.language.tag
        return self.say if all(tag in question.question for question in self.questions) else load_texts()

    @property
    def available(self) -> tuple[QuestionCard, ...]:
        """The questions that can be answered: a backbone of theirs is here, or its results are."""
        listed = self.analyst.backbones()
        return tuple(question for question in self.questions if self._backbones(question, listed))

    def answer(self, key: str, text: str = "", text_pair: str = "") -> CardAnswer:
        """Measure the answer; a question that is refused is told why. KeyError if it is not available.

        ``text``, ``text_pair``: what the visitor asks about, for a question that takes it.
        """
        question = {one.key: one for one in self.available}[key]
        if question.own and text.strip():
            question = replace(question, text=text, text_pair=text_pair)
        try:
            return self._said(self.put(question))
        except PoolscopeError as error:
            tag = self.texts.language.tag
            return CardAnswer(render("refused", self.texts, tag=tag, key=question.key, why=error))

    def put(self, question: QuestionCard) -> list[Put]:
        """Put a question to each of its backbones that can be asked."""
        listed = self.analyst.backbones()
        titles = {spec.key: spec.said(self.say) for spec in listed}
        evidence = Evidence(self.results, question.task, self._backbones(question, listed), titles)
        return [Put(question, key, self.analyst, evidence, self.texts) for key in evidence.backbones]

    def _backbones(self, question: QuestionCard, listed: Sequence[BackboneSpec]) -> list[str]:
        """Those of its backbones of which all measures can be taken: they are here, and among the results."""
        here = {spec.key for spec in listed if spec.available or is_stored(question)}
        measured = set(of(self.results, "probe", task=question.task)["backbone"]) if question.task else here
        return [key for key in question.backbones if key in here & measured]

    def _said(self, puts: Sequence[Put]) -> CardAnswer:
        """The answer as a card and as a banner, which folds sentences about one backbone after the other."""
        say, tag, question = self.texts, self.texts.language.tag, puts[0].question
        each = {put.backbone: measured(put) for put in puts}
        own = {"text": question.text, "pair": question.text_pair, "panel": question.view}
        asked = {"lang": self.say.language.tag, "question": question.key}  # in the language of the page
        pair = say("questions.pair", text=question.text, text_pair=question.text_pair)
        values = {
            "tag": tag,
            "question": question,
            "each": each if question.each else {},
            "together": {**each[puts[0].backbone], **together(puts)},
            "heads": [] if is_stored(question) else [put.shown.anatomy for put in puts],
            "worded": WORDED,
            "asked": "" if is_stored(question) else visible(pair if question.text_pair else question.text),
            "page": self.say.language.tag,
            "address": urlencode(asked if question in self.questions else asked | own, errors="replace"),
            "sentences": partial(sentences, say=say),
        }
        card, banner = (render("answer", say, card=alone, **values) for alone in (True, False))
        shown = puts[0].evidence if question.view == "evidence" else puts[0].shown
        return CardAnswer(card, banner, question.view, shown)


def sentences(lines: Mapping[str, ByCase], facts: CaseFacts, say: Texts) -> Markup:
    """The sentences that hold, with every fact marked; KeyError if a fact or a case is unknown."""
    marked = {name: strong_html(escape(fact)) for name, fact in facts.items()}
    chosen = (
        line[ELSE] if line.keys() == {ELSE} else line.get(facts[name.partition("-")[0]], line.get(ELSE))
        for name, line in lines.items()  # whose case stands before a hyphen: that of knows-caution is knows
    )
    tag = say.language.tag
    return Markup(say.together(escape(text[tag]).format(**marked) for text in chosen if text))
