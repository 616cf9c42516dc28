"""The trace: which hidden states carry the change from one text to another; and the origin of an answer.

One hidden state of a text is set to that of another text, and all that lies above runs on: activation
patching, as in causal mediation analysis (Vig et al. 2020) and causal tracing (Meng et al. 2022). For an
origin, words are masked in turn, and the other text lacks one of them.
"""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import torch
from torch import Tensor

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.importance import eraser_of, falls, without
from components.analyses.trace import Origin, Patched, words_of
from components.errors import PoolscopeError
from components.model.cut import Entry, entering, replay
from components.model.examine import Examined, said
from components.texts import Sentence
from components.types import Floats, Ints

LONGEST = 128  # tokens: what is run grows with their square


def traced(first: Examined, second: Examined, begin: int = 0, seconds: float = math.inf) -> Patched:
    """Measure what each hidden state of ``second`` carries into ``first``: of one backbone, pooling and head.

    What lies above the layer that is pooled carries nothing. From layer ``begin`` on, as many as are begun
    within so many ``seconds``. PoolscopeError: both are answered alike, or a layer has no entry.
    """
    before, after = first.outputs.logits[0], second.outputs.logits[0]
    if torch.equal(before, after):
        raise PoolscopeError("other", second.query.text, "errors.no_change")
    pairs, total = paired(first, second), first.kept.hidden[-1].shape[1]
    mine, theirs = torch.from_numpy(pairs).T
    where = torch.eye(total, dtype=torch.bool)[mine]  # (P, T)
    alike = all(layer.shape[1] == total for layer in second.kept.hidden)
    if alike:
        where = torch.cat([where, torch.ones(1, total, dtype=torch.bool)])

    def taken(other: Tensor) -> Tensor:
        each = other[0, theirs][:, None]
        return torch.cat([each.expand(-1, total, -1), other]) if alike else each

    logits = patched(first, map(taken, second.kept.hidden[begin:]), where, begin, seconds)
    each = logits[:, : len(pairs)]
    alone = tuple(
        name if any(map(str.isalnum, name)) else Sentence("similarity.stand_in", token=name)
        for examined, known in zip((first, second), pairs.T.tolist(), strict=True)
        for place, name in enumerate(examined.passed.encoded.tokens.text)
        if place not in known
    )
    return Patched(
        first=analyse(first),
        second=analyse(second),
        pairs=pairs,
        logits=each.numpy(),
        whole=logits[:, -1].numpy() if alike else None,
        shares=along(each, before, after),
        warnings=(Sentence("warnings.unpaired", tokens=alone),) if alone else (),
    )


def patched(first: Examined, theirs: Iterable[Tensor], where: Tensor, begin: int, seconds: float) -> Tensor:
    """Give the logits (n, R, K) of R changes of an input, layer by layer, as `traced` does.

    Hidden states at ``where`` (R, T) become ``theirs``, of each layer from ``begin`` on: (R, T, D), or
    (R, 1, D) where a row has one. PoolscopeError as `traced` raises it.
    """
    entries, until, logits = _entries(first), time.monotonic() + seconds, list[Tensor]()
    most = first.backbone.at_once(where.shape[1])
    for layer, states in enumerate(theirs, begin):
        if logits and time.monotonic() > until:
            break
        if layer >= len(first.states.layers):  # above the one that is pooled: nothing gets there
            logits.append(first.outputs.logits.expand(len(where), -1))
        else:
            parts = zip(torch.split(where, most), torch.split(states, most), strict=True)
            logits.append(torch.cat([_said(first, layer, entries, *part) for part in parts]))
    return torch.stack(logits)


def along(logits: Tensor, before: Tensor, after: Tensor) -> Floats:
    """Tell how far on the way from one to the other logits (..., K) are, both (K,): 0 to 1."""
    way = (after - before).double()
    return np.asarray(((logits.double() - before) @ way / (way @ way)).float())


def _entries(examined: Examined) -> list[Entry]:
    """The entries of all layers below the last; PoolscopeError where one does not go on as a whole."""
    backbone = examined.backbone
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.untraced_states")
    found = backbone.entries[len(backbone.entries) - len(examined.kept.hidden) + 1 :]
    entries = [entry for entry in found if entry is not None]
    if len(entries) < len(found):
        raise PoolscopeError("backbone", backbone.spec.key, "errors.untraced", layer=found.index(None))
    return entries


def paired(first: Examined, second: Examined) -> Ints:
    """Find the places of tokens (P, 2) that stand for the same in both, in their order.

    Those of the same characters do, and those between them where both texts have as many there.
    """
    ours, theirs = _stand_for(first), _stand_for(second)
    pairs: list[tuple[int, int]] = []
    for _, start, end, there, until in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if end - start == until - there:
            pairs += zip(range(start, end), range(there, until), strict=True)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _stand_for(examined: Examined) -> list[tuple[int, str]]:
    """Tell what each token stands for: its text and the characters there, else its name in the vocabulary."""
    tokens, texts = examined.passed.encoded.tokens, (examined.query.text, examined.query.text_pair)
    return [
        (int(segment), texts[segment][start:end] if segment >= 0 and start < end else name)
        for name, (start, end), segment in zip(tokens.text, tokens.span, tokens.segment, strict=True)
    ]


def _said(examined: Examined, layer: int, entries: Sequence[Entry], where: Tensor, states: Tensor) -> Tensor:
    """Give the logits (R, K) of R inputs; one that the other text's states leave as it is needs no pass."""
    backbone, kept = examined.backbone, examined.kept
    changed = torch.where(where[:, :, None], states, kept.hidden[layer])
    moved = (changed != kept.hidden[layer]).any(dim=2).any(dim=1)
    logits, changed, rows = examined.outputs.logits.repeat(len(where), 1), changed[moved], int(moved.sum())
    if not rows:
        return logits
    inputs = {name: value.expand(rows, -1) for name, value in kept.inputs.items()}
    if layer == len(entries):  # the last: nothing but the head lies above
        hidden = tuple(each.expand(rows, -1, -1) for each in kept.hidden)
        found = replace(kept, inputs=inputs, hidden=hidden)
        found = replace(found, logits=replay(backbone.model, backbone.cut, found, changed))
    else:
        with entering(entries[layer], changed):
            found = backbone.run(inputs).upmost(len(kept.hidden))
    found = replace(found, hidden=(*found.hidden[:layer], changed, *found.hidden[layer + 1 :]))
    logits[moved] = said(examined, found)
    return logits


def seek(examined: Examined) -> Origin:
    """Mask each word in turn, for the likeliest output; the shares are not measured.

    PoolscopeError where the text is too long, tokens have no states of their own, or nothing masks them.
    """
    backbone, answer, ids = examined.backbone, analyse(examined), examined.kept.inputs["input_ids"]
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    if ids.shape[1] > LONGEST:
        raise PoolscopeError("text", examined.query.text, "errors.origin_long", most=LONGEST)
    eraser, label = eraser_of(backbone), int(np.argmax(answer.probabilities))
    words = words_of(examined.passed.encoded.tokens, examined.query)
    rows = torch.cat([ids[:0], *(_masked(ids, word, eraser) for word in words)])
    name = str(backbone.tokenizer.convert_ids_to_tokens(eraser))
    none = np.empty((0, ids.shape[1]), dtype=np.float32)
    return Origin(answer, label, words, falls(examined, label, rows), name, none, none[:, 0], none[:, 0])


def carry(examined: Examined, word: Sequence[int], begin: int = 0, seconds: float = math.inf) -> Floats:
    """Share of each state of the text without a ``word`` in the change that masking makes: (n, T + 2).

    The last two: of all tokens of the word, and of all that are read, together. From layer ``begin`` on, as
    many as are begun within so many ``seconds``. PoolscopeError: a layer has no entry.
    """
    ids = examined.kept.inputs["input_ids"]
    ((other, after),) = without(examined, _masked(ids, word, eraser_of(examined.backbone)))
    together = torch.zeros(2, ids.shape[1], dtype=torch.bool)
    together[0, list(word)], together[1] = True, examined.outputs.reading.positions[0]
    where = torch.cat([torch.eye(ids.shape[1], dtype=torch.bool), together])
    states = (layer.expand(len(where), -1, -1) for layer in other.hidden[begin:])
    logits = patched(examined, states, where, begin, seconds)
    return along(logits, examined.outputs.logits[0], after[0])


def _masked(ids: Tensor, word: Sequence[int], eraser: int) -> Tensor:
    """The ids (1, T) with the eraser in the place of a word."""
    return ids.index_fill(1, torch.tensor(word), eraser)
