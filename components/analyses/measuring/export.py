"""Programs to take home: the head of an examined query as Python without Poolscope, in two files.

A program prints the query's probabilities; a module is an ``nn.Module`` that can be trained on batches with
padding. What they say stands in assets/templates; here is what is measured for them. The layers of a head are
never looked up: it is traced, each step becomes the layer that does the same, and the layers are then
compared with the head itself, on random hidden states.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import torch
from torch import nn

from components.analyses.measuring.pooling_source import WIDTH, Import, literal, pooling_source
from components.declaration import Cut
from components.fitting import MINE
from components.model.backbone import own_head
from components.model.examine import Examined, examine
from components.model.heads import DECLARED, NATIVE, POOLER, swaps
from components.model.pooling import POOLINGS
from components.model.probes import place_of
from components.model.tracing import Call, trace
from components.settings import ASSETS
from components.types import Query

ROOT = ASSETS.parent
SAFELY = ["trust_remote_code=False", "use_safetensors=True", "dtype=torch.float32"]  # to load weights
LOWER = "# A layer below the last is pooled. There is no short program for this.\n"
FITTED = (
    "# The classifier was fitted on a table. `python -m components.lab` writes it down with its program.\n"
)
STEPS = {("torch", "nn"), ("sentence_transformers", "SentenceTransformer")}  # what `_declared` needs
EXAMPLE = "a b c d e"
ENOUGH = 3  # tokens that tell the first, the last and their average apart
LIKELY = ("first", "lasttoken", "mean")  # tried before the other poolings
ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    name.lower(): kind
    for name, kind in vars(nn.modules.activation).items()
    if inspect.isclass(kind) and issubclass(kind, nn.Module)
}
PARTS = {"reads", "pooler_output", "declared_output", "query"}  # of States: no own pooling looks at these


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
    needed: set[Import] = {
        *(("torch", ""), ("transformers", "AutoTokenizer")),
        ("transformers", "AutoModelForSequenceClassification"),
        *([] if own else [("safetensors.torch", "load_file")]),
    }
    probes = "" if own or backbone.spec.probes is None else _place(backbone.spec.probes)
    found = _common(examined, "" if whole else query.pooling, needed)
    layer = len(examined.states.layers) - 1 if examined.lower else None
    where = "/".join(place_of(query.task, query.pooling, layer))
    reads = examined.states.reads
    return _rendered(
        "program.jinja",
        **found,
        **(_cut(examined) if own and swapped else {}),
        pooling=query.pooling,
        swaps=swapped,
        whole=whole,
        probes=probes,
        layer=layer,
        held=lambda part: literal(f"{where}/{part}"),
        share=lambda: textwrap.wrap(f"[{', '.join(map(str, np.asarray(reads.share[0])))}]", WIDTH - 12),
    )


def module(examined: Examined) -> str:
    """Write Python that defines the query's pooling and head as an ``nn.Module`` and trains it one step."""
    if examined.lower:
        return LOWER
    if unfit := _unfit(examined):
        return unfit
    asked, tokenizer = examined.query.pooling, examined.backbone.tokenizer
    own = own_layers(examined, asked if examined.probe is None else NATIVE)
    pooling = asked if asked != NATIVE else own.native or "first"
    auto = (("transformers", "AutoModel"), ("transformers", "AutoTokenizer"))
    found = _common(examined, pooling, {("torch", ""), ("torch", "Tensor"), ("torch", "nn"), *auto})
    padding = None
    if not tokenizer.init_kwargs.get("pad_token"):  # which the tokenizer's own files do not name
        others = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        padding = next(one for one in others if one is not None)
    known = {
        "layers": f"(*output.{found['layers']}[:-1], hidden)",
        "mask": "attention_mask.bool()",
        "special": "special_tokens_mask.bool()",
        "cls": "attention_mask.argmax(dim=1)",  # the first attended token, or the last
        "pooler_output": "output.pooler_output",
        "declared_output": f'self.steps(features)["sentence_embedding"]{found["kept"]}',
        "query": "self.query",
    }
    if found["cls"] is not None:
        known["cls"] = "input_ids.eq(CLS).int().argmax(dim=1)"
    elif own.native == "lasttoken":
        known["cls"] = "attention_mask.cumsum(dim=1).argmax(dim=1)"
    return _rendered(
        "module.jinja",
        **found,
        pooling=pooling,
        own=own,
        swaps=swaps(examined.backbone, asked),
        states=[f"{field}={known.get(field, field)}" for field in found["fields"]],
        padding=padding,
    )


def _common(examined: Examined, pooling: str, needed: set[Import]) -> dict[str, Any]:
    """Return what both files are made of; ``pooling`` is the one that is written out, or "" for none."""
    backbone, own = examined.backbone, examined.encoded.tokens.cls
    spec, ids = backbone.spec, examined.encoded.inputs["input_ids"][0]
    code: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    if pooling:
        source = pooling_source(pooling)
        code, fields, needed = source.code, source.fields, needed | source.imports
    cuts: list[int] = []
    if "declared_output" in fields and backbone.declared is not None:
        needed |= STEPS
        cuts = [step.size for step in backbone.declared.says.steps if isinstance(step, Cut)]
    return {
        "examined": examined,
        "backbone": backbone,
        "pinned": ["revision=REVISION"] if spec.source == "hub" else [],
        "inside": Path(spec.location).is_relative_to(ROOT),
        "imports": _imports(needed),
        "fields": fields,
        "code": code,
        "cls": None if own < 0 else own,
        "typed": own != int(ids.eq(backbone.tokenizer.cls_token_id or 0).int().argmax()),
        "kept": f"[:, :{cuts[0]}]" if cuts else "",  # the numbers that ``encode`` keeps
        "layers": "decoder_hidden_states" if backbone.model.config.is_encoder_decoder else "hidden_states",
    }


def _cut(examined: Examined) -> dict[str, Any]:
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
    return {
        "cut": "model" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts),
        "handed": handed,
    }


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
    calls = _calls(example, pooling)
    layers = {call: code for call in calls if (code := _layer(call, backbone.model))}
    kept = tuple(layers)
    native = next((key for key in behind if _same(kept, key, example, swap=False)), None)
    lacking = (call for call in calls if call not in layers and not call.idle)
    return OwnLayers(
        native=native,
        code=tuple(_lines(layers, len(backbone.labels))),
        same=_same(kept, pooling, example, swap=True) if swap else native is not None,
        left_out=tuple(  # but for the pooling, which leaves one vector of those of all tokens
            call.kind for call in lacking if call.weights or call.given[0].dim() >= call.taken[0].dim()
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


def _same(calls: Sequence[Call], pooling: str, example: Examined, swap: bool) -> bool:
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
    found.globals.update(functions, declared=_declared, safely=SAFELY)
    return found


def _rendered(name: str, **values: object) -> str:
    return _templates().get_template(name).render(values)


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


def _comment(text: str, indent: str = "") -> str:
    mark = f"{indent}# "
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)


def _place(path: str) -> str:
    """A path from Poolscope's folder on, with / on every system; of one elsewhere its name alone.

    Where the owner of a server keeps a checkpoint is nobody else's business.
    """
    whole = Path(path)
    return whole.relative_to(ROOT).as_posix() if whole.is_relative_to(ROOT) else whole.name


def _declared(target: str, checkpoint: str, pinned: Sequence[str]) -> str:
    """Lines that load the steps behind the transformer that a checkpoint declares into ``target``."""
    head = target[: len(target) - len(target.lstrip())] + "modules = SentenceTransformer("
    options = ['device="cpu"', 'model_kwargs={"dtype": torch.float32}']
    remark = "# all that is declared behind the transformer"
    load = _call(head, [checkpoint, *pinned, *options])
    return f"{load}\n{target} = nn.Sequential(*list(modules)[1:])  {remark}"


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
