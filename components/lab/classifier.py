"""The files of a classifier: the best head of a fit, a program that runs it, its numbers and a card."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from pydantic import TypeAdapter
from safetensors.numpy import save

from components.analyses.measuring.export import program
from components.exhibits.exhibit import data_frame, to_csv
from components.fitting import Fit, OwnHead, Ranked, fit_json
from components.model.examine import examine
from components.model.loading import load
from components.model.probes import place_of
from components.texts import Sentence
from components.types import BackboneSpec, Floats, Query, TaskSpec

CARD = Path(__file__).with_name("card.md")
TASK = "mine"  # what the head is for, in its file
HEAD = "head.safetensors"
COUNTS = 0.05  # p below which a difference counts
RESULTS = [
    "backbone",
    "pooling",
    "layer",
    "accuracy",
    "low",
    "high",
    "macro_f1",
    "p",
    "p_corrected",
    "same_as",
]


def classifier_files(fit: Fit, spec: BackboneSpec, notes: tuple[Sentence, ...]) -> dict[str, bytes]:
    """Every file by its name. ``spec``: the backbone of the best combination.

    PoolscopeError where the backbone cannot be loaded.
    """
    best = fit.ranking[0]
    with TemporaryDirectory() as folder:
        file = Path(folder) / HEAD
        backbone = load(replace(spec, probes=str(file)))
        last = len(backbone.ordinary.spreads) - 1
        lower = None if best.layer == last else best.layer
        file.write_bytes(_head(TypeAdapter(OwnHead).validate_json(fit.head).matrix, best, lower))
        pair = fit.table.pairs[0] if fit.table.pairs else ""
        task = TaskSpec(TASK, TASK, fit.classes, 2 if pair else 1)
        query = Query(
            spec.key, fit.table.texts[0], pair, best.pooling, "probe", task=TASK, pool_layer=best.layer
        )
        code = program(examine(backbone, query, task))
        head = file.read_bytes()
    numbers = fit_json(fit, notes)
    texts = {
        "classify.py": code,
        "README.md": card(fit, last, notes),
        "results.csv": to_csv(pd.DataFrame(numbers["rows"])[RESULTS]),
        "predictions.csv": to_csv(_predictions(fit)),
        "fit.json": json.dumps(numbers, indent=1, ensure_ascii=False) + "\n",
    }
    return {HEAD: head, **{name: text.encode("utf-8", errors="replace") for name, text in texts.items()}}


def card(fit: Fit, last: int, notes: tuple[Sentence, ...]) -> str:
    """What it is and how well it does, as Markdown. ``last``: the backbone's last layer."""
    best = fit.ranking[0]
    worse = sum(row.p_corrected < COUNTS for row in fit.ranking)
    return Template(CARD.read_text(encoding="utf-8")).substitute(
        classes=f"{len(fit.classes)} labels",
        backbone=f"`{best.backbone}`",
        pooling=best.pooling,
        layer=best.layer,
        last=last,
        rows=f"{len(fit.table.texts):,}",
        combinations=len(fit.ranking),
        folds=fit.plan.folds,
        accuracy=f"{best.accuracy.value:.1%}",
        low=f"{best.accuracy.low:.1%}",
        high=f"{best.accuracy.high:.1%}",
        f1=f"{best.macro_f1:.3f}",
        majority=f"{fit.majority:.1%}",
        shuffled=f"{fit.shuffled.value:.1%}",
        worse=worse,
        labels=", ".join(f"`{_plain(label)}`" for label in fit.classes),
        warnings="".join(f"\n- {_plain(str(note))}" for note in (*notes, *fit.warnings)),
    )


def _predictions(fit: Fit) -> pd.DataFrame:
    """Each row with what the best combination says of it where it has not seen it."""
    table = fit.table
    pairs = [("text_pair", table.pairs)] if table.pairs else []
    said = [fit.classes[label] for label in fit.predicted]
    return data_frame([("text", table.texts), *pairs, ("label", table.labels), ("predicted", said)])


def _head(matrix: Floats, best: Ranked, lower: int | None) -> bytes:
    """The file of the head: ``matrix`` (K, D' + 1), biases last. ``lower``: its layer, None for the last."""
    stem = "/".join(place_of(TASK, best.pooling, lower))
    weight, bias = (np.ascontiguousarray(part) for part in (matrix[:, :-1], matrix[:, -1]))
    return save({f"{stem}/weight": weight, f"{stem}/bias": bias})


def _plain(text: str) -> str:
    """A text of a visitor on one line of Markdown, where it marks nothing."""
    return " ".join(text.split()).translate(dict.fromkeys(map(ord, "`|<>[]"), " "))
