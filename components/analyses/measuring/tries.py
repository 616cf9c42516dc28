"""A text as servers may encode it: with and without special tokens, whole, and cut at either end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from transformers import PreTrainedTokenizerBase

from components.analyses.ways import Kept, cut_said
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.encoding import Encoded, encode
from components.texts import Sentence
from components.types import Query

SIDES: tuple[tuple[Kept, Literal["right", "left"]], ...] = (("start", "right"), ("end", "left"))


@dataclass(frozen=True)
class Try:
    """A text as a server may encode it; see `Way`."""

    special_tokens: bool | None
    truncated: int | None
    kept: Kept
    prefix: str
    encoded: Encoded

    @property
    def said(self) -> Sentence:
        """What is tried, in words."""
        special = "detect.special" if self.special_tokens is not False else "detect.no_special"
        parts: list[object] = [Sentence(special)]
        if self.truncated is not None:
            parts.append(cut_said(self.truncated, self.kept))
        return Sentence("detect.way", parts=tuple(parts))


def every_try(backbone: Backbone, query: Query, prefix: str, lengths: Iterable[int]) -> Iterator[Try]:
    """The text behind ``prefix`` with and without special tokens, whole and cut to each of ``lengths``."""
    with_them = _encode(backbone, query, prefix, backbone.limit, True)
    try:
        without = _encode(backbone, query, prefix, backbone.limit, False)
    except PoolscopeError:  # then there are no others
        without = None
    adds = without is None or _ids(without) != _ids(with_them)
    for special, whole in ((True, with_them), (False, without if adds else None)):
        if whole is None:
            continue
        longer = any(one.key == "warnings.long" for one in whole.warnings)
        own: Kept = "end" if longer and backbone.tokenizer.truncation_side == "left" else "start"
        first = Try(special if adds else None, backbone.limit if longer else None, own, prefix, whole)
        yield first
        shorter = (length for length in lengths if length < len(_ids(whole)))
        for length in (*shorter, *([backbone.limit] if longer else [])):
            for kept in _ends(bool(special and adds), bool(query.text_pair)):
                if (length, kept) != (first.truncated, own):
                    encoded = cut_text(backbone, query, prefix, length, special, kept)
                    yield replace(first, truncated=length, kept=kept, encoded=encoded)


def _ends(special: bool, pair: bool) -> tuple[Kept, ...]:
    """What may be left of a text: the last of all tokens are the end of one text without special tokens."""
    return ("start", "end", "last") if special or pair else ("start", "end")


def cut_text(
    backbone: Backbone, query: Query, prefix: str, length: int, special: bool, kept: Kept
) -> Encoded:
    """So many tokens of the text, ``kept`` in one of three ways."""
    if kept == "last":
        return _last(_encode(backbone, query, prefix, sys.maxsize, special), length)
    with _truncating(backbone.tokenizer, dict(SIDES)[kept]):
        return _encode(backbone, query, prefix, length, special)


@contextmanager
def _truncating(tokenizer: PreTrainedTokenizerBase, side: str) -> Iterator[None]:
    """Have it cut texts on this side, and afterwards on its own again."""
    own = tokenizer.truncation_side
    tokenizer.truncation_side = side
    try:
        yield
    finally:
        tokenizer.truncation_side = own


def _last(whole: Encoded, length: int) -> Encoded:
    """Its last tokens, and nothing else of it."""
    tokens = whole.tokens
    before = len(tokens.text) - length
    kept = replace(
        tokens,
        text=tokens.text[before:],
        span=tokens.span[before:],
        segment=tokens.segment[before:],
        special=tokens.special[before:],
        cls=max(tokens.cls - before, -1),
    )
    return replace(whole, tokens=kept, inputs={name: one[:, before:] for name, one in whole.inputs.items()})


def _encode(backbone: Backbone, query: Query, prefix: str, limit: int, special: bool) -> Encoded:
    return encode(backbone.tokenizer, limit, prefix + query.text, query.text_pair, special)


def _ids(encoded: Encoded) -> list[int]:
    found: list[int] = encoded.inputs["input_ids"][0].tolist()
    return found
