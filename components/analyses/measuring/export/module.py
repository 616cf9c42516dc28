"""A pooling and a head as source of an nn.Module that can be trained on batches with padding."""

from __future__ import annotations

from collections.abc import Sequence

from components.analyses.measuring.export import text
from components.analyses.measuring.export.layers import OwnLayers, own_layers
from components.analyses.measuring.export.pooling import pooling_source
from components.model.backbone import Backbone
from components.model.examine import Examined
from components.model.heads import NATIVE, swaps

LOSS = {  # by problem type
    "single_label": "nn.functional.cross_entropy(logits, labels)",
    "multi_label": "nn.functional.binary_cross_entropy_with_logits(logits, labels.float())",
    "regression": "nn.functional.mse_loss(logits, labels.float().view_as(logits))",
}
TARGETS = {  # of two texts, by problem type
    "single_label": "torch.tensor([0, {last}])",
    "multi_label": "torch.eye(2, {count})",
    "regression": "torch.eye(2, {count})",
}
SECOND = "Another text, so that there is padding."
INDENT = " " * 8  # of a method's body
LAST = "attention_mask.cumsum(dim=1).argmax(dim=1)"  # index of the last attended token
FIRST = "attention_mask.argmax(dim=1)"
CLASS = """\
class Classifier(nn.Module):
    \"""The body of a checkpoint, a pooling, and a head that starts new: train it.\"""
"""
STEP = """\
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    loss = model(**batch, labels=labels)["loss"]
    print(f"loss before a step: {loss.item():.7f}")
    loss.backward()
    optimizer.step()
    print(f"loss after it: {model(**batch, labels=labels)['loss'].item():.7f}")"""


def module(examined: Examined) -> str:
    """Python that defines the query's pooling and head as an ``nn.Module`` and trains it one step."""
    if examined.lower:
        return text.LOWER
    if text.unfit(examined):
        return f"{text.unfit(examined)}\n"
    own = own_layers(examined, examined.query.pooling if examined.probe is None else NATIVE)
    asked = examined.query.pooling
    pooling = asked if asked != NATIVE else own.native or "first"
    source = pooling_source(pooling)
    needed = source.imports | {("torch", ""), ("torch", "Tensor"), ("torch", "nn")}
    needed |= text.DECLARED if "declared_output" in source.fields else set()
    needed |= {("transformers", "AutoModel"), ("transformers", "AutoTokenizer")}
    summary = f'"""A classifier with the pooling {pooling}, ready for training."""'
    top = [summary, text.imports(needed), _constants(examined, source.fields)]
    methods = [_init(examined, own, source.fields), _forward(examined, own, pooling, source.fields)]
    classifier = "\n".join([CLASS, "\n\n".join(methods)])
    return text.file(["\n\n".join(top), *source.code, classifier, _main(examined, source.fields)])


def _constants(examined: Examined, fields: Sequence[str]) -> str:
    lines = [text.located(examined.backbone.spec)]
    if "cls" in fields and examined.encoded.tokens.cls >= 0:
        lines.append(f"CLS = {examined.backbone.tokenizer.cls_token_id}  # the id of [CLS]")
    lines.append(text.strings("TEXTS", [examined.query.text, SECOND]))
    if examined.query.text_pair:
        lines.append(text.strings("PAIRS", [examined.query.text_pair, SECOND]))
    return "\n".join(lines)


def _init(examined: Examined, own: OwnLayers, fields: Sequence[str]) -> str:
    spec, count = examined.backbone.spec, len(examined.outputs.labels)
    pinned = ["revision: str = REVISION"] if spec.source == "hub" else []
    arguments = ["self", "checkpoint: str = CHECKPOINT", *pinned, f"labels: int = {count}"]
    options = ["checkpoint", *text.revision(spec, "revision"), *text.SAFELY]
    lines = [
        text.call("    def __init__(", arguments, ") -> None:"),
        f'{INDENT}"""Load the body; the head has as many outputs as there are ``labels``."""',
        f"{INDENT}super().__init__()",
        text.call(f"{INDENT}self.body = AutoModel.from_pretrained(", options),
    ]
    if "query" in fields:
        width = examined.states.hidden.shape[2]
        lines.append(f"{INDENT}self.query = nn.Parameter(torch.zeros({width}))  # starts as the mean")
    if "declared_output" in fields:
        lines.append(text.declared(spec, f"{INDENT}self.steps", "checkpoint", "revision"))
    lines.append(text.comment(_remark(examined, own), INDENT))
    if examined.probe is not None:
        lines.append(f"{INDENT}self.head = nn.Linear({examined.probe.weight.shape[1]}, labels)")
    else:
        lines.append(text.spread(f"{INDENT}self.head = nn.Sequential(", own.code))
    return "\n".join(lines)


def _remark(examined: Examined, own: OwnLayers) -> str:
    """How this head relates to the checkpoint's own, as measured."""
    native = examined.query.pooling == NATIVE
    behind = f"the pooling {own.native}" if own.native else "no pooling that Poolscope has; first stands in"
    reads = f"Measured: the checkpoint's own head stands behind {behind}."
    if examined.probe is not None:
        return f"{reads} One linear layer takes its place." if native else "One linear layer, as a probe has."
    if own.same:
        swapped = swaps(examined.backbone, examined.query.pooling)
        return "The layers of the checkpoint's own head." if swapped else reads
    steps = f" Steps without a layer: {', '.join(own.left_out)}." if own.left_out else ""
    return f"Only like the checkpoint's own head: these layers do not give the same logits.{steps}"


def _forward(examined: Examined, own: OwnLayers, pooling: str, fields: Sequence[str]) -> str:
    special = ["special_tokens_mask: Tensor,"] if "special" in fields else []
    arguments = ["self,", "input_ids: Tensor,", "attention_mask: Tensor,", *special]
    arguments += ["labels: Tensor | None = None,", "**others: Tensor,"]
    given = ["input_ids=input_ids", "attention_mask=attention_mask", "**others"]
    given += ["output_hidden_states=True"] if "layers" in fields else []
    states = {
        "hidden": "hidden",
        "layers": f"(*output.{text.layers_name(examined)}[:-1], hidden)",
        "mask": "attention_mask.bool()",
        "special": "special_tokens_mask.bool()",
        "cls": _cls(examined, own),
        "pooler_output": "output.pooler_output",
        "declared_output": 'self.steps(features)["sentence_embedding"]',
        "query": "self.query",
    }
    looks = {"hidden", "layers", "declared_output"} & {*fields}
    hidden = [f"{INDENT}hidden = output.last_hidden_state  # (B, T, D)"] if looks else []
    if "declared_output" in fields:
        states["declared_output"] += text.kept(examined)
        hidden.append(f'{INDENT}features = {{"token_embeddings": hidden, "attention_mask": attention_mask}}')
    lines = [
        text.spread("    def forward(", arguments, ") -> dict[str, Tensor]:"),
        f'{INDENT}"""(B, T) token ids and mask -> (B, K) logits and, with labels, the loss."""',
        text.call(f"{INDENT}output = self.body(", given),
        *hidden,
        text.call(f"{INDENT}states = States(", [f"{field}={states[field]}" for field in fields]),
        f"{INDENT}logits = self.head({pooling}(states))",
        f"{INDENT}if labels is None:",
        f'{INDENT}    return {{"logits": logits}}',
        f"{INDENT}loss = {LOSS[examined.outputs.problem_type]}",
        f'{INDENT}return {{"logits": logits, "loss": loss}}',
    ]
    return "\n".join(lines)


def _cls(examined: Examined, own: OwnLayers) -> str:
    """The index of the token in [CLS]'s place; where inputs have none, of the one that the own head reads."""
    if examined.encoded.tokens.cls >= 0:
        return "input_ids.eq(CLS).int().argmax(dim=1)"
    return LAST if own.native == "lasttoken" else FIRST


def _main(examined: Examined, fields: Sequence[str]) -> str:
    """Makes the module and trains it for one step on the query's text and another."""
    backbone, query, count = examined.backbone, examined.query, len(examined.outputs.labels)
    texts = ["TEXTS", "PAIRS"] if query.text_pair else ["TEXTS"]
    options = ["padding=True", "truncation=True", f"max_length={backbone.limit}"]
    options += ["return_special_tokens_mask=True"] if "special" in fields else []
    target = TARGETS[examined.outputs.problem_type].format(last=count - 1, count=count)
    lines = [
        'if __name__ == "__main__":',
        "    torch.manual_seed(0)  # the new head starts alike every time",
        text.tokenizer(backbone.spec, "    "),
        *_padding(backbone),
        "    model = Classifier().eval()  # without dropout, so that the two losses compare",
        text.call("    batch = tokenizer(", [*texts, *options, 'return_tensors="pt"']),
        f"    labels = {target}",
        STEP,
    ]
    return "\n".join(lines)


def _padding(backbone: Backbone) -> list[str]:
    """A line that names the token to pad with, where the tokenizer's own files do not."""
    tokenizer = backbone.tokenizer
    if tokenizer.init_kwargs.get("pad_token"):
        return []
    known = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    chosen = next(token for token in known if token is not None)
    return [f"    tokenizer.pad_token_id = {chosen}  # its files name none; the mask hides it"]
