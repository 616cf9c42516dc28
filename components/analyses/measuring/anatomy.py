"""The head taken apart: the steps that ran, where its tensors come from, and the code as it is installed.

And the lens: the head pointed at hidden state (l, t) in place of the vector that it takes, as a logit lens
points the head of a language model (nostalgebraist 2020). The norm between the last layer and the head, if
there is one, is applied to every layer.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import CodeType
from typing import Any, get_args

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.analyses.anatomy import Anatomy, Excerpt, HeadStep, Lens, PrintedLine, Weight, WeightOrigin
from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.export import module, program
from components.errors import PoolscopeError, or_why
from components.model.backbone import Backbone, own_head
from components.model.cut import Pass, carried, replay
from components.model.examine import DECLARED, POOLER, Examined, behind_pooling, linear, probabilities, swaps
from components.model.pooling import POOLINGS
from components.model.reads import Head
from components.model.tracing import LIBRARY, Call, trace
from components.types import Analysis

OutputOf = Callable[[Pass, Tensor], Tensor]  # a pass of B inputs, final hidden states (B, T, D) -> (B, N)
SHORT = 16  # lines of a function that is shown whole; of a longer one only what ran, and what lies between


def dissect(examined: Examined) -> Anatomy:
    """Find the steps from the final hidden states to the logits, and what can be said about each."""
    calls = head_calls(examined)
    weights = {weight.name: weight for weight in _weights(examined, calls)}
    ran = {call.module for call in calls if call.module}
    live, unused = examined.backbone.spec.live, sorted(examined.backbone.provenance.unused.items())
    return Anatomy(
        analysis=answered(examined),
        steps=tuple(_step(examined, call, weights) for call in calls),
        weights=tuple(weights.values()),
        unused=tuple(Weight(name, shape, "checkpoint") for name, shape in unused),
        declared=declared(examined.backbone.model, ran),
        sources=tuple(_sources(examined, calls)),
        program="" if live else program(examined),
        module="" if live else module(examined),
        lens=or_why(partial(look, examined)),
    )


def head_calls(examined: Examined) -> tuple[Call, ...]:
    """Run what lies between the final hidden states and the logits, Poolscope's own pooling included."""
    query, states, model = examined.query, examined.states, examined.backbone.model
    own = own_head(examined.backbone, examined.kept)
    if examined.probe is None and not swaps(examined.backbone, query.pooling):
        return trace(model, own, states.hidden)
    pooled = _call(lambda hidden: POOLINGS[query.pooling](states.ending(hidden)), "pooling", states.hidden)
    (vector,) = pooled.given
    if examined.probe is not None:
        return pooled, _call(linear(examined.probe), "linear", vector, ("weight", "bias"))
    length = states.hidden.shape[1]
    swapped = _call(lambda vector: vector[:, None].expand(-1, length, -1).contiguous(), "swap", vector)
    return pooled, swapped, *trace(model, own, swapped.given[0])


def declared(model: PreTrainedModel, ran: Collection[str]) -> tuple[PrintedLine, ...]:
    """Lines of ``print(model)``, what lies before the head cut short; ``ran``: paths of its modules."""
    body = next(path for path, module in model.named_modules() if module is model.base_model)

    def cut_short(path: str) -> bool:
        inside = path == body or path.startswith(f"{body}.")
        return inside and not any(one == path or one.startswith(f"{path}.") for one in ran)

    def lines(module: nn.Module, path: str, depth: int) -> Iterator[PrintedLine]:
        name = f"({path.rsplit('.', 1)[-1]}): " if path else ""
        parts = list(module.named_children())
        if not parts:
            yield PrintedLine(path, depth, name + " ".join(repr(module).split()))
        elif path and cut_short(path):
            yield PrintedLine(path, depth, f"{name}{type(module).__name__}( … )")
        else:
            yield PrintedLine(path, depth, f"{name}{type(module).__name__}(")
            for part, inner in parts:
                yield from lines(inner, f"{path}.{part}".lstrip("."), depth + 1)
            yield PrintedLine("", depth, ")")

    return tuple(lines(model, "", 0))


def _call(step: Callable[[Tensor], Tensor], kind: str, taken: Tensor, weights: tuple[str, ...] = ()) -> Call:
    """A step of Poolscope's own, run now."""
    step.__name__ = kind
    return Call(step, [taken], lambda flat: (tuple(flat), {}), (taken,), (step(taken),), "", weights, ())


def _weights(examined: Examined, calls: Sequence[Call]) -> list[Weight]:
    names = dict.fromkeys(chain.from_iterable(call.weights for call in calls))
    probe = examined.probe
    if probe is not None:
        learned = [] if probe.query is None else [Weight("query", probe.query.shape, "probe")]
        own = {"weight": probe.weight, "bias": probe.bias}
        return [*learned, *(Weight(name, own[name].shape, "probe") for name in names)]
    used = {name: examined.backbone.model.get_parameter(name) for name in names}
    return [Weight(name, tuple(one.shape), origin(examined.backbone, name)) for name, one in used.items()]


def _step(examined: Examined, call: Call, weights: Mapping[str, Weight]) -> HeadStep:
    running = examined.backbone.model.get_submodule(call.module)
    learned = call.kind == "pooling" and "query" in weights
    used = [weights[name] for name in (("query",) if learned else call.weights)]
    kind = type(running).__module__  # its name says what it runs: not where a model's own code stands in it
    plain = kind.startswith(("torch.", "transformers.")) and not kind.startswith("transformers.models.")
    leaf = bool(call.lines) and not list(running.children()) and plain
    within = call.lines[0][0].co_qualname.rpartition("<locals>.")[2] if call.lines else ""
    taken, given = (one[0] if one.shape[0] == 1 else one for one in (call.taken[0], call.given[0]))
    return HeadStep(
        kind=call.kind,
        path=call.module if leaf else "",
        within=within.rsplit(".", 1)[0],
        weights=tuple(weight.name for weight in used),
        parameters=sum(torch.Size(weight.shape).numel() for weight in used),
        origin=min((weight.origin for weight in used), key=get_args(WeightOrigin).index, default=None),
        idle=call.idle,
        moves=call.moves,
        picks=_picks(call, examined.states.hidden.shape[1]),
        taken=carried(taken).float().numpy(),
        given=carried(given).float().numpy(),
    )


def _picks(call: Call, tokens: int) -> bool:
    """Tell whether it takes the tokens' axis (B, T, ...) away."""
    taken, given = call.taken[0].shape, call.given[0].shape
    return len(taken) == 3 and taken[1] == tokens and len(given) == 2


def _sources(examined: Examined, calls: Sequence[Call]) -> Iterator[Excerpt]:
    """Return what of the library ran, from the outside in: a pooling of Poolscope's own first."""
    lines = [  # in files that are there to be read, which a cell of a notebook is not
        (call, [line for line in call.lines if line[0].co_filename.startswith(LIBRARY)]) for call in calls
    ]
    tokens, ran = examined.states.hidden.shape[1], dict[CodeType, set[int]]()
    for function, number in chain.from_iterable(reversed(found) for _call, found in lines):
        ran.setdefault(function, set()).add(number)
    picks = {found[0] for call, found in lines if found and _picks(call, tokens)}
    if examined.probe is not None or swaps(examined.backbone, examined.query.pooling):
        yield source(POOLINGS[examined.query.pooling].function)
    for code, numbers in ran.items():
        yield source(code, numbers, {one for one in numbers if (code, one) in picks})


def origin(backbone: Backbone, name: str) -> WeightOrigin:
    """Tell where the model's tensor ``name`` comes from: the checkpoint's file, or nowhere."""
    if backbone.spec.live:
        return "object"
    if name in backbone.provenance.constant:
        return "constant"
    if name in backbone.provenance.mismatched:
        return "reshaped"
    return "new" if name in backbone.provenance.missing else "checkpoint"


def source(
    code: CodeType | Callable[..., Any], ran: Collection[int] = (), picks: Collection[int] = ()
) -> Excerpt:
    """Give a function as it is installed; of a long one, from the first statement that ``ran`` to the last.

    ``ran`` and ``picks`` are numbers of lines in its file. Raises OSError if the file is not there.
    """
    installed, first = inspect.getsourcelines(code)
    text, path = textwrap.dedent("".join(installed)), Path(inspect.getfile(code))
    lines = tuple(text.splitlines())
    if len(lines) > SHORT and ran:
        nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
        spans = [range(node.lineno - 1, node.end_lineno or node.lineno) for node in nodes]
        around = [min((span for span in spans if number - first in span), key=len) for number in ran]
        begin, end = min(span.start for span in around), max(span.stop for span in around)
        first, lines = first + begin, lines[begin:end]
    top = path.parent
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return Excerpt(
        title=code.co_qualname if isinstance(code, CodeType) else code.__qualname__,
        file=path.relative_to(top.parent).as_posix(),  # from its package on: transformers/models/...
        first=first,
        lines=lines,
        ran=tuple(sorted(ran)),
        picks=tuple(sorted(picks)),
    )


def look(examined: Examined) -> Lens:
    """Ask the head of ``examined`` about each hidden state, and about each layer behind its query's pooling.

    PoolscopeError where no hidden state can stand for the head's vector: that is wider, or a layer narrower.
    """
    states, kept = examined.states, examined.kept
    pooling, width, given = examined.query.pooling, states.hidden.shape[2], examined.outputs.vector.shape[1]
    if examined.lower:
        raise PoolscopeError("pool_layer", examined.query.pool_layer, "errors.lens_layer")
    if any(layer.shape[2] != width for layer in kept.hidden):
        raise PoolscopeError("pooling", pooling, "errors.widths")
    if given != width:
        raise PoolscopeError("pooling", pooling, "errors.lens_width", given=given, width=width)
    # the last went through the norm already
    layers = (*map(examined.backbone.normed, kept.hidden[:-1]), kept.hidden[-1])
    said = _on_vectors(examined)(torch.cat([layer[0] for layer in layers]))
    logits = said.reshape(len(layers), -1, said.shape[1])
    kind, asked = examined.outputs.problem_type, (examined.backbone, pooling, examined.probe)
    own = own_head(examined.backbone, kept)
    heads = (behind_pooling(*asked, states.upto(index), own) for index in range(len(layers)))
    whole = torch.cat([head(layer) for head, layer in zip(heads, layers, strict=True)])
    return Lens(
        logits=logits.numpy(),
        pooled=whole.numpy(),
        probabilities=probabilities(logits, kind),
        pooled_probabilities=probabilities(whole, kind),
        norm=examined.backbone.final_norm_path,
    )


def answered(examined: Examined) -> Analysis:
    """Give the answer, and what the head would say of each token alone where it reads one, and is trained."""
    found, states = analyse(examined), examined.kept.hidden[-1][0]
    fits = examined.outputs.vector.shape[1] == states.shape[1]
    if found.random or found.lower or not fits or len(found.reads.indices) != 1:
        return found
    return replace(found, alone=probabilities(_on_vectors(examined)(states), found.problem_type))


def _pointed(backbone: Backbone, kept: Pass, read: Sequence[int], answer: OutputOf) -> Head:
    """``answer`` with every final hidden state set to one vector: (N, D) -> (N, K).

    ``kept``: a pass of one input, of which ``answer`` reads the states ``read``. Heads that say the same of
    one state alone as of a row of equal ones, as most do, are given one: it is tried on two vectors.
    """

    def behind(kept: Pass, states: int) -> Head:
        def together(vectors: Tensor) -> Tensor:
            inputs = {name: value.expand(len(vectors), -1) for name, value in kept.inputs.items()}
            return answer(replace(kept, inputs=inputs), vectors[:, None].expand(-1, states, -1))

        return lambda vectors: torch.cat(
            [together(part) for part in torch.split(vectors, backbone.at_once(states))]
        )

    whole = behind(kept, kept.hidden[-1].shape[1])
    if not (backbone.per_token and read):
        return whole
    token = {name: value[:, read[0] : read[0] + 1] for name, value in kept.inputs.items()}
    short = behind(replace(kept, inputs=token), 1)
    two = kept.hidden[-1][0, [0, -1]]
    return short if torch.allclose(short(two), whole(two), rtol=1e-5, atol=1e-6) else whole


def _on_vectors(examined: Examined) -> Head:
    """The head on single vectors: (N, D) -> (N, K).

    Behind a pooler, or what the checkpoint declares, it takes what that makes of each.
    """
    backbone, kept, pooling = examined.backbone, examined.kept, examined.query.pooling
    read = examined.states.reads.places
    own = partial(replay, backbone.model, backbone.cut)
    head = linear(examined.probe) if examined.probe else _pointed(backbone, kept, read, own)
    if pooling == DECLARED and backbone.declared is not None:
        declared = backbone.declared
        return lambda vectors: head(declared.alone(vectors))
    if pooling == POOLER and backbone.pooler and (examined.probe or swaps(backbone, pooling)):
        pooler = _pointed(backbone, kept, read, backbone.pooler)
        return lambda vectors: head(pooler(vectors))
    return head
