"""Examined -> Anatomy: the head taken apart into the steps that ran."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.analyses.anatomy import Anatomy, Declared, Excerpt, Origin, Step, Weight
from components.analyses.lens import Lens
from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.anatomy.provenance import origin, unused
from components.analyses.measuring.anatomy.source import source, sources
from components.analyses.measuring.export.module import module
from components.analyses.measuring.export.program import program
from components.analyses.measuring.lens import look
from components.errors import PoolscopeError
from components.model.backbone import own_head
from components.model.examine import Examined
from components.model.heads import swaps
from components.model.pooling import POOLINGS
from components.model.probes import Probe
from components.model.tracing import LIBRARY, Call, Line, trace
from components.texts import Sentence
from components.types import Floats

TRUST: tuple[Origin, ...] = (  # from the least trained
    *("new", "reshaped", "constant", "probe", "object", "checkpoint"),
)


def dissect(examined: Examined) -> Anatomy:
    """The steps from the final hidden states to the logits, and what can be said about each."""
    calls = head_calls(examined)
    weights = {weight.name: weight for weight in _weights(examined, calls)}
    ran = {call.module for call in calls if call.module}
    live = examined.backbone.spec.live
    return Anatomy(
        analysis=analyse(examined),
        steps=tuple(_step(examined, call, weights) for call in calls),
        weights=tuple(weights.values()),
        unused=unused(examined.backbone),
        declared=declared(examined.backbone.model, ran),
        sources=_sources(examined, calls),
        program="" if live else program(examined),
        module="" if live else module(examined),
        lens=_lens(examined),
    )


def head_calls(examined: Examined) -> tuple[Call, ...]:
    """What ran between the final hidden states and the logits, Poolscope's own pooling included."""
    query, states, model = examined.query, examined.states, examined.backbone.model
    own = own_head(examined.backbone, examined.kept)
    if examined.probe is None and not swaps(examined.backbone, query.pooling):
        return trace(model, own, states.hidden)
    method = POOLINGS[query.pooling]
    pooled = _call(lambda hidden: method(states.ending(hidden)), "pooling", states.hidden)
    if examined.probe is not None:
        return pooled, _linear(examined.probe, pooled.given[0])
    length = states.hidden.shape[1]
    swapped = _call(
        lambda vector: vector[:, None].expand(-1, length, -1).contiguous(), "swap", pooled.given[0]
    )
    return pooled, swapped, *trace(model, own, swapped.given[0])


def declared(model: PreTrainedModel, ran: Collection[str]) -> tuple[Declared, ...]:
    """The lines of ``print(model)`` with what lies before the head cut short to an ellipsis.

    ``ran``: paths of the modules that ran in the head. Of the body only these are shown with their parts, a
    pooler for example; of what stands beside the body, everything.
    """
    body = next(path for path, module in model.named_modules() if module is model.base_model)

    def cut_short(path: str) -> bool:
        inside = path == body or path.startswith(f"{body}.")
        return inside and not any(one == path or one.startswith(f"{path}.") for one in ran)

    def lines(module: nn.Module, path: str, depth: int) -> Iterator[Declared]:
        name = f"({path.rsplit('.', 1)[-1]}): " if path else ""
        parts = list(module.named_children())
        if not parts:
            yield Declared(path, depth, name + " ".join(repr(module).split()))
        elif path and cut_short(path):
            yield Declared(path, depth, f"{name}{type(module).__name__}( … )")
        else:
            yield Declared(path, depth, f"{name}{type(module).__name__}(")
            for part, inner in parts:
                yield from lines(inner, f"{path}.{part}".lstrip("."), depth + 1)
            yield Declared("", depth, ")")

    return tuple(lines(model, "", 0))


def _lens(examined: Examined) -> Lens | Sentence:
    try:
        return look(examined)
    except PoolscopeError as error:
        return error.sentence


def _call(
    function: Callable[[Tensor], Tensor], kind: str, taken: Tensor, weights: tuple[str, ...] = ()
) -> Call:
    """A step of Poolscope's own, run now."""
    function.__name__ = kind
    with torch.no_grad():
        given = function(taken)
    return Call(function, [taken], lambda flat: (tuple(flat), {}), (taken,), (given,), "", weights, ())


def _linear(probe: Probe, pooled: Tensor) -> Call:
    weight, bias = torch.from_numpy(probe.weight), torch.from_numpy(probe.bias)
    return _call(lambda vector: vector @ weight.T + bias, "linear", pooled, ("weight", "bias"))


def _weights(examined: Examined, calls: Sequence[Call]) -> list[Weight]:
    """Every tensor that the calls used, in the order of their use."""
    names = dict.fromkeys(chain.from_iterable(call.weights for call in calls))
    probe = examined.probe
    if probe is not None:
        learned = [] if probe.query is None else [Weight("query", probe.query.shape, "probe")]
        own = {"weight": probe.weight, "bias": probe.bias}
        return [*learned, *(Weight(name, own[name].shape, "probe") for name in names)]
    shapes = {name: tuple(tensor.shape) for name, tensor in examined.backbone.model.named_parameters()}
    return [Weight(name, shapes[name], origin(examined.backbone, name)) for name in names]


def _step(examined: Examined, call: Call, weights: Mapping[str, Weight]) -> Step:
    """One call as a step: what it did and with what."""
    model = examined.backbone.model
    running = model.get_submodule(call.module)
    used = [weights[name] for name in call.weights]
    if call.kind == "pooling" and "query" in weights:
        used = [weights["query"]]
    leaf = bool(call.lines) and not list(running.children()) and _is_one_function(running)
    taken, given = call.taken[0], call.given[0]
    return Step(
        kind=call.kind,
        path=call.module if leaf else "",
        within=_class_of(call.lines[0]) if call.lines else "",
        weights=tuple(weight.name for weight in used),
        parameters=sum(torch.Size(weight.shape).numel() for weight in used),
        origin=next((trust for trust in TRUST if any(w.origin == trust for w in used)), None),
        idle=call.idle,
        moves=call.moves,
        picks=_picks(call, examined.states.hidden.shape[1]),
        taken=_values(taken),
        given=_values(given),
    )


def _is_one_function(module: nn.Module) -> bool:
    """Whether the module's name says what it runs: not where a model's own code stands in it."""
    kind = type(module).__module__
    return kind.startswith(("torch.", "transformers.")) and not kind.startswith("transformers.models.")


def _class_of(line: Line) -> str:
    """The class whose code a line is, without the function in which somebody wrote it."""
    return line[0].co_qualname.rpartition("<locals>.")[2].rsplit(".", 1)[0]


def _picks(call: Call, tokens: int) -> bool:
    """Whether it takes the tokens' axis (B, T, ...) away."""
    taken, given = call.taken[0].shape, call.given[0].shape
    return len(taken) == 3 and taken[1] == tokens and len(given) == 2


def _values(tensor: Tensor) -> Floats:
    """The values of one example: the batch axis goes."""
    one: Floats = (tensor[0] if tensor.shape[0] == 1 else tensor).float().numpy()
    return one


def _sources(examined: Examined, calls: Sequence[Call]) -> tuple[Excerpt, ...]:
    """What of the library ran, from the outside in: a pooling of Poolscope's own first."""
    tokens = examined.states.hidden.shape[1]
    lines = [(call, [line for line in call.lines if _is_of_library(line)]) for call in calls]
    ran = chain.from_iterable(reversed(found) for _call, found in lines)
    picking = [found[0] for call, found in lines if found and _picks(call, tokens)]
    own: list[Excerpt] = []
    if examined.probe is not None or swaps(examined.backbone, examined.query.pooling):
        own = [source(POOLINGS[examined.query.pooling].function)]
    return (*own, *sources(ran, picking))


def _is_of_library(line: Line) -> bool:
    """Whether a line is in a file that is there to be read; a cell of a notebook is none."""
    return line[0].co_filename.startswith(LIBRARY)
