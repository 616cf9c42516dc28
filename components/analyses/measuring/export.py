"""Programs to take home: the head of an examined query as Python without Poolscope, in two files.

A program prints the query's probabilities; a module is an ``nn.Module`` that can be trained on batches with
padding. What they say stands in assets/templates; here is what is measured for them. The layers of a head are
never looked up: it is traced, each step becomes the layer that does the same, and the layers are then
compared with the head itself, on random hidden states. A pooling method is read from the module that defines
it, so that a new one can be exported as it is.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import jinja2
import torch
from torch import nn

from components.errors import PoolscopeError
from components.fitting import MINE
from components.model.backbone import own_head
from components.model.examine import DECLARED, NATIVE, POOLER, Examined, examine, swaps
from components.model.pooling import POOLINGS
from components.model.probes import place_of
from components.model.tracing import Call, trace
from components.settings import ASSETS
from components.texts import load_texts
from components.types import Cut, Query

ROOT = ASSETS.parent
WIDTH = 100  # of a line, in characters
LOWER = "# A layer below the last is pooled. There is no short program for this.\n"
FITTED = (
    "# The classifier was fitted on a table. `python -m components.lab` writes it down with its program.\n"
)
EXAMPLE = "a b c d e"
ENOUGH = 3  # tokens that tell the first, the last and their average apart
LIKELY = ("first", "lasttoken", "mean")  # tried before the other poolings
ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    name.lower(): kind
    for name, kind in vars(nn.modules.activation).items()
    if inspect.isclass(kind) and issubclass(kind, nn.Module)
}
FIELDS = (  # of States; assets/templates/states.jinja says what each is
    *("hidden", "layers", "mask", "special", "cls", "reads", "pooler_output", "declared_output", "query"),
)
PARTS = {"reads", "pooler_output", "declared_output", "query"}  # of these: no own pooling looks at them
Import = tuple[str, str]  # a module and the name to take from it, or "" for the module itself
OWN = ("components", "__future__")  # what no exported file imports
QUOTES = '"""'


def program(examined: Examined) -> str:
    """Write Python that prints the probabilities of the query, a line for each label, with seven digits."""
    query, backbone = examined.query, examined.backbone
    if query.head == MINE:
        return FITTED
    own, swapped = examined.probe is None, swaps(backbone, query.pooling)
    whole = own and not (examined.lower or swapped)  # the model as it is
    if examined.lower and (own or query.pooling in (POOLER, DECLARED)):
        return LOWER
    if not whole and (unfit := _unfit(examined)):
        return unfit
    needed = {("torch", ""), ("transformers", "AutoTokenizer")}
    needed |= {("transformers", "AutoModelForSequenceClassification")}
    layer = len(examined.states.layers) - 1 if examined.lower else None
    return _rendered(
        "program.jinja",
        examined,
        "" if whole else query.pooling,
        needed if own else {*needed, ("safetensors.torch", "load_file")},
        **(_cut(examined) if own and swapped else {}),
        whole=whole,
        layer=layer,
        where="/".join(place_of(query.task, query.pooling, layer)),
    )


def module(examined: Examined) -> str:
    """Write Python that defines the query's pooling and head as an ``nn.Module`` and trains it one step."""
    if examined.lower:
        return LOWER
    if unfit := _unfit(examined):
        return unfit
    asked = examined.query.pooling
    own = own_layers(examined, asked if examined.probe is None else NATIVE)
    pooling = asked if asked != NATIVE else own.native or "first"
    needed = {("torch", ""), ("torch", "Tensor"), ("torch", "nn")}
    needed |= {("transformers", "AutoModel"), ("transformers", "AutoTokenizer")}
    return _rendered("module.jinja", examined, pooling, needed, pooling=pooling, own=own)


def _rendered(name: str, examined: Examined, written: str, needed: set[Import], **values: object) -> str:
    """Fill a template; ``written`` is the pooling that is written out, or "" for none."""
    backbone, ids = examined.backbone, examined.encoded.inputs["input_ids"][0]
    source = pooling_source(written) if written else PoolingSource((), (), frozenset())
    cuts: list[int] = []
    if "declared_output" in source.fields and backbone.declared is not None:
        needed = needed | {("torch", "nn"), ("sentence_transformers", "SentenceTransformer")}
        cuts = [step.size for step in backbone.declared.says.steps if isinstance(step, Cut)]
    return (
        _templates()
        .get_template(name)
        .render(
            values,
            examined=examined,
            backbone=backbone,
            query=examined.query,
            probe=examined.probe,
            spec=backbone.spec,
            swaps=swaps(backbone, examined.query.pooling),
            pinned=["revision=REVISION"] if backbone.spec.source == "hub" else [],
            inside=Path(backbone.spec.location).is_relative_to(ROOT),
            imports=_imports(needed | source.imports),
            fields=source.fields,
            code=source.code,
            cls=examined.encoded.tokens.cls,
            found=int(ids.eq(backbone.tokenizer.cls_token_id or 0).int().argmax()),  # as a program finds it
            kept=f"[:, :{cuts[0]}]" if cuts else "",  # the numbers that ``encode`` keeps
            layers="decoder_hidden_states" if backbone.model.config.is_encoder_decoder else "hidden_states",
        )
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
        handed = next(name for name, value in given.items() if value is kept.hidden[-1])
    parts = path.split(".") if path else []
    cut = "model" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)
    return {"cut": cut, "handed": handed}


def _unfit(examined: Examined) -> str:
    """A comment that says why no short program can pool the hidden states; "" where one can."""
    if not examined.backbone.per_token:
        reason = "the states that its head receives stay inside of the model, and stand for no single token"
    elif not examined.backbone.body_alone:
        reason = "the classifier itself prepares what it reads"
    else:
        return ""
    name = examined.backbone.architecture
    says = f"{name} has no body that runs by itself: {reason}. There is no short program for this."
    return f"{_comment(says)}\n"


# The own head as layers.


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
    """Find the own head's layers behind ``pooling``: native, or one as wide as a hidden state."""
    backbone, example = examined.backbone, examined
    if examined.states.hidden.shape[1] < ENOUGH:
        example = examine(backbone, Query(backbone.spec.key, EXAMPLE))
    swap = swaps(backbone, pooling)
    behind = [POOLER]
    if pooling != POOLER or swap:  # the likely ones first
        every = dict.fromkeys((*LIKELY, *POOLINGS))
        behind = [key for key in every if not PARTS & {*pooling_source(key).fields}]
    kept, start = example.kept, example.kept.hidden[-1]
    head = own_head(backbone, kept)
    if pooling == POOLER and not swap and backbone.pooler is not None:  # what stands behind its own pooler
        with torch.no_grad():
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


# A pooling method as source that stands alone: the function, and what it calls.


@dataclass(frozen=True)
class PoolingSource:
    """``code``: definitions, each before it is used. ``fields``: what the method looks at, of States."""

    code: tuple[str, ...]
    fields: tuple[str, ...]
    imports: frozenset[Import]


@cache  # what is installed does not change while it runs
def pooling_source(key: str) -> PoolingSource:
    """Write the pooling method ``key`` with all that it needs, but for the class that it is called with."""
    function = POOLINGS[key].function
    source = inspect.getsource(sys.modules[function.__module__])
    tree = ast.parse(source)
    known: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            known[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node
    found = _with_needed(function.__name__, known)
    names = {name for node in found.values() for name in _names(node)}
    looked = {
        one.attr
        for node in found.values()
        for one in ast.walk(node)
        if isinstance(node, ast.FunctionDef) and isinstance(one, ast.Attribute)
        if ast.unparse(one.value) == node.args.args[0].arg  # the states
    }
    outer = [one for node in tree.body for one in _imported(node) if (one[1] or one[0]) in names]
    inner = [one for top in found.values() for node in ast.walk(top) for one in _imported(node)]
    needed = {("dataclasses", "dataclass"), ("torch", "Tensor")}
    if "reads" in looked:
        needed |= {("types", "SimpleNamespace")}
    return PoolingSource(
        code=tuple(_standing_alone(node, source) for node in found.values()),
        fields=tuple(field for field in FIELDS if field in looked),
        imports=frozenset([*outer, *inner, *needed]),
    )


def _with_needed(name: str, known: Mapping[str, ast.stmt]) -> dict[str, ast.stmt]:
    """The definition of ``name`` behind all that it needs of the functions and constants of a module."""
    found: dict[str, ast.stmt] = {}
    for needed in sorted(_names(known[name]) & known.keys() - {name}):
        found |= _with_needed(needed, known)
    return {**found, name: known[name]}


def _names(node: ast.stmt) -> set[str]:
    """The names that a definition uses; what decorates it is no part of it."""
    parts = node.body if isinstance(node, ast.FunctionDef) else [node]
    return {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}


def _imported(node: ast.AST) -> Iterator[Import]:
    """Return what an import takes, but for what is Poolscope's own."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] not in OWN:
        yield from ((str(node.module), alias.name) for alias in node.names)


def _standing_alone(definition: ast.stmt, source: str) -> str:
    """A definition as it is written in ``source``, its comments too, but for what cannot stand alone."""
    lines = dict(enumerate(source.splitlines(), start=1))
    chosen = {number: _wrapped(lines[number]) for number in _numbers(definition)}
    for node in ast.walk(definition):  # outer statements before those inside of them
        instead = _instead(node)
        if instead is not None and isinstance(node, ast.stmt) and chosen[node.lineno]:
            chosen.update({number: [] for number in _numbers(node)})
            chosen[node.lineno] = instead
    return "\n".join(line for part in chosen.values() for line in part)


def _numbers(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _instead(node: ast.AST) -> list[str] | None:
    """The lines to write for a statement that cannot stand alone, or None for one that can.

    Imports go to the top of the file. A guard against a part that is lacking goes: here none is. What else
    Poolscope tells a visitor becomes a ValueError with the same sentence in English.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return []
    if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
        return [] if isinstance(node.test.ops[0], ast.Is) and any(map(_refusal, node.body)) else None
    if isinstance(node, ast.Raise) and (error := _refusal(node)) is not None:
        _field, _given, key = error.args
        english = load_texts().entries[ast.literal_eval(key)]
        values = ", ".join(ast.unparse(keyword) for keyword in error.keywords)
        sentence = f"{literal(english)}.format({values})" if values else literal(english.format())
        return [f"{' ' * node.col_offset}raise ValueError({sentence})"]
    return None


def _refusal(node: ast.stmt) -> ast.Call | None:
    raised = node.exc if isinstance(node, ast.Raise) else None
    ours = isinstance(raised, ast.Call) and ast.unparse(raised.func) == PoolscopeError.__name__
    return raised if ours and isinstance(raised, ast.Call) else None


def _wrapped(line: str) -> list[str]:
    """A docstring that is too long for its line, cut between words; any other line as it is."""
    code = line.lstrip()
    if len(line) <= WIDTH or not code.endswith(QUOTES):
        return [line]
    indent, said = line[: -len(code)], code[: -len(QUOTES)]
    room = WIDTH - len(indent)
    room -= len(QUOTES) if len(said) <= room else 0  # what fits but for its end is cut, too
    return [*(indent + part for part in textwrap.wrap(said, room, break_on_hyphens=False)), indent + QUOTES]


# Pieces of Python source that fit the page.


@cache  # the files do not change while it runs
def _templates() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    functions = {"literal": literal, "call": _call, "strings": _strings, "comment": _comment, "place": _place}
    found.globals.update(functions, assigned=_assigned, wrap=textwrap.wrap, WIDTH=WIDTH)
    return found


def literal(text: str) -> str:
    """Write ``text`` as source, on one line and whatever it holds; in double quotes where both would do."""
    source = repr(text)  # escapes all that is not printable, marks that turn the direction of text included
    return f'"{source[1:-1]}"' if source[0] == "'" and '"' not in text else source


def _call(head: str, parts: Sequence[str], tail: str = ")") -> str:
    """``head``, ``parts`` with commas between them, and ``tail``, on as few lines as the width allows."""
    inner, indent = ", ".join(parts), head[: len(head) - len(head.lstrip())]
    if len(head) + len(inner) + len(tail) <= WIDTH:
        return f"{head}{inner}{tail}"
    lines = [inner] if len(indent) + 4 + len(inner) <= WIDTH else [f"{part}," for part in parts]
    return "\n".join([head, *(f"{indent}    {line}" for line in lines), indent + tail])


def _strings(name: str, values: Sequence[str]) -> str:
    parts = [literal(value) for value in values]
    line = f"{name} = ({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return (
        line if len(line) <= WIDTH else "\n".join([f"{name} = (", *(f"    {part}," for part in parts), ")"])
    )


def _assigned(names: Sequence[str], values: Mapping[str, str]) -> list[str]:
    return [f"{name}={values.get(name, name)}" for name in names]


def _comment(text: str, indent: str = "") -> str:
    mark = f"{indent}# "
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)


def _place(path: str) -> str:
    """A path from Poolscope's folder on, with / on every system; of one elsewhere its name alone.

    Where the owner of a server keeps a checkpoint is nobody else's business.
    """
    whole = Path(path)
    return whole.relative_to(ROOT).as_posix() if whole.is_relative_to(ROOT) else whole.name


def _imports(wanted: Iterable[Import]) -> str:
    """Import lines, the standard library's above the others, each part in the order that linters know."""
    names: dict[str, list[str]] = {}
    for module, name in sorted(wanted):
        names.setdefault(module, []).append(name)
    standard = [module for module in names if module.split(".")[0] in sys.stdlib_module_names]
    parts = []
    for modules in (standard, [module for module in names if module not in standard]):
        whole = [f"import {module}" for module in modules if "" in names[module]]
        taken = {module: ", ".join(filter(None, names[module])) for module in modules}
        chosen = (f"from {module} import {one}" for module, one in taken.items() if one)
        parts.append("\n".join([*whole, *chosen]))
    return "\n\n".join(filter(None, parts))
