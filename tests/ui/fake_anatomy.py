"""A made-up head taken apart: dense, tanh, dropout, classifier, as in no model in particular."""

from __future__ import annotations

from typing import Any

import numpy as np

from components.analyses.anatomy import Anatomy, Declared, Excerpt, Origin, Step, Weight
from components.analyses.lens import Lens
from components.analyses.padding import Padding, PaddingCase
from components.analyses.trace import Patched
from components.texts import Sentence
from components.types import Analysis, Floats

WIDTH = 8


def fake_anatomy(analysis: Analysis, hostile: str = "") -> Anatomy:
    """The steps from (T, 8) made-up hidden states to the analysis' logits; ``hostile`` goes into every name.

    An untrained head's classifier is new, a probe has a step of pooling and one of its own weights.
    """
    total, labels = len(analysis.tokens.text), len(analysis.labels)
    random = np.random.default_rng(total)
    hidden: Floats = random.normal(size=(total, WIDTH)).astype(np.float32)
    vector, dense = hidden[0], random.normal(size=WIDTH).astype(np.float32)
    squashed: Floats = np.tanh(dense)
    probe = analysis.query.head == "probe"
    origin: Origin = "probe" if probe else "checkpoint" if analysis.head_trained else "new"
    within, end = f"{analysis.backbone.architecture}{hostile}", WIDTH * labels + labels

    def step(name: str, module: str, inside: str, given: Floats, got: Floats, **more: Any) -> Step:
        plain = {"weights": (), "parameters": 0, "origin": None, "idle": False, "picks": False}
        return Step(name, module, inside, taken=given, given=got, **{**plain, **more})

    steps: tuple[Step, ...]
    weights: tuple[Weight, ...]
    if probe:
        names = ("weight", "bias")
        weigh: dict[str, Any] = {"weights": names, "parameters": end, "origin": origin}
        steps = (
            step("pooling", "", "", hidden, vector, picks=True),
            step("linear", "", "", vector, analysis.logits, **weigh),
        )
        weights = (Weight("weight", (labels, WIDTH), origin), Weight("bias", (labels,), origin))
    else:
        pooler = (f"body.pooler.dense.weight{hostile}", f"body.pooler.dense.bias{hostile}")
        final = (f"classifier.weight{hostile}", f"classifier.bias{hostile}")
        dense_has = {"weights": pooler, "parameters": WIDTH * WIDTH + WIDTH, "origin": "checkpoint"}
        last_has = {"weights": final, "parameters": end, "origin": origin}
        steps = (
            step("getitem", "", "BodyPooler", hidden, vector, picks=True),
            step("linear", f"body.pooler.dense{hostile}", "BodyPooler", vector, dense, **dense_has),
            step("tanh", "", "BodyPooler", dense, squashed),
            step("dropout", "dropout", within, squashed, squashed, idle=True),
            step("linear", "classifier", within, squashed, analysis.logits, **last_has),
        )
        weights = (
            Weight(pooler[0], (WIDTH, WIDTH), "checkpoint"),
            Weight(pooler[1], (WIDTH,), "checkpoint"),
            Weight(final[0], (labels, WIDTH), origin),
            Weight(final[1], (labels,), origin),
        )
    unused = () if analysis.head_trained else (Weight(f"lm_head.weight{hostile}", (30, WIDTH), "checkpoint"),)
    return Anatomy(
        analysis=analysis,
        steps=steps,
        weights=weights,
        unused=unused,
        declared=(
            Declared("", 0, f"{within}("),
            Declared("body", 1, "(body): Body("),
            Declared("body.encoder", 2, "(encoder): BodyEncoder( … )"),
            Declared("body.pooler", 2, "(pooler): BodyPooler("),
            Declared(
                f"body.pooler.dense{hostile}",
                3,
                f"(dense): Linear(in_features={WIDTH}, out_features={WIDTH})",
            ),
            Declared("", 2, ")"),
            Declared("", 1, ")"),
            Declared("classifier", 1, f"(classifier): Linear(in_features={WIDTH}, out_features={labels})"),
            Declared("dropout", 1, f"(dropout): Dropout(p=0.1){hostile}"),
            Declared("", 0, ")"),
        ),
        sources=(
            Excerpt(
                title=f"BodyPooler.forward{hostile}",
                file="transformers/models/body/modeling_body.py",
                first=40,
                lines=(
                    f"def forward(self, hidden_states):  # {hostile}",
                    "    first = hidden_states[:, 0]",
                    "    return torch.tanh(self.dense(first))",
                ),
                ran=(41, 42),
                picks=(41,),
            ),
        ),
        program=f"import torch  # {hostile}\n\nprint(torch.tensor({analysis.probabilities.tolist()}))\n",
        lens=fake_lens(analysis) if analysis.query.pooling != "attention" else Sentence("errors.widths"),
        module="from torch import nn\n\n\nclass Classifier(nn.Module):\n    pass\n",
    )


def fake_lens(analysis: Analysis) -> Lens:
    """Made-up logits that grow into the analysis', which the last layer gives of every token that is read."""
    layers, (total, count) = analysis.layers, (len(analysis.tokens.text), len(analysis.labels))
    noise = np.random.default_rng(total).normal(size=(layers + 1, total, count))
    grown = np.linspace(0, 1, layers + 1)[:, None] * analysis.logits
    logits = grown[:, None] + noise
    logits[-1, analysis.reads.positions] = analysis.logits
    return Lens(
        logits=logits.astype(np.float32),
        pooled=grown.astype(np.float32),
        probabilities=_probabilities(logits, analysis),
        pooled_probabilities=_probabilities(grown, analysis),
        norm="body.final_norm",
    )


def fake_trace(first: Analysis, second: Analysis) -> Patched:
    """Made-up logits on the way from one answer to the other."""
    count = min(len(first.tokens.text), len(second.tokens.text))
    shares = np.random.default_rng(count).uniform(size=(first.layers + 1, count)).astype(np.float32)
    way = second.logits - first.logits
    return Patched(
        first=first,
        second=second,
        pairs=np.repeat(np.arange(count)[:, None], 2, axis=1),
        logits=(first.logits + shares[:, :, None] * way).astype(np.float32),
        whole=np.broadcast_to(second.logits, (first.layers + 1, len(way))),
        shares=shares,
        warnings=(),
    )


def fake_padding(analysis: Analysis) -> Padding:
    """Made-up logits that padding on the left moves."""
    read = tuple(analysis.reads.positions.nonzero()[0].tolist())
    cases = [
        PaddingCase(
            name=name,
            logits=analysis.logits + np.float32(moved),
            probabilities=analysis.probabilities,
            largest=moved,
            reads=read,
            reads_padding=moved > 0,
            moved=(),
            pooled={"cls": moved, "mean": moved / 2},
            cause="head" if moved else "",
        )
        for name, moved in (("batch", 0.0), ("right", 0.0), ("left", 0.5))
    ]
    return Padding(analysis, 8, "right", tuple(cases), analysis.warnings)


def _probabilities(logits: Floats, analysis: Analysis) -> Floats:
    if analysis.problem_type == "regression":
        values = logits
    elif analysis.problem_type == "multi_label":
        values = 1 / (1 + np.exp(-logits))
    else:
        values = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return np.asarray(values, dtype=np.float32)
