"""Programs to take home: the head of an examined query as Python without Poolscope.

A program prints the query's probabilities; a module is an ``nn.Module`` that can be trained on batches with
padding; a classifier takes any text, and tables. What they say stands in assets/templates; here is what is
measured for them. The layers of a head are never looked up: it is traced, each step becomes the layer that
does the same, and the layers are then compared with the head itself, on random hidden states. A pooling
method is read from the module that defines it, so that a new one can be exported as it is.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import torch
from jinja2 import Environment
from torch import nn

from components.model.backbone import own_head
from components.model.cut import noise_like, states_in
from components.model.declared import Stacked
from components.model.examine import DECLARED, NATIVE, POOLER, Examined, examine, swaps
from components.model.pooling import POOLINGS
from components.model.probes import place_of
from components.model.tracing import Call, trace
from components.own_head import MINE
from components.settings import ASSETS, space
from components.texts import environment, load_texts
from components.types import Cut, Query, grouped

ROOT = ASSETS.parent
WIDTH = 110  # of a line, in characters
LOWER = "# A layer below the last is pooled. There is no short program for this.\n"
FITTED = "# The classifier was fitted on a table. `poolscope lab` writes it down with its program.\n"
STACKED = "# Another vector stands before the head of modules.json: there is no short program for this.\n"
ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    name.lower(): kind
    for name, kind in vars(nn.modules.activation).items()
    if inspect.isclass(kind) and issubclass(kind, nn.Module)
}
PARTS = ("reads", "pooler_output", "declared_output", "learned_query")  # no own pooling looks at them
FIELDS = ("hidden", "layers", "mask", "special", "cls", *PARTS)  # of States, as assets/templates/states.jinja
Import = tuple[str, str]  # a module and the name to take from it, or "" for the module itself
INNER = re.compile(r"^    (?:import|from) .*\n\n?", re.MULTILINE)  # an import inside of a method
REFUSED = re.compile(r'raise PoolscopeError\("pooling", "\w+", "([\w.]+)"\)')


def program(examined: Examined) -> str:
    """Write Python that prints the probabilities of the query, a line for each label, with seven digits."""
    query, backbone = examined.query, examined.backbone
    if query.head == MINE:
        return FITTED
    own, swapped = examined.probe is None, swaps(backbone, query.pooling)
    whole = own and not (examined.lower or swapped)  # the model as it is
    if examined.lower and (own or query.pooling in (POOLER, DECLARED)):
        return LOWER
    stacked = own and isinstance(backbone.model, Stacked)
    if (not whole or backbone.adapted is not None) and (unfit := STACKED if stacked else _unfit(examined)):
        return unfit
    if stacked:
        return _rendered("scored.jinja", examined, "")
    cut = _cut(examined) if own and swapped else {}
    return _rendered("program.jinja", examined, "" if whole else query.pooling, whole=whole, **cut)


def module(examined: Examined) -> str:
    """Write Python that defines the query's pooling and head as an ``nn.Module`` and trains it one step."""
    if examined.lower:
        return LOWER
    if unfit := _unfit(examined):
        return unfit
    if says := examined.backbone.untaught:
        return _refusal(f"{type(examined.backbone.model).__name__} says: {says}")
    asked = examined.query.pooling
    own = own_layers(examined, asked if examined.probe is None else NATIVE)
    pooling = asked if asked != NATIVE else own.native or "first"
    body = type(examined.backbone.model.base_model).__name__  # AutoModel may give another: one with a decoder
    return _rendered("module.jinja", examined, pooling, pooling=pooling, own=own, body=body)


def classifier(examined: Examined, columns: Sequence[str]) -> str:
    """Write Python that classifies texts, or a table's ``columns``; probe and checkpoint stand beside it."""
    pooling = examined.query.pooling
    native = own_layers(examined, NATIVE).native if examined.backbone.body_alone else None
    unfit = LOWER if examined.lower and pooling in (POOLER, DECLARED) else _unfit(examined)
    if not unfit and pooling == NATIVE and native is None:
        unfit = _refusal("What the checkpoint's own head reads is measured; no other pooling is the same.")
    if unfit:
        return f"{unfit}raise SystemExit({literal(' '.join(unfit.replace('#', '').split()))})\n"
    pooling = str(native) if pooling == NATIVE else pooling
    return _rendered("classifier.jinja", examined, pooling, columns=columns, native=native, pooling=pooling)


def _rendered(name: str, examined: Examined, written: str, **values: object) -> str:
    """Fill a template; ``written`` is the pooling that is written out, or "" for none."""
    backbone, query, ids = examined.backbone, examined.query, examined.passed.encoded.inputs["input_ids"][0]
    layer = len(examined.states.layers) - 1 if examined.lower else None
    source = pooling_source(written) if written else PoolingSource((), (), frozenset())
    declared = backbone.declared if "declared_output" in source.fields else None
    cuts = [step.size for step in declared.says.steps if isinstance(step, Cut)] if declared else []
    template = _templates().get_template(name)
    return template.render(
        values,
        examined=examined,
        backbone=backbone,
        query=query,
        probe=examined.probe,
        spec=backbone.spec,
        swaps=swaps(backbone, query.pooling),
        layer=layer,
        where="/".join(place_of(query.task, query.pooling, layer)),  # of a probe, in its file
        pinned=["revision=REVISION"] if backbone.spec.source == "hub" else [],
        inside=Path(backbone.spec.location).is_relative_to(ROOT),
        space=space(),
        imports=partial(_imports, source.imports),
        fields=source.fields,
        code=source.code,
        cls=examined.passed.encoded.tokens.cls,
        found=int(ids.eq(backbone.tokenizer.cls_token_id or 0).int().argmax()),  # as a program finds it
        kept=f"[:, :{cuts[0]}]" if cuts else "",  # the numbers that ``encode`` keeps
        layers="decoder_hidden_states" if backbone.model.config.is_encoder_decoder else "hidden_states",
    )


def _cut(examined: Examined) -> dict[str, str | None]:
    """Tell how the module behind which the head begins is written, and what of its output holds the states.

    ``handed``: None for a tensor, a name for a mapping, "" for the first of a tuple.
    """
    kept, model = examined.kept, examined.backbone.model
    given = kept.handed[examined.backbone.cut]
    path = next(name for name, part in model.named_modules() if part is examined.backbone.cut)
    handed: str | None = None if isinstance(given, torch.Tensor) else ""
    if isinstance(given, Mapping):
        handed = next(name for name, value in given.items() if value is states_in(given))
    parts = path.split(".") if path else []
    cut = "model" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)
    return {"cut": cut, "handed": handed}


def _unfit(examined: Examined) -> str:
    """A comment that says why no short program can pool the hidden states; "" where one can."""
    if examined.backbone.adapted is not None:
        return _refusal("An adapter was merged into this model: save what peft merges, and ask for that.")
    if not examined.backbone.per_token:
        reason = "the states that its head receives stay inside of the model, and stand for no single token"
    elif not examined.backbone.body_alone:
        reason = "the classifier itself prepares what it reads"
    else:
        return ""
    return _refusal(f"{examined.backbone.architecture} has no body that runs by itself: {reason}.")


def _refusal(says: str) -> str:
    return f"{_comment(f'{says} There is no short program for this.')}\n"


@dataclass(frozen=True)
class OwnLayers:
    """The own head as layers, behind a pooled vector.

    ``native``: the pooling that the own head turns out to stand behind, or None. ``code``: one line of source
    for each layer. ``same``: whether they give the own head's logits. ``left_out``: steps without a layer.
    """

    native: str | None
    code: tuple[str, ...]
    same: bool
    left_out: tuple[str, ...]


def own_layers(examined: Examined, pooling: str) -> OwnLayers:
    """Find the own head's layers behind ``pooling``: native, or one as wide as a hidden state."""
    backbone, example = examined.backbone, examined
    if examined.states.hidden.shape[1] < 3:  # which tell the first, the last and their average apart
        example = examine(backbone, Query(backbone.spec.key, "a b c d e"))
    swap = swaps(backbone, pooling)
    behind = [POOLER]
    if pooling != POOLER or swap:
        every = dict.fromkeys(("first", "lasttoken", "mean", *POOLINGS))  # the likely ones first
        behind = [key for key in every if not {*PARTS} & {*pooling_source(key).fields}]
    kept, start = example.kept, example.kept.hidden[-1]
    head = own_head(backbone, kept)
    if pooling == POOLER and not swap and backbone.pooler is not None:  # what stands behind its own pooler
        head, start = partial(backbone.pooler.behind, kept), backbone.pooler(kept, start)
    calls = trace(backbone.model, head, start)
    layers = {call: code for call in calls if (code := _layer(call, backbone.model))}
    native = next((key for key in behind if _same(layers, key, example, swap=False)), None)
    lacking = (call for call in calls if call not in layers and not call.idle)
    return OwnLayers(
        native=native,
        code=tuple(_lines(layers, len(backbone.labels))),
        same=_same(layers, pooling, example, swap=True) if swap else native is not None,
        left_out=tuple(  # but for the pooling, which leaves one vector of those of all tokens
            call.kind for call in lacking if call.weights or call.given[0].dim() >= call.taken[0].dim()
        ),
    )


def _same(calls: Iterable[Call], pooling: str, example: Examined, swap: bool) -> bool:
    """Tell whether the calls alone, on a pooled vector, give the logits of the own head.

    Random hidden states tell any two poolings apart. For a swap, the own head is given the vector everywhere.
    """
    hidden = example.kept.hidden[-1]
    noise = noise_like(hidden) * hidden.std()
    vector = POOLINGS[pooling](example.states.ending(noise))  # (1, D')
    widths = {hidden.shape[2], *(call.taken[0].shape[-1] for call in list(calls)[:1])}
    if {vector.shape[1]} != widths:  # the first layer may take several vectors side by side
        return False
    received = vector[:, None].expand_as(noise) if swap else noise
    truth = own_head(example.backbone, example.kept)(received)
    for call in calls:
        (vector,) = call.again({id(call.taken[0]): vector})
    return vector.shape == truth.shape and torch.allclose(vector, truth, rtol=1e-4, atol=1e-5)


def _layer(call: Call, model: nn.Module) -> str | None:
    """The layer that does what the call did, as source, or None if there is none."""
    if len(call.taken) != 1 or len(call.given) != 1:
        return None
    module, taken, given = model.get_submodule(call.module), call.taken[0], call.given[0]
    if call.kind == "linear":
        bias = "" if sum(isinstance(one, torch.Tensor) for one in call.arguments) == 3 else ", bias=False"
        return f"nn.Linear({taken.shape[-1]}, {given.shape[-1]}{bias})"
    if isinstance(module, nn.Dropout):
        return f"nn.Dropout({module.p})"
    if isinstance(module, nn.LayerNorm):
        bias = "" if module.bias is not None else ", bias=False"
        return f"nn.LayerNorm({taken.shape[-1]}, eps={module.eps}{bias})"
    kind = ACTIVATIONS.get(call.kind.replace("_", ""))
    if kind is None:
        return None
    known, (_args, named) = inspect.signature(kind).parameters, call.rebuild(call.arguments)
    options = {name: value for name, value in named.items() if name in known and value != known[name].default}
    if not torch.allclose(kind(**options)(taken), given):
        return None
    return f"nn.{kind.__name__}({', '.join(f'{name}={value!r}' for name, value in options.items())})"


def _lines(layers: Mapping[Call, str], labels: int) -> Iterator[str]:
    """The layers' source and the modules that they stand for; the last linear one has ``labels`` outputs."""
    last = next((call for call in reversed([*layers]) if call.kind == "linear"), None)
    for call, code in layers.items():
        line = code.replace(f", {labels}", ", labels", 1) if call is last else code
        yield f"{line},  # {call.module}" if call.module and call.weights else f"{line},"


@dataclass(frozen=True)
class PoolingSource:
    """``code``: definitions, each before it is used. ``fields``: what the method looks at, of States."""

    code: tuple[str, ...]
    fields: tuple[str, ...]
    imports: frozenset[Import]


@cache  # what is installed does not change while it runs
def pooling_source(key: str) -> PoolingSource:
    """Write the pooling method ``key`` with all that it needs, but for the class that it is called with.

    Imports go to the top of the file. What Poolscope tells a visitor becomes a ValueError in English.
    """
    found = _with_needed(POOLINGS[key].function.__name__, sys.modules[POOLINGS[key].function.__module__])
    whole = "\n".join(found.values())
    fields = tuple(field for field in FIELDS if re.search(rf"\bstates\.{field}\b", whole))
    imports = {("dataclasses", "dataclass"), ("torch", "Tensor")}
    imports |= {("types", "SimpleNamespace")} if "reads" in fields else set()
    for node in ast.walk(ast.parse(whole)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)  # of what stands behind "from"
            imports |= {(module, one.name) if module else (one.name, "") for one in node.names}
    said, alone = load_texts().entries, (INNER.sub("", code).rstrip() for code in found.values())
    english = partial(REFUSED.sub, lambda one: f"raise ValueError({literal(said[one[1]].format())})")
    return PoolingSource(tuple(map(english, alone)), fields, frozenset(imports))


def _with_needed(name: str, module: ModuleType) -> dict[str, str]:
    """The source of ``name`` behind that of all that it needs of the functions and numbers of a module."""
    value = getattr(vars(module)[name], "function", vars(module)[name])
    if inspect.isfunction(value):
        source = inspect.getsource(value)
        source = source[f"\n{source}".index("\ndef ") :]  # what decorates it is no part of it
    else:
        source = next(line for line in inspect.getsource(module).splitlines() if line.startswith(f"{name} ="))
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    found: dict[str, str] = {}
    for one in sorted(used & vars(module).keys() - {name}):
        if not inspect.isclass(vars(module)[one]):
            found |= _with_needed(one, module)
    return {**found, name: source}


@cache  # the files do not change while it runs
def _templates() -> Environment:
    found = environment(html=False)
    functions = {"literal": literal, "call": _call, "strings": _strings, "comment": _comment, "place": _place}
    found.globals.update(functions, assigned=_assigned, wrap=textwrap.wrap, WIDTH=WIDTH)
    return found


def literal(text: str) -> str:
    """Write ``text`` as source, on one line and whatever it holds; in double quotes where both would do."""
    source = repr(text)  # escapes all that is not printable, marks that turn the direction of text included
    return f'"{source[1:-1]}"' if source[0] == "'" and '"' not in text else source


def _call(head: str, parts: Sequence[str], tail: str = ")") -> str:
    """``head``, ``parts`` with commas between them, and ``tail``: on one line, or one for each part."""
    line, indent = f"{head}{', '.join(parts)}{tail}", head[: len(head) - len(head.lstrip())]
    if len(line) <= WIDTH:
        return line
    return "\n".join([head, *(f"{indent}    {part}," for part in parts), indent + tail.lstrip(",")])


def _strings(name: str, values: Sequence[str]) -> str:
    return _call(f"{name} = (", [literal(value) for value in values], ",)" if len(values) == 1 else ")")


def _assigned(names: Sequence[str], values: Mapping[str, str]) -> list[str]:
    return [f"{name}={values.get(name, name)}" for name in names]


def _comment(text: str, indent: str = "") -> str:
    mark = f"{indent}# "
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)


def _place(path: str) -> str:
    """A path from Poolscope's folder on, with / on every system; of one elsewhere, for privacy, its name."""
    whole = Path(path)
    return whole.relative_to(ROOT).as_posix() if whole.is_relative_to(ROOT) else whole.name


def _imports(source: Iterable[Import], *named: str) -> str:
    """Import lines, the standard library's above the others, each part in the order that linters know.

    ``named``: modules, or as in "pathlib Path"; nothing for none.
    """
    more = (one.partition(" ")[::2] for one in named if one)
    names = grouped(sorted({*source, *more}))
    whole = {f"import {module}": module for module in names if "" in names[module]}
    taken = {module: ", ".join(filter(None, names[module])) for module in names}
    lines = whole | {f"from {module} import {each}": module for module, each in taken.items() if each}
    own = [line for line, module in lines.items() if module.split(".")[0] in sys.stdlib_module_names]
    others = [line for line in lines if line not in own]
    return "\n\n".join("\n".join(part) for part in (own, others) if part)
