"""Text or pair -> tokens and model inputs, whatever kind of tokenizer there is.

Tokenizers of the tokenizers library tell where in the text each token stands. Those written in Python do not:
of their tokens only what follows from the ids is known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import compress
from typing import Any
from unicodedata import category

import numpy as np
import torch
from tokenizers import normalizers
from torch import Tensor
from transformers import BatchEncoding, PreTrainedTokenizerBase

from components.errors import PoolscopeError
from components.texts import Sentence
from components.types import UNREADABLE, Bools, Ints, Tokens

LETTERS = "LM"  # how their categories in Unicode begin, and those of what is written on them
SPACE = "▁"  # of sentencepiece: a token of its own where the vocabulary has no word that begins so


@dataclass(frozen=True, eq=False)
class Encoded:
    """Tokenised input: tokens (their ``cls`` is -1 where the input has no [CLS]), model inputs (1, T)."""

    tokens: Tokens
    inputs: dict[str, Tensor]
    warnings: tuple[Sentence, ...]


def encode(
    tokenizer: PreTrainedTokenizerBase, limit: int, text: str, text_pair: str, special_tokens: bool = True
) -> Encoded:
    """Tokenise a text or a pair, up to ``limit`` tokens; what was left out or odd is said in the warnings."""
    pair = text_pair or None
    asked = {"return_tensors": "pt", "add_special_tokens": special_tokens}
    whole = tokenizer(text, pair, verbose=False, **asked)
    length = whole["input_ids"].shape[1]
    if length == 0:
        raise PoolscopeError("text", text, "errors.no_tokens")
    kept, warnings = whole, list[Sentence]()
    (tokens,) = _tokens(tokenizer, kept)
    if length > limit:
        kept, before = tokenizer(text, pair, truncation=True, max_length=limit, **asked), tokens
        (tokens,) = _tokens(tokenizer, kept)
        cut = tuple(_cuts(before, tokens)) or Sentence("warnings.cut", count=length - limit)
        warnings.append(Sentence("warnings.long", length=length, limit=limit, cut=cut))
    if not tokenizer.is_fast:
        warnings.append(Sentence("warnings.places"))
    if tokens.special.all():
        warnings.append(Sentence("warnings.nothing", total=len(tokens.special)))
    warnings += _oddities(tokenizer, kept["input_ids"][0].tolist(), tokens, (text, text_pair))
    return Encoded(tokens, dict(kept), tuple(warnings))


def _cuts(whole: Tokens, kept: Tokens) -> Iterator[Sentence]:
    """Say how many of which text's tokens were cut off, and at which end."""
    for segment, name in enumerate(("text" if 1 not in whole.segment else "first", "second")):
        before, after = (_own(tokens, segment) for tokens in (whole, kept))
        count = len(before) - len(after)
        ends = {"last": before[: len(after)], "first": before[count:]}
        if count and (end := next((end for end, rest in ends.items() if rest == after), None)):
            yield Sentence(f"warnings.cut_{end}", count=count, text=Sentence(f"warnings.of_{name}"))


def _own(tokens: Tokens, segment: int) -> list[tuple[Any, ...]]:
    """The tokens of one text, with their ends where these are known: a cut may move where some begin."""
    mine = np.flatnonzero((tokens.segment == segment) & ~tokens.special)
    return [(tokens.text[index], tokens.span[index][1]) for index in mine]


def lowering(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """A copy that makes texts lower case first, but for special tokens that were typed.

    As sentence-transformers sets it where a checkpoint says ``do_lower_case``.
    """
    copy = deepcopy(tokenizer)
    if copy.is_fast:
        backend = copy.backend_tokenizer
        rest = [backend.normalizer] if backend.normalizer is not None else []
        backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *rest])
    else:
        copy.do_lower_case = True
    return copy


def prompted(tokenizer: PreTrainedTokenizerBase, prompt: str, ids: Tensor, mask: Tensor) -> Tensor:
    """Count the first tokens of B inputs that are a prompt's: (B, T), (B, T) -> (B,), 0 without it.

    As sentence-transformers counts them: all that the tokenizer makes of the prompt alone, but for a special
    one at its end. What stands for a space there may have become one with the text's first word.
    """
    own: list[int] = tokenizer(prompt, verbose=False)["input_ids"] if prompt else []
    special = set(tokenizer.all_special_ids)
    count = len(own) - 1 if own and own[-1] in special else len(own)
    while own and (own[-1] in special or not str(tokenizer.decode(own[-1:])).strip()):
        own.pop()
    rows = (row[kept].tolist() for row, kept in zip(ids, mask, strict=True))
    return torch.tensor([count if row[: len(own)] == own else 0 for row in rows])


def numbered(encoded: Encoded, states: int) -> Encoded:
    """The input with its hidden states in the place of its tokens, where these have none of their own."""
    text = tuple(f"state {index}" for index in range(states))
    span, segment = np.zeros((states, 2), dtype=np.int64), np.full(states, -1, dtype=np.int64)
    tokens = Tokens(text, span, segment, special=np.zeros(states, dtype=bool), cls=-1)
    says = Sentence("warnings.states", states=states, tokens=len(encoded.tokens.text))
    return Encoded(tokens, encoded.inputs, (*encoded.warnings, says))


def encode_batch(
    tokenizer: PreTrainedTokenizerBase, limit: int, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Tokenise B texts or pairs: inputs (B, T), special (B, T), index of [CLS] (B,) or -1.

    More than one are padded; one alone needs no padding, which some tokenizers do not have.
    """
    asked = {"return_tensors": "pt", "truncation": True, "max_length": limit, "verbose": False}
    batch = tokenizer(texts, pairs, padding=len(texts) > 1, **asked)
    made = _tokens(tokenizer, batch)
    special = torch.tensor(np.stack([tokens.special for tokens in made]))
    return dict(batch), special, torch.tensor([tokens.cls for tokens in made])


def _tokens(tokenizer: PreTrainedTokenizerBase, batch: BatchEncoding) -> list[Tokens]:
    """The tokens of each of the B inputs of ``batch``, in their order."""
    rows, made = batch["input_ids"].numpy(), list[Tokens]()
    places: list[Any] = batch.encodings or [None] * len(rows)  # of the tokenizers library
    for ids, encoding in zip(rows, places, strict=True):
        if encoding is None:
            span = np.zeros((len(ids), 2), dtype=np.int64)
            segment, special = _unplaced(tokenizer, ids)
        else:
            span = np.array(encoding.offsets, dtype=np.int64)
            segment = np.array([-1 if one is None else one for one in encoding.sequence_ids], dtype=np.int64)
            special = np.array(encoding.special_tokens_mask, dtype=bool)
        typed = np.flatnonzero(ids == tokenizer.cls_token_id)
        own = [index for index in typed if special[index]]  # comes before one that somebody typed
        text = tuple(tokenizer.convert_ids_to_tokens(ids.tolist()))
        made.append(Tokens(text, span, segment, special, cls=int(next(iter([*own, *typed]), -1))))
    return made


def special_ids(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """The ids of the tokens that stand for no text, by their part or by how the tokenizer itself has them.

    ``all_special_ids`` may hold more: some files call a full stop special, which is then left as it is.
    """
    parts: Any = tokenizer.convert_tokens_to_ids([*tokenizer.special_tokens_map.values()])
    return {*parts, *(number for number, token in tokenizer.added_tokens_decoder.items() if token.special)}


def _unplaced(tokenizer: PreTrainedTokenizerBase, ids: Ints) -> tuple[Ints, Bools]:
    """Segments (T,), the second text behind special tokens in the middle; and which are special (T,)."""
    special = np.isin(ids, [*special_ids(tokenizer)]) & (ids != tokenizer.unk_token_id)
    words = np.flatnonzero(~special)
    gaps = np.flatnonzero(np.diff(words) > 1)  # a run of special tokens between two of the texts' own
    segment = np.where(special, -1, 0)
    if len(gaps):
        segment[words[gaps[0] + 1 :]] = 1
    return segment, special


def _oddities(
    tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], tokens: Tokens, texts: tuple[str, str]
) -> Iterator[Sentence]:
    """Warn of special tokens that were typed, of others that were added, and of words that are unknown."""
    known = special_ids(tokenizer)
    typed: dict[str, None] = {}
    unknown = np.zeros_like(tokens.special)
    for index, token_id in enumerate(ids):
        if tokens.special[index] or token_id not in known:
            continue
        start, end = tokens.span[index]
        surface = texts[max(tokens.segment[index], 0)][start:end]
        if surface.strip() == tokens.text[index]:
            typed[tokens.text[index]] = None
        else:
            unknown[index] = token_id == tokenizer.unk_token_id
    yield from (Sentence("warnings.typed", token=token) for token in typed)
    strange = (tokens.special[index] and token_id not in known for index, token_id in enumerate(ids))
    if added := tuple(dict.fromkeys(compress(tokens.text, strange))):
        yield Sentence("warnings.template", tokens=added)
    if unknown.any():
        marks = np.array([piece == SPACE for piece in tokens.text])  # which are read with what follows
        key = UNREADABLE if 2 * unknown.sum() > (~tokens.special & ~marks).sum() else "warnings.unknown"
        count, stand_in = int(unknown.sum()), str(tokenizer.unk_token)
        yield Sentence(key, count=count, total=len(ids), token=stand_in)
    parts, others = _parts(tokens, texts), int((~tokens.special).sum())
    if 2 * parts.total() > others:
        yield Sentence("warnings.parts", count=parts.total(), total=len(ids), letters=len(parts))


def _parts(tokens: Tokens, texts: tuple[str, str]) -> Counter[tuple[int, int]]:
    """Count the tokens of each letter that is spelled in several, bytes for example."""
    found = Counter[tuple[int, int]]()
    for piece, segment, (start, end) in zip(tokens.text, tokens.segment, tokens.span, strict=True):
        if end - start == 1 and piece != SPACE and category(texts[segment][start])[0] in LETTERS:
            found[int(segment), int(start)] += 1
    return Counter({place: count for place, count in found.items() if count > 1})
