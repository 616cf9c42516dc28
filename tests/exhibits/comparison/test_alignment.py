"""Every bundled tokenizer on hostile texts: every character and every token belongs to exactly one word."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from transformers import AutoTokenizer

from components.analyses.compare import Cell, Compared
from components.exhibits.comparison import Comparison
from components.exhibits.view import CENTRINGS
from components.exhibits.words import Alignment, Tokenized, align, mean
from components.model.encoding import encode
from components.types import Analysis, BackboneSpec, Centring, Query, Reads
from tests.plain import SPECS
from tests.ui.fake import FakeAnalyst

FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
LIMIT, LAYERS = 128, 4
HOSTILE = {
    "plain": "The plot is thin, but the actors are a delight.",
    "composed": "Ein Café, naïve façade — Ångström ﬁne ①½…",
    "decomposed": "Ein Cafe\u0301, nai\u0308ve fac\u0327ade — A\u030angstro\u0308m",
    "mark first": "\u0301start and \u0301 alone",
    "emoji": "👩‍👩‍👧 😀👍🏽 🏳️‍🌈x 🇩🇪🇫🇷 1️⃣",
    "Chinese": "你好,世界！hello世界 こんにちは ภาษาไทย",
    "Arabic": "مرحبا بالعالم, שלום",
    "Hindi": "नमस्ते दुनिया",
    "address": "see https://example.org/a/b?x=1&y=%20#top or mail me@ex.com",
    "repeated": "not not not, not good not",
    "spaces": "   leading,  double  and trailing   ",
    "other spaces": "a\u00a0b\u3000c\td\r\n e\u2028f",
    "punctuation": "!!! ... (?) --- «»",
    "one": ".",
    "contracted": "don't I'd we’ve rock'n'roll o'clock",
    "invisible": "zero\u200bwidth\u200d\ufeff \u202eback\u2069 nul\x00",
    "very long": "Donaudampfschifffahrtsgesellschaft" * 20,
    "cut off": "a very, very slow film " * 60,
    "special": "[CLS] the <s>film [SEP]</s> <|endoftext|>is",
    "broken": "\ufffd\ufffd a\ufffdb",
}  # fmt: skip


@cache
def tokenizer(family: str) -> Any:
    return AutoTokenizer.from_pretrained(SPECS[f"{family}-sentiment"].location)


def analysis(family: str, text: str, text_pair: str = "") -> Analysis:
    """Made-up similarities of what the tokenizer really makes of the texts."""
    tokens = encode(tokenizer(family), LIMIT, text, text_pair).tokens
    total = len(tokens.text)
    tokens = replace(tokens, cls=tokens.cls if tokens.cls >= 0 else total - 1)
    similarity = np.random.default_rng(total).uniform(-1, 1, (LAYERS + 1, total)).astype(np.float32)
    reads = Reads(np.arange(total) == tokens.cls, np.zeros(total, dtype=np.float32))
    made = FakeAnalyst().ask("analyze", Query("first", "any"))
    query = Query(family, text, text_pair)
    values = {"similarity": similarity, "centred": similarity / 2, "standardised": similarity / 3}
    return replace(made, query=query, tokens=tokens, reads=reads, layer=LAYERS, **values)


def comparison(*answers: Analysis) -> Comparison:
    specs = tuple(
        BackboneSpec(one.query.backbone, one.query.backbone, "", "", "local", "") for one in answers
    )
    cells = (Compared(spec, (Cell(one.query, one),)) for spec, one in zip(specs, answers, strict=True))
    return Comparison(specs, ("native",), tuple(cells), "done")


def aligned(*answers: Analysis, depth: float = 100, centring: Centring = "plain") -> Alignment:
    found = align(comparison(*answers), depth, centring)
    assert found
    return found


def offsets(family: str, text: str, text_pair: str) -> list[tuple[int, int, int]]:
    """(text, start, end) of the tokens of the texts' own, as the tokenizers library tells."""
    (made,) = tokenizer(family)(text, text_pair or None, truncation=True, max_length=LIMIT).encodings
    own = zip(made.sequence_ids, made.offsets, made.special_tokens_mask, strict=True)
    return [(number, *span) for number, span, special in own if not special]


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_every_character_and_every_token_belongs_to_one_word(name: str, pair: bool) -> None:
    texts = (HOSTILE[name], HOSTILE["composed"] if pair else "")
    found = aligned(*(analysis(family, *texts) for family in FAMILIES))
    assert found.texts == (texts if pair else texts[:1])
    for text, spans in zip(found.texts, found.words, strict=True):
        assert "".join(text[start:end] for start, end in spans) == text
        assert all(start < end for start, end in spans)
    assert tuple(found.backbones) == FAMILIES
    for family, line in found.backbones.items():
        assert line.aligned
        assert [len(held) for held in line.words] == [len(spans) for spans in found.words]
        expected: list[list[int]] = [[0] * len(spans) for spans in found.words]
        for text, start, end in offsets(family, *texts):
            length = len(found.texts[text])
            covered = range(start, end) if start < end else [min(start, length - 1)]
            (place,) = {
                place for place, (a, b) in enumerate(found.words[text]) for one in covered if a <= one < b
            }
            expected[text][place] += 1
        assert [[len(pieces) for pieces in held] for held in line.words] == expected


@pytest.mark.parametrize("name", HOSTILE)
def test_every_token_stands_once_and_in_order(name: str) -> None:
    answers = [analysis(family, HOSTILE[name], "and a second one") for family in FAMILIES]
    for one, line in zip(answers, aligned(*answers).backbones.values(), strict=True):
        placed = [piece for part in in_order(line) for piece in part]
        assert [piece.similarity for piece in placed] == one.similarity[-1].tolist()
        assert [piece.read for piece in placed] == one.reads.positions.tolist()
        assert [place for place, piece in enumerate(placed) if piece.reference] == [one.tokens.cls]


def in_order(line: Tokenized) -> list[Any]:
    parts: list[Any] = [line.outside[0]]
    for held, outside in zip(line.words, line.outside[1:], strict=True):
        parts += [*held, outside]
    return parts


def test_a_word_is_the_mean_of_its_pieces_at_the_nearest_layer() -> None:
    one = analysis("bert", "café delightful")
    spans = one.tokens.span.tolist()
    first = [place for place, (start, end) in enumerate(spans) if 0 <= start < end <= 4]
    assert len(first) > 1
    for depth, layer in ((0, 0), (12, 0), (13, 1), (50, 2), (100, 4)):
        for centring in CENTRINGS:
            values = one.cosines(centring)
            line = aligned(one, depth=depth, centring=centring).backbones["bert"]
            assert (line.layer, line.last) == (layer, LAYERS)
            expected = sum(float(values[layer, place]) for place in first) / len(first)
            assert mean(line.words[0][0]) == pytest.approx(expected)


def test_reads_are_those_of_native_where_there_is_an_answer() -> None:
    one = analysis("bert", "good")
    under = {
        pooling: replace(one, query=replace(one.query, pooling=pooling)) for pooling in ("mean", "native")
    }
    whole = comparison(one)

    def pooling(*cells: Cell) -> str:
        found = align(replace(whole, compared=(Compared(whole.backbones[0], cells),)), 100, "plain")
        return found.backbones["bert"].pooling if found else ""

    mean_cell, native = (Cell(answer.query, answer) for answer in under.values())
    assert pooling(mean_cell, native) == "native"
    assert pooling(Cell(native.query, None, "no"), mean_cell) == "mean"
    assert pooling(Cell(native.query, None, "no")) == ""
