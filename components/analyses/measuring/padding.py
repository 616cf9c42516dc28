"""The padding audit: whether a model says of a text the same alone, padded, and in a batch.

Which side is padded, and whether a model counts its positions from the padding, differs by family; none is
named here. Each cause is told only where a change of that alone shows it.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from components.analyses.measuring.analyze import analyse, vectors_of
from components.analyses.padding import Cause, Padding, PaddingCase
from components.errors import PoolscopeError
from components.model.backbone import Backbone, own_head, states_of
from components.model.cut import Batch, Pass
from components.model.declared import inner
from components.model.encoding import special_ids
from components.model.examine import Examined, run
from components.model.files import reason_of
from components.model.pooling import States
from components.model.reads import Reading
from components.texts import Sentence

PADDED = 8  # tokens of padding
MOVES = 1e-4  # of the size of what is compared: smaller differences are rounding
MASK, POSITIONS = "attention_mask", "position_ids"


@dataclass(frozen=True, eq=False)
class Padded:
    """A text with padding, run, in the first row. ``mask``: (B, S) true at own tokens, in their order."""

    name: str
    mask: Tensor
    kept: Pass


def audit(examined: Examined) -> Padding:
    """Run a text with padding on either side, and beside a longer text; PoolscopeError where it cannot be."""
    backbone, total = examined.backbone, examined.kept.inputs["input_ids"].shape[1]
    room, side = min(PADDED, backbone.limit - total), backbone.tokenizer.padding_side
    answer, warnings = analyse(examined), examined.passed.encoded.warnings
    if backbone.tokenizer.pad_token_id is None:
        return Padding(answer, 0, side, (), warnings, backbone.alone)
    if room < 1:
        given = Sentence("errors.tokens", count=total)
        raise PoolscopeError("text", given, "errors.no_room", limit=backbone.limit)
    typed, other = _longer(examined, total + room)
    batch = batched(backbone, [examined.kept.inputs, other], total + room, side)
    right, left = (batched(backbone, [examined.kept.inputs], total + room, end) for end in ("right", "left"))
    asked = {**({} if backbone.alone else {"batch": batch}), "right": right, "left": left}
    begun, *rest = asked.items()
    try:
        ways = [_run(examined, *begun)]
    except PoolscopeError as error:
        if error.__cause__ is None:  # it is not the model that fails
            raise
        fails = Sentence(f"padding.fails{'' if typed else '_padded'}", reason=reason_of(error).rstrip("."))
        return Padding(answer, 0, side, (), warnings, backbone.alone or fails)
    pooled, first = dict(vectors_of(examined.passed.states)), _first_position(examined)
    told = _counted(examined, "left_positions", left, left[MASK].bool(), first)
    ways += [*(_run(examined, *one) for one in rest), *([told] if told else [])]
    cases = tuple(_case(examined, first, pooled, one) for one in ways)
    return Padding(answer, room, side, cases, warnings, backbone.alone)


def _longer(examined: Examined, length: int) -> tuple[bool, Batch]:
    """Tell whether special tokens were typed; make a text of so many tokens, without them."""
    inputs, tokens = examined.kept.inputs, examined.passed.encoded.tokens
    special = torch.isin(inputs["input_ids"][0], torch.tensor([*special_ids(examined.backbone.tokenizer)]))
    typed = torch.zeros_like(special)
    if examined.backbone.per_token:
        typed = special & ~torch.from_numpy(tokens.special)
    own = int(special.int().argmin())  # token of the text's own, which makes a longer text
    order = [*range(own), *[own] * (length - len(special)), *range(own, len(special))]
    ids = inputs["input_ids"].masked_fill(typed, int(inputs["input_ids"][0, own]))
    return bool(typed.any()), {name: value[:, order] for name, value in {**inputs, "input_ids": ids}.items()}


def batched(backbone: Backbone, rows: Sequence[Batch], longer: int, side: str) -> dict[str, Tensor]:
    """Rows (1, T) as one batch (B, S), with the mask of it."""
    lists = {name: [row[name][0].tolist() for row in rows] for name in rows[0]}
    batch = backbone.tokenizer.pad(
        {MASK: [[1] * len(ids) for ids in lists["input_ids"]], **lists},
        padding="max_length",
        return_attention_mask=True,
        max_length=longer,
        padding_side=side,
        return_tensors="pt",
        verbose=False,
    )
    return dict(batch)


def _run(examined: Examined, name: str, inputs: Mapping[str, Tensor]) -> Padded:
    """Run what the tokenizer gives of these inputs: there are some that give no mask."""
    known = {*examined.kept.inputs, POSITIONS}
    given = {key: value for key, value in inputs.items() if key in known}
    return Padded(name, inputs[MASK].bool(), run(examined.backbone, given))


def _counted(examined: Examined, name: str, inputs: Batch, mask: Tensor, first: int | None) -> Padded | None:
    """Run inputs with the positions of each row's own tokens; None where the model cannot be told these."""
    if first is None:
        return None
    try:
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0) + first  # padding has the first
        return _run(examined, name, {MASK: mask, **inputs, POSITIONS: positions})
    except PoolscopeError:  # such as of a model that lengthens its inputs, but not these
        return None


def _case(examined: Examined, first: int | None, pooled: Mapping[str, Tensor], padded: Padded) -> PaddingCase:
    """Return what is said of the text so padded, what is read of it, and why that is another answer.

    ``pooled``: the vector (1, D') of each pooling that the text alone has.
    """
    backbone, kept, alone = examined.backbone, padded.kept, examined.kept
    logits = kept.logits[0]
    reading = Reading(own_head(backbone, kept), kept.hidden[-1]).positions[0]
    alike = examined.passed.states.reads.positions[0]
    own, read, moved = torch.ones_like(reading), alike, torch.zeros_like(alike)
    if backbone.per_token:
        own = padded.mask[0]
        read, moved = reading[own], _moved(alone.hidden[-1][0], kept.hidden[-1][0][own])
    largest = float((logits - alone.logits[0]).abs().max())
    cause: Cause = ""
    if largest > MOVES * float(alone.logits.abs().max()):
        cause = _cause(examined, first, padded, bool(moved.any()), torch.equal(read, alike))
    return PaddingCase(
        name=padded.name,
        logits=logits.numpy(),
        largest=largest,
        reads=tuple(read.nonzero()[:, 0].tolist()),
        reads_padding=bool(reading[~own].any()),
        moved=tuple(moved.nonzero()[:, 0].tolist()),
        pooled={
            key: float((after[0] - before[0]).norm() / before[0].norm())
            for key, after in vectors_of(_states(examined, padded))
            if (before := pooled.get(key)) is not None
        },
        cause=cause,
    )


def _moved(alone: Tensor, padded: Tensor) -> Tensor:
    """Return which hidden states (T, D) are others than they were: (T,)."""
    return (padded - alone).abs().amax(dim=1) > MOVES * alone.abs().max()


def _cause(examined: Examined, first: int | None, padded: Padded, states: bool, alike: bool) -> Cause:
    """Why logits moved; ``states``: whether those of the tokens did; ``alike``: the same tokens are read."""
    backbone = examined.backbone
    if not backbone.per_token:
        return "unknown"  # its states are none of tokens
    if not states or not alike:
        return "head"
    ids, own = padded.kept.inputs["input_ids"].clone(), padded.mask[0]
    ids[0, ~own] = ids[0, own][0]  # another token stands where the padding is
    other = backbone.run({**padded.kept.inputs, "input_ids": ids})
    if _moved(padded.kept.hidden[-1][0][own], other.hidden[-1][0][own]).any():
        return "attention"
    told, inputs = POSITIONS in padded.kept.inputs, padded.kept.inputs
    if told or (counted := _counted(examined, padded.name, inputs, padded.mask, first)) is None:
        return "unknown"
    states_told = counted.kept.hidden[-1][0][counted.mask[0]]
    return "unknown" if _moved(examined.kept.hidden[-1][0], states_told).any() else "positions"


def _first_position(examined: Examined) -> int | None:
    """The number from which the model counts the positions of tokens; None where it cannot be told them."""
    backbone, inputs = examined.backbone, examined.kept.inputs
    padding = backbone.tokenizer.pad_token_id
    if padding is None or POSITIONS not in inspect.signature(inner(backbone.model).forward).parameters:
        return None
    for offset in (0, 1 + int(padding)):  # all that transformers has
        told = {**inputs, POSITIONS: torch.arange(inputs["input_ids"].shape[1])[None] + offset}
        try:
            logits = run(backbone, told).logits
        except PoolscopeError:
            return None  # such as a model that lengthens its inputs, but not these
        if torch.allclose(logits, examined.kept.logits, rtol=MOVES, atol=0):
            return offset
    return None


def _states(examined: Examined, padded: Padded) -> States:
    """Return what poolings may look at of a padded text, in its first row."""
    backbone, tokens = examined.backbone, examined.passed.encoded.tokens
    rows, length = padded.kept.hidden[-1].shape[:2]
    special, cls = torch.zeros(rows, length, dtype=torch.bool), torch.full((rows,), -1)
    if backbone.per_token:
        own = padded.mask[0].nonzero()[:, 0]
        special[0, own] = torch.from_numpy(tokens.special)
        cls[:] = own[tokens.cls] if tokens.cls >= 0 else -1
    states = states_of(backbone, padded.kept, special, cls)
    return replace(states, mask=padded.mask) if backbone.per_token else states
