"""Origin of an answer: its words masked in turn, then the trace to the text without one of them."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.importance import eraser_of, falls, without
from components.analyses.measuring.trace import along, patched
from components.analyses.origin import Origin, words_of
from components.errors import PoolscopeError
from components.model.examine import Examined
from components.types import Floats

LONGEST = 128  # tokens: what is run grows with their square


@torch.no_grad()
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
    words = words_of(examined.encoded.tokens, examined.query)
    rows = torch.cat([ids[:0], *(_masked(ids, word, eraser) for word in words)])
    name = str(backbone.tokenizer.convert_ids_to_tokens(eraser))
    none = np.empty((0, ids.shape[1]), dtype=np.float32)
    return Origin(answer, label, words, falls(examined, label, rows), name, none, none[:, 0], none[:, 0])


@torch.no_grad()
def carry(examined: Examined, word: Sequence[int], begin: int = 0, seconds: float = math.inf) -> Floats:
    """Share of each state of the text without a ``word`` in the change that masking makes: (n, T + 2).

    The last two: of all tokens of the word, and of all that are read, together. From layer ``begin`` on, as
    many layers as are begun within so many ``seconds``. PoolscopeError where what lies above a layer does not
    start from its hidden states alone.
    """
    ids = examined.kept.inputs["input_ids"]
    ((other, after),) = without(examined, _masked(ids, word, eraser_of(examined.backbone)))
    together = torch.zeros(2, ids.shape[1], dtype=torch.bool)
    together[0, list(word)], together[1] = True, examined.outputs.reading.positions[0]
    where = torch.cat([torch.eye(ids.shape[1], dtype=torch.bool), together])
    taken = partial(torch.Tensor.expand, size=(len(where), -1, -1))
    logits = patched(examined, other.hidden, where, taken, begin, seconds)
    return along(logits, examined.outputs.logits[0], after[0])


def _masked(ids: torch.Tensor, word: Sequence[int], eraser: int) -> torch.Tensor:
    """The ids (1, T) with the eraser in the place of a word."""
    other = ids.clone()
    other[0, list(word)] = eraser
    return other
