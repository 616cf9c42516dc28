"""What a visitor can take home of an examined query: what its head says, as Python without Poolscope."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from torch import Tensor

from components.analyses.measuring.export import text
from components.analyses.measuring.export.pooling import PoolingSource, pooling_source
from components.fitting import MINE
from components.model.backbone import Provenance
from components.model.examine import Examined
from components.model.heads import DECLARED, NATIVE, POOLER, swaps
from components.model.probes import place_of

MEANING = {  # of the logits, by problem type
    "single_label": "probabilities = logits.softmax(dim=-1)",
    "multi_label": "probabilities = logits.sigmoid()  # each label by itself",
    "regression": "probabilities = logits  # a regression: the values themselves",
}
AUTO = ("AutoModelForSequenceClassification", "AutoTokenizer")
PRINT = """\
for label, probability in zip(LABELS, probabilities.tolist(), strict=True):
    print(f"{label}: {probability:.7f}")"""


def program(examined: Examined) -> str:
    """Python that prints the probabilities of the query, one line for each label, with seven digits."""
    if examined.query.head == MINE:
        return text.MINE
    own = examined.probe is None
    swapped = examined.lower or swaps(examined.backbone, examined.query.pooling)
    whole = own and not swapped  # the model as it is
    if examined.lower and (own or examined.query.pooling in (POOLER, DECLARED)):
        return text.LOWER
    if text.unfit(examined) and not whole:
        return f"{text.unfit(examined)}\n"
    needed: set[text.Import] = {("torch", ""), *(("transformers", name) for name in AUTO)}
    if not own:
        needed.add(("safetensors.torch", "load_file"))
    source = None if whole else pooling_source(examined.query.pooling)
    if source is not None:
        needed |= source.imports
        needed |= text.DECLARED if "declared_output" in source.fields else set()
    top = "\n\n".join([f'"""{_summary(examined)}"""', text.imports(needed), _constants(examined)])
    steps = "\n\n".join(_steps(examined, source))
    return text.file([top, *source.code, steps] if source else [f"{top}\n\n{steps}"])


def _summary(examined: Examined) -> str:
    pooling = examined.query.pooling
    if examined.probe is not None:
        return f"What a linear classifier says of one input, on the vector of the pooling {pooling}."
    says = f"What {examined.backbone.architecture} says of one input."
    if swaps(examined.backbone, pooling):
        return f"{says}\n\nThe pooling {pooling} takes the place of its own.\n"
    return says if pooling == NATIVE else f"{says}\n\nIts own head stands behind the pooling {pooling}.\n"


def _constants(examined: Examined) -> str:
    query, spec = examined.query, examined.backbone.spec
    lines = [text.located(spec)]
    if examined.probe is not None and spec.probes is not None:
        lines.append(f"PROBES = {text.literal(text.place(spec.probes))}")
    lines.append(f"TEXT = {text.literal(query.text)}")
    if query.text_pair:
        lines.append(f"PAIR = {text.literal(query.text_pair)}")
    return "\n".join([*lines, text.strings("LABELS", examined.outputs.labels)])


def _steps(examined: Examined, source: PoolingSource | None) -> Iterator[str]:
    """What the program does, one paragraph after the other."""
    yield _loading(examined)
    yield _inputs(examined, source.fields if source else ())
    if source is not None:
        yield _pooling(examined, source.fields)
    if examined.probe is not None:
        parts = [f"{part} = probes[{_place(examined, part)}].float()" for part in ("weight", "bias")]
        yield "\n".join([*parts, "logits = weight @ vector[0] + bias"])
    elif source is not None:
        yield _swap(examined)
    else:
        yield "logits = model(**inputs).logits[0]"
    yield f"{MEANING[examined.outputs.problem_type]}\n{PRINT}"


def _loading(examined: Examined) -> str:
    spec, lost = examined.backbone.spec, examined.backbone.provenance
    lines = [text.tokenizer(spec)]
    if lost.missing or lost.mismatched:
        lines.append(text.comment(_lost(lost)))
        lines.append("torch.manual_seed(0)")
    reshaped = ["ignore_mismatched_sizes=True"] if lost.mismatched else []
    options = ["CHECKPOINT", *text.revision(spec), *text.SAFELY, *reshaped]
    head = "model = AutoModelForSequenceClassification.from_pretrained("
    lines.append(text.spread(head, [f"{option}," for option in options]))
    lines.append("model.eval().requires_grad_(False)  # no dropout, no gradients")
    if examined.probe is not None:
        lines.append("probes = load_file(PROBES)  # of this backbone, in half precision")
    return "\n".join(lines)


def _lost(lost: Provenance) -> str:
    """What of the model is new, and why; what of that is random, and what is not."""
    absent = [f"does not hold {', '.join(lost.missing)}"] if lost.missing else []
    other = [f"holds {', '.join(lost.mismatched)} in another shape"] if lost.mismatched else []
    drawn = [name for name in (*lost.missing, *lost.mismatched) if name not in lost.constant]
    new = [f"{', '.join(drawn)}: random numbers, alike every time."] if drawn else []
    new += [f"{', '.join(lost.constant)}: one and the same number throughout."] if lost.constant else []
    return " ".join([f"The checkpoint {' and '.join(absent + other)}. New instead:", *new])


def _inputs(examined: Examined, fields: tuple[str, ...]) -> str:
    texts = ["TEXT", "PAIR"] if examined.query.text_pair else ["TEXT"]
    limit = ["truncation=True", f"max_length={examined.backbone.limit}"]
    special = ["return_special_tokens_mask=True"] if "special" in fields else []
    line = text.call("inputs = tokenizer(", [*texts, *limit, *special, 'return_tensors="pt"'])
    taken = 'special = inputs.pop("special_tokens_mask").bool()  # the model does not take it'
    return f"{line}\n{taken}" if special else line


def _pooling(examined: Examined, fields: tuple[str, ...]) -> str:
    """From the inputs to the pooled vector."""
    below = "layers" in fields or examined.lower
    output = f"model.base_model(**inputs{', output_hidden_states=True' if below else ''})"
    declared = "declared_output" in fields
    looks = below or declared or "hidden" in fields
    lines = [
        f"output = {output}  # all but the head",
        *([_hidden(examined)] if looks else []),
        *(_declared(examined) if declared else []),
        text.spread("states = States(", [line for field in fields for line in FIELDS[field](examined)]),
        f"vector = {examined.query.pooling}(states)  # (1, D)",
    ]
    return "\n".join(lines)


def _hidden(examined: Examined) -> str:
    """The hidden states of the layer that is pooled."""
    if not examined.lower:
        return "hidden = output[0]  # (1, T, D), what the head receives"
    layer = len(examined.states.layers) - 1
    return f"hidden = output.{text.layers_name(examined)}[{layer}]  # (1, T, D), of this layer"


def _below(examined: Examined) -> list[str]:
    """The hidden states from the embeddings up to the layer that is pooled."""
    end = len(examined.states.layers) - 1 if examined.lower else -1
    return [f"layers=(*output.{text.layers_name(examined)}[:{end}], hidden),"]


def _declared(examined: Examined) -> Iterator[str]:
    """What the checkpoint's modules.json makes of the hidden states, by sentence-transformers itself."""
    mask = 'inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))'
    yield text.declared(examined.backbone.spec, "steps")
    yield f'features = {{"token_embeddings": hidden, "attention_mask": {mask}}}'
    yield f'declared_output = steps(features)["sentence_embedding"]{text.kept(examined)}'


def _swap(examined: Examined) -> str:
    """The head on the pooled vector, which a hook hands it in the place of every final hidden state."""
    kept, model = examined.kept, examined.backbone.model
    handed = kept.handed[examined.backbone.cut]
    path = next(name for name, part in model.named_modules() if part is examined.backbone.cut)
    if isinstance(handed, Tensor):
        given = ["return vector[:, None].expand_as(output)"]
    elif isinstance(handed, Mapping):
        name = next(name for name, value in handed.items() if value is kept.hidden[-1])
        given = [f"output.{name} = vector[:, None].expand_as(output.{name})", "return output"]
    else:
        given = ["return (vector[:, None].expand_as(output[0]), *output[1:])"]
    says = '"""Give the head the vector in the place of every final hidden state."""'
    hook = text.spread("def swap(_module, _inputs, output):", [says, *given], "").rstrip()
    register = f"{attribute('model', path)}.register_forward_hook(swap)  # behind it the head begins"
    return f"\n{hook}\n\n\n{register}\nlogits = model(**inputs).logits[0]"


def attribute(model: str, path: str) -> str:
    """How to write the module at ``path`` in ``model``: with a dot before names, in brackets if numbers."""
    parts = path.split(".") if path else []
    return model + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)


def _mask(examined: Examined) -> list[str]:
    if "attention_mask" in examined.encoded.inputs:
        return ['mask=inputs["attention_mask"].bool(),']
    return ['mask=torch.ones_like(inputs["input_ids"], dtype=torch.bool),']


def _cls(examined: Examined) -> list[str]:
    """Where [CLS] stands: computed where that is simple, else as measured."""
    own, ids = examined.encoded.tokens.cls, examined.encoded.inputs["input_ids"][0]
    if own < 0:
        alone = int(examined.states.reads.positions.sum()) == 1
        reason = "the own head reads this token alone" if alone else "this is the first token"
        measured = f"# measured: the input has no [CLS], and {reason}"
        return [measured, f"cls=torch.tensor({examined.states.cls.tolist()}),"]
    if int(ids.eq(examined.backbone.tokenizer.cls_token_id).int().argmax()) == own:
        return ['cls=inputs["input_ids"].eq(tokenizer.cls_token_id).int().argmax(dim=1),']
    return ["# the tokenizer's own, behind one that was typed", f"cls=torch.tensor([{own}]),"]


def _reads(examined: Examined) -> list[str]:
    """What the own head reads, as numbers: to measure it takes more than a short program."""
    share = ", ".join(str(value) for value in np.asarray(examined.states.reads.share[0]))
    says = "# measured on this text: what the own head reads of each of its tokens"
    rows = textwrap.wrap(f"[{share}]", text.WIDTH - 12)
    return [
        says,
        "reads=SimpleNamespace(",
        "    share=torch.tensor([",
        *(f"        {row}" for row in rows),
        "    ]),",
        "),",
    ]


FIELDS: Mapping[str, Callable[[Examined], list[str]]] = {  # arguments of States, by its fields
    "hidden": lambda _examined: ["hidden=hidden,"],
    "layers": _below,
    "mask": _mask,
    "special": lambda _examined: ["special=special,"],
    "cls": _cls,
    "reads": _reads,
    "pooler_output": lambda _examined: ["pooler_output=output.pooler_output,"],
    "declared_output": lambda _examined: ["declared_output=declared_output,"],
    "query": lambda examined: [f"query=probes[{_place(examined, 'query')}].float(),"],
}


def _place(examined: Examined, part: str) -> str:
    """The name of a probe's tensor, as source."""
    layer = len(examined.states.layers) - 1 if examined.lower else None
    return text.literal("/".join((*place_of(examined.query.task, examined.query.pooling, layer), part)))
