"""The square of who sees whom: each token's embedding is changed, and the final states are looked at."""

from collections.abc import Iterator
from contextlib import nullcontext

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.analyses.measuring.analyze import likeliest
from components.analyses.sees import Sees, shape_of
from components.errors import PoolscopeError
from components.model.cut import noise_like
from components.model.embeddings import embedded, embeddings, exchanged, unembedded
from components.model.examine import Examined, run
from components.model.internals import both_ways, said_causal
from components.texts import Sentence
from components.types import Bools

ROUNDED = 1e-5  # of the largest state: tokens that share experts move each other by rounding
ALIKE = 1e-4  # of the largest state, by which the same states may differ in two passes


def look(examined: Examined, turn: bool) -> Sees:
    """Measure the square, or that which there is when tokens are let see both ways.

    PoolscopeError where not each token has an embedding and a final hidden state.
    """
    backbone, known = examined.backbone, examined.passed.encoded.warnings
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    table = embeddings(examined)
    with both_ways(backbone.model) if turn else nullcontext():
        square, rounded = _square(examined, table)
        told = _turned(examined) if turn else tuple(_stated(backbone.model, square))
    if rounded:
        told = (*told, Sentence("sees.rounded", count=rounded, total=square.size))
    return Sees(examined.passed.tokens, square, (*known, *told), turn)


def _square(examined: Examined, table: nn.Module) -> tuple[Bools, int]:
    """Tell who sees whom (T, T), changed louder if in doubt; and how many pairs may be rounding alone."""
    plain = embedded(table, examined.kept.inputs["input_ids"])
    rows = torch.arange(plain.shape[1])
    seen = doubtful = torch.zeros(len(rows), len(rows), dtype=torch.bool)
    for size in (1.0, 100.0):  # of a change, in standard deviations of the text's embeddings
        points = plain.repeat(len(rows), 1, 1)
        points[rows, rows] += size * plain.std() * noise_like(plain)[0]
        moved = torch.cat([*_moved(examined, table, plain, points)]).T  # (t, u)
        seen = seen | (moved > ROUNDED)
        doubtful = (doubtful | (moved > 0)) & ~seen
        if not doubtful.any() and shape_of(seen.numpy())[0] in ("all", "causal"):
            break
    if not seen.any():
        raise unembedded(examined)
    return seen.numpy(), int(doubtful.sum())


def _moved(examined: Examined, table: nn.Module, plain: Tensor, points: Tensor) -> Iterator[Tensor]:
    """Yield by how much each final hidden state moves, of the largest one, for some of R embeddings: (r, T).

    Each is run beside the plain ones: in another batch the same rows may be rounded otherwise.
    """
    backbone, inputs = examined.backbone, examined.kept.inputs
    rows = backbone.at_once(plain.shape[1])
    for part in torch.split(points, max(rows - 1, 1)):
        found = list[Tensor]()
        for given in [torch.cat([plain, part])] if rows > 1 else [plain, part]:
            with exchanged(table, inputs, given) as others:
                found.append(run(backbone, others).hidden[-1])
        states = torch.cat(found)
        yield (states[1:] - states[:1]).abs().amax(dim=-1) / states[0].abs().max()


def _turned(examined: Examined) -> tuple[Sentence, ...]:
    """Say what the head says where tokens see both ways, or that nothing changes."""
    backbone, before = examined.backbone, examined.kept
    after, final = run(backbone, before.inputs), before.hidden[-1]
    if (after.hidden[-1] - final).abs().max() <= ALIKE * final.abs().max():
        return (Sentence("sees.unturned"),)
    if not (backbone.head_trained and backbone.body_trained):
        return ()
    said, turned = (likeliest(backbone, kept.logits[0]) for kept in (before, after))
    return (Sentence("sees.turned", before=said, after=turned),)


def _stated(model: PreTrainedModel, square: Bools) -> Iterator[Sentence]:
    """Say where config or modules tell of a way to look that is not the one that is measured."""
    causal, key = said_causal(model)
    ahead = bool(torch.from_numpy(square).triu(1).any())
    if causal is False and not ahead and len(square) > 1:
        yield Sentence("sees.causal_though", key=key)
    if causal is True and ahead:
        yield Sentence("sees.ahead_though", key=key)
