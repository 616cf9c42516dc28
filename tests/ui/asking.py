"""Questions put to made-up classifiers."""

import re
import string
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser

from components.results import Results
from components.texts import load_texts
from components.types import Query
from components.ui import facts, result_facts
from components.ui.question_answers import Answered, Answers
from components.ui.question_file import Asked, Line, read_questions
from tests.ui.fake import KINDS, FakeAnalyst, Kind
from tests.ui.fake_results import BACKBONES, fake_results

FILE = read_questions()

RESULTS = fake_results()

KEYS = [asked.key for asked in FILE.questions]

LANGUAGES = tuple(FILE.words)


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


def put_to(kind: Kind, asked: Asked, language: str = "en", results: Results = RESULTS) -> Answered:
    """The question, asked of one kind of classifier in the place of its backbones."""
    analyst = FakeAnalyst((kind,))
    key = kind.spec.key
    probes = tuple(replace(row, backbone=key) for row in results.probes if row.backbone == BACKBONES[0])
    own = tuple(replace(row, backbone=key) for row in results.checkpoints[:1])
    file = replace(FILE, questions=(replace(asked, backbones=(key,)),))
    results = replace(results, probes=probes, checkpoints=own)
    return Answers(analyst, results, file, load_texts(language)).answer(asked.key)


@cache
def answered(key: str) -> Answered:
    return Answers(shipped(), RESULTS, FILE, load_texts()).answer(key)


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def lines(asked: Asked, language: str) -> list[tuple[str, Line]]:
    wording = asked.wordings[language]
    return [("answer", line) for line in wording.answer] + [("each", line) for line in wording.each]


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def known(asked: Asked, part: str) -> tuple[set[str], dict[str, tuple[str, ...]]]:
    """The facts and the cases that a sentence of the question may use."""
    words = FILE.words["en"]
    if asked.view == "evidence":
        keys = [key for key in asked.backbones if key in BACKBONES]
        chosen = result_facts.selection(RESULTS, asked, keys, {}, asked.task)
        measured = result_facts.result_facts(chosen, keys[0], words)
        if part == "answer":
            measured |= result_facts.results_facts(chosen, words)
        cases = result_facts.CASES
    else:
        head = FakeAnalyst().anatomy(Query("first", "a text"))
        measured = facts.head_facts(head, words, head if asked.against else None)
        if part == "answer":
            measured |= facts.heads_facts([head])
        cases = facts.CASES
    return set(measured.facts), {name: cases[name] for name in measured.cases}


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
