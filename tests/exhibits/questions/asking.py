"""Questions put to made-up classifiers."""

import string
from dataclasses import replace
from functools import cache

from components.exhibits import facts
from components.exhibits.evidence import select
from components.exhibits.questions import Answer, Answers, Question, Text, read_questions
from components.results import Table, beside
from components.texts import load_texts
from components.types import Query
from tests.exhibits.answers import made
from tests.measured import having, measured
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_anatomy import fake_padding
from tests.ui.fake_kinds import KINDS, Kind
from tests.ui.fake_results import BACKBONES, fake_results

QUESTIONS = read_questions()

RESULTS = fake_results()

KEYS = [question.key for question in QUESTIONS]

LANGUAGES = tuple(QUESTIONS[0].question)


def shipped() -> FakeAnalyst:
    """A fake with the keys of the shipped catalogue; one family in three reads its last token."""
    likes = {"pretrained": "untrained", "sentiment": "first", "paraphrase": "pair"}
    kinds = {kind.spec.key: kind for kind in KINDS}

    def kind(key: str) -> Kind:
        family, training = key.split("-")
        like = kinds["last" if family in ("xlnet", "gpt2") and training == "sentiment" else likes[training]]
        named = replace(like.spec, key=key, title=key.upper(), architecture=f"{family.title()}Classifier")
        return replace(like, spec=named)

    return FakeAnalyst(tuple(kind(key) for key in BACKBONES))


def put_to(kind: Kind, question: Question, language: str = "en", results: Table = RESULTS) -> Answer:
    """The question, asked of one kind of classifier in the place of its backbones."""
    analyst = FakeAnalyst((kind,))
    key = kind.spec.key
    probes = [beside(row, backbone=key) for row in measured(results, "probe") if row.backbone == BACKBONES[0]]
    own = [beside(row, backbone=key) for row in measured(results, "head")[:1]]
    results = having(results, probe=probes, head=own)
    papers = dict(zip((key,), question.papers.values(), strict=False))
    asked = replace(question, backbones=(key,), papers=papers)
    return Answers(analyst, results, (asked,), load_texts(language)).answer(asked.key)


@cache
def answered(key: str) -> Answer:
    return Answers(shipped(), RESULTS, QUESTIONS, load_texts()).answer(key)


def texts(question: Question) -> list[tuple[str, str, str, Text]]:
    """Every text of the answers after its part, its sentence and the value of the case that it is for."""
    return [
        (part, name, value, text)
        for part, lines in (("answer", question.answer), ("each", question.each))
        for name, line in lines.items()
        for value, text in line.items()
    ]


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def known(question: Question, part: str) -> set[str]:
    """The facts and the cases that a sentence of the question may use."""
    say = load_texts()
    if question.view == "evidence":
        keys = [key for key in question.backbones if key in BACKBONES]
        evidence = select(RESULTS, question.task, keys, {})
        found = {"task", *facts.result_facts(evidence, keys[0], question.poolings, say)}
        together = facts.results_facts(evidence, "cls", say)
    else:
        head = FakeAnalyst().ask("anatomy", Query("first", "a text"))
        found = {*facts.head_facts(head, say)}
        found |= facts.against_facts(head, head, say).keys() if question.against else set()
        if question.view == "importance":
            found |= facts.importance_facts(made(head.analysis), say).keys()
        if question.view == "padding":
            found |= facts.padding_facts(fake_padding(head.analysis), say).keys()
        together = facts.heads_facts([head], say)
    return found | together.keys() if part == "answer" else found
