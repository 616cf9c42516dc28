"""A checkpoint's own head as layers of torch.nn, built from what it executed.

Nothing is looked up: the head is traced, each step becomes the layer that does the same, and
the layers are then compared with the head itself, on random hidden states.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from components.analyses.measuring.export.pooling import pooling_source
from components.model.backbone import own_head
from components.model.examine import Examined, examine
from components.model.heads import POOLER, swaps
from components.model.pooling import POOLINGS
from components.model.tracing import Call, trace
from components.types import Query

EXAMPLE = "a b c d e"
ENOUGH = 3  # tokens that tell the first, the last and their average apart
LIKELY = ("first", "lasttoken", "mean")  # tried before the other poolings
ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    name.lower(): kind
    for name, kind in vars(nn.modules.activation).items()
    if inspect.isclass(kind) and issubclass(kind, nn.Module)
}
PARTS = {
    "reads",
    "pooler_output",
    "declared_output",
    "query",
}  # fields of States that no pooling of a head's own looks at


@dataclass(frozen=True)
class OwnLayers:
    """The own head as layers, behind a pooled vector.

    ``native``: the pooling that the own head turns out to stand behind, or None if it is another one.
    ``code``: one line of source for each layer. ``same``: whether the layers, behind the pooling asked for,
    give the own head's logits. ``left_out``: names of steps that have no layer of their own.
    """

    native: str | None
    code: tuple[str, ...]
    same: bool
    left_out: tuple[str, ...]


def own_layers(examined: Examined, pooling: str) -> OwnLayers:
    """The own head's layers behind ``pooling``: native, or one as wide as a hidden state."""
    backbone, example = examined.backbone, examined
    if examined.states.hidden.shape[1] < ENOUGH:
        example = examine(backbone, Query(backbone.spec.key, EXAMPLE))
    swap = swaps(backbone, pooling)
    behind = (POOLER,) if pooling == POOLER and not swap else _candidates()
    calls = _calls(example, pooling)
    layers = {call: code for call in calls if (code := _layer(call, backbone.model))}
    kept = tuple(layers)
    native = next((key for key in behind if _same(kept, key, example, swap=False)), None)
    return OwnLayers(
        native=native,
        code=tuple(_lines(layers, len(backbone.labels))),
        same=_same(kept, pooling, example, swap=True) if swap else native is not None,
        left_out=tuple(
            call.kind for call in calls if call not in layers and not call.idle and not _pools(call)
        ),
    )


def _calls(example: Examined, pooling: str) -> tuple[Call, ...]:
    """What the own head runs: behind its own pooler if that is the ``pooling`` that it stands behind."""
    backbone, kept, hidden = example.backbone, example.kept, example.kept.hidden[-1]
    pooler = backbone.pooler
    if pooling != POOLER or swaps(backbone, pooling) or pooler is None:
        return trace(backbone.model, own_head(backbone, kept), hidden)
    with torch.no_grad():
        vector = pooler(kept, hidden)
    return trace(backbone.model, partial(pooler.behind, kept), vector)


def _candidates() -> Iterator[str]:
    """The poolings that an own head may stand behind, the likely ones first."""
    for key in dict.fromkeys((*LIKELY, *POOLINGS)):
        if not PARTS & {*pooling_source(key).fields}:
            yield key


def _same(calls: Sequence[Call], pooling: str, example: Examined, swap: bool) -> bool:
    """Whether the calls alone, on a pooled vector, give the logits of the own head.

    Random hidden states tell any two poolings apart. For a swap, the own head is given the vector everywhere.
    """
    hidden = example.kept.hidden[-1]
    noise = torch.randn(hidden.shape, generator=torch.Generator().manual_seed(0)) * hidden.std()
    vector = POOLINGS[pooling](example.states.ending(noise))  # (1, D')
    if vector.shape[1] != hidden.shape[2]:
        return False
    received = vector[:, None].expand_as(noise) if swap else noise
    with torch.no_grad():
        truth = own_head(example.backbone, example.kept)(received)
        for call in calls:
            (vector,) = call.again({id(call.taken[0]): vector})
    return vector.shape == truth.shape and torch.allclose(vector, truth, rtol=1e-4, atol=1e-5)


def _layer(call: Call, model: nn.Module) -> str | None:
    """The layer that does what the call did, as source, or None if there is none."""
    if len(call.taken) != 1 or len(call.given) != 1:
        return None
    module = model.get_submodule(call.module)
    taken, given = call.taken[0], call.given[0]
    if call.kind == "linear":
        bias = "" if sum(isinstance(one, torch.Tensor) for one in call.arguments) == 3 else ", bias=False"
        return f"nn.Linear({taken.shape[-1]}, {given.shape[-1]}{bias})"
    if isinstance(module, nn.Dropout):
        return f"nn.Dropout({module.p})"
    if isinstance(module, nn.LayerNorm):
        bias = "" if module.bias is not None else ", bias=False"
        return f"nn.LayerNorm({taken.shape[-1]}, eps={module.eps}{bias})"
    return _activation(call)


def _activation(call: Call) -> str | None:
    """The activation layer of the function's name, if it gives what the function gave."""
    kind = ACTIVATIONS.get(call.kind.replace("_", ""))
    if kind is None:
        return None
    known = inspect.signature(kind).parameters
    _args, given = call.rebuild(call.arguments)
    options = {name: value for name, value in given.items() if name in known and value != known[name].default}
    if not torch.allclose(kind(**options)(call.taken[0]), call.given[0]):
        return None
    return f"nn.{kind.__name__}({', '.join(f'{name}={value!r}' for name, value in options.items())})"


def _pools(call: Call) -> bool:
    """Whether a call without weights left one vector of those of all tokens: the pooling does that."""
    return not call.weights and call.given[0].dim() < call.taken[0].dim()


def _lines(layers: Mapping[Call, str], labels: int) -> Iterator[str]:
    """The layers' source and the modules that they stand for; the last linear one has ``labels`` outputs."""
    last = next((call for call in reversed([*layers]) if call.kind == "linear"), None)
    for call, code in layers.items():
        line = code.replace(f", {labels}", ", labels", 1) if call is last else code
        yield f"{line},  # {call.module}" if call.module and call.weights else f"{line},"
