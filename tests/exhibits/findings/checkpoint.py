"""Findings of padding, and of a checkpoint's passport."""

from dataclasses import replace
from typing import Any

import numpy as np

from components.analyses.padding import PaddingCase
from components.analyses.passport import Passport, Sample, Unread
from components.analyses.sees import Sees
from components.exhibits.report import passport_page
from components.exhibits.serving import PADDED
from components.texts import Named, Sentence, Texts
from components.types import Dense
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.exhibits.showing import analysis, plain
from tests.ui.fake_answers import DECLARED, fake_padding, fake_passport, made


def padded(batch: dict[str, Any], other: dict[str, Any]) -> Told:
    """Padding on the right, as in a batch, and on the left."""
    cases = (made(PaddingCase, name="batch", **batch), made(PaddingCase, name="left", **other))
    return told(PADDED, replace(fake_padding(analysis()), cases=cases))


def refused(key: str) -> Told:
    """A model that takes no batch, for the reason of this key."""
    given = fake_padding(analysis())
    return told(PADDED, replace(given, cases=given.cases[1:], alone=Sentence(f"padding.{key}", reason="why")))


def way(name: str, largest: str, cause: str = "attention") -> Values:
    return lambda say: {
        "way": say(f"padding.{name}"),
        "largest": largest,
        "cause": say(f"padding.cause_{cause}"),
    }


def passport(*reads: tuple[int, int], **more: Any) -> Told:
    """A passport whose head reads one token of each text, at this place of so many."""
    samples = tuple(Sample("x", "", tuple("abcdef"[:total]), (place,)) for place, total in reads)
    found: Passport = replace(fake_passport(analysis()), **({"samples": samples} if samples else {}), **more)

    def tell(say: Texts) -> str:
        return plain(passport_page(found, say))

    return tell


def around(*rows: tuple[int, ...]) -> Told:
    """A passport with who sees whom."""
    return passport((0, 4), sees=Sees(analysis().tokens, np.array(rows, dtype=bool), ()))


TWO = {"count": 2}
CALM, MOVED = {"largest": 1e-6}, {"largest": 0.25, "cause": "attention"}
PAD = {"largest": 0.5, "cause": "head", "reads_padding": True}
FIRST, LAST, MIXED = passport((0, 4), (0, 5)), passport((3, 4), (4, 5)), passport((0, 4), (4, 5))
SCORE = Dense("3_Dense", 8, 1, "Identity", bias=True, residual=False)
READ, LOST, HALF = Unread("Latin", "abc", ""), Unread("Greek", "αβ", "αβ"), Unread("Greek", "αβ", "α")
EVERY, UNREAD = (passport(samples=(Sample("x", "", ("a", "b"), reads),)) for reads in ((0, 1), ()))
MERGED = {"base": "org/base", "kind": "LoRA 8", "modules": "query", "head": "classifier"}
WITH_HEAD, BARE = (passport(beside=(Sentence(f"passport.adapted{end}", **MERGED),)) for end in ("", "_bare"))


def declaring(*poolings: str, **more: Any) -> Told:
    """The same where its files declare another pooling than the two that its head's vector is."""
    declared = replace(DECLARED, poolings=poolings, steps=(), **more)
    return passport((0, 4), backbone=replace(analysis().backbone, declared=declared))


FOUND = {"total": "9", "count": "2", "words": "“a” 1.50"}
SPARSE, DENSE = (
    passport(
        (0, 4), words=one, backbone=replace(analysis().backbone, declared=replace(DECLARED, kind="sparse"))
    )
    for one in (Sentence("warnings.words", **FOUND), None)
)


def undeclared(pooling: str) -> Told:
    """Files that declare none; the head's vector is the first token's."""
    return passport((0, 4), backbone=replace(analysis().backbone, declared=None), undeclared=pooling)


def words(say: Texts) -> dict[str, object]:
    return {"what": say("declared.less", first=say("declared.logit", number="7"), number="8")}


def scored(say: Texts) -> dict[str, object]:
    return {"what": say.listed(("first", say("passport.dense")))}


def scripts(say: Texts) -> dict[str, object]:
    return {"scripts": Named("Greek").said(say)}


ROWS = {
    "padding.safe": Row(padded(CALM, CALM), way("right", "1e-06"), "padding.moves"),
    "padding.moves": Row(padded(MOVED, CALM), way("right", "0.25"), padded(CALM, MOVED)),
    "padding.reads_padding": Row(padded(PAD, CALM), way("right", "0.5"), padded(MOVED, PAD)),
    "padding.alone": Row(told(PADDED, replace(fake_padding(analysis()), cases=())), {}, "padding.safe"),
    "padding.fails_padded": Row(refused("fails_padded"), {"reason": "why"}, "padding.refused"),
    "padding.fails": Row(refused("fails"), {"reason": "why"}, "padding.fails_padded"),
    "padding.refused": Row(refused("refused"), {"reason": "why"}, "padding.safe"),
    "padding.refused_config": Row(refused("refused_config"), {"reason": "why"}, "padding.refused"),
    "padding.other_safe": Row(padded(MOVED, CALM), way("left", "1e-06"), padded(MOVED, PAD)),
    "padding.other_moves": Row(padded(CALM, MOVED), way("left", "0.25"), "padding.safe"),
    "padding.other_reads_padding": Row(padded(CALM, PAD), way("left", "0.5"), padded(CALM, MOVED)),
    "passport.reads_first": Row(FIRST, TWO, MIXED),
    "passport.reads_last": Row(LAST, TWO, MIXED),
    "passport.reads_other": Row(MIXED, TWO, FIRST),
    "passport.reads_every": Row(EVERY, {"count": 1}, FIRST),
    "passport.reads_none": Row(UNREAD, {"count": 1}, EVERY),
    "passport.sees": Row(
        around((1, 0), (1, 1)), lambda say: {"total": 2, "what": say("sees.causal")}, passport(sees=None)
    ),
    "passport.token": Row(FIRST, {"token": "a"}, MIXED),
    "passport.equal": Row(
        FIRST, lambda say: {"poolings": say.listed(("cls", "first"))}, passport((0, 4), equal=())
    ),
    "passport.declares_same": Row(declaring("first"), {"what": "first"}, declaring("mean")),
    "passport.declares_other": Row(declaring("mean"), {"what": "mean"}, declaring("first")),
    "passport.declares_scores": Row(
        declaring("first", kind="scores", score=SCORE), scored, declaring("first")
    ),
    "passport.declares_none": Row(undeclared("mean"), {"pooling": "mean"}, undeclared("first")),
    "passport.draws_pooler": Row(passport(draws_pooler=True), {}, passport(draws_pooler=False)),
    "passport.declares_logits": Row(declaring(kind="logits", asked=(7, 8)), words, declaring("first")),
    "passport.words": Row(SPARSE, {"text": "x", **FOUND}, DENSE),
    "passport.says_safe": Row(passport(padding="safe"), {}, FIRST),
    "passport.says_moves": Row(FIRST, {"largest": "0.25"}, "passport.says_reads_padding"),
    "passport.says_reads_padding": Row(passport(padding="reads_padding"), {"largest": "0.25"}, FIRST),
    "passport.says_unmeasured": Row(passport(padding="unmeasured", ways=()), {}, FIRST),
    "passport.trained": Row(passport(complete=True), {}, passport(complete=False)),
    "passport.body_random": Row(passport(body_trained=False), {}, passport(body_trained=True)),
    "passport.lost": Row(passport(scripts=(READ, LOST)), scripts, "passport.lost_some"),
    "passport.lost_some": Row(passport(scripts=(READ, HALF)), scripts, "passport.lost"),
    "passport.adapted": Row(WITH_HEAD, MERGED, BARE),
    "passport.adapted_bare": Row(BARE, MERGED, WITH_HEAD),
    "passport.head_random": Row(
        passport(head_trained=False), {"drawn": "16", "total": "18"}, passport(head_trained=True)
    ),
    "passport.lost_none": Row(passport(scripts=(READ,)), {}, "passport.lost"),
}
