"""From the workshop to the assets: checkpoints with their cards, probes, and one file of results."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from components.bundle.cards import card
from components.bundle.corpus import Corpus, Example
from components.bundle.recipes import PRETRAINED, Book, parts
from components.bundle.statistics import accuracy
from components.bundle.steps import MODEL, PROBES, RECORD, ROWS, Workshop
from components.results import CheckpointResult, CosineResult, ProbeResult, Results, write_results


def publish(workshop: Workshop, corpus: Corpus, out: Path) -> Results:
    """Puts all that the steps made into ``out``: models/, probes/ and results.json, for what is there.

    Raises FileNotFoundError, and changes nothing, where a step has not been made yet.
    """
    book = workshop.book
    results = gather(workshop, corpus)
    measured = {result.backbone: result for result in results.checkpoints}
    for folder in ("models", "probes"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    for key in book.keys:
        made = workshop.made(key)
        shutil.copytree(made / MODEL, out / "models" / key)
        text = card(key, made / MODEL, record(made), book, corpus, measured.get(key))
        (out / "models" / key / "README.md").write_text(text, encoding="utf-8")
        shutil.copy(workshop.made(f"{key}-{PROBES}") / f"{key}.safetensors", out / "probes")
    write_results(results, out / "results.json")
    return results


def record(folder: Path) -> Mapping[str, Any]:
    """What a step wrote down about itself."""
    found: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    return found


def gather(workshop: Workshop, corpus: Corpus) -> Results:
    """All that the steps measured."""
    book = workshop.book
    checkpoints = [
        checkpoint_result(key, record(workshop.made(key)), corpus.evaluation[parts(key)[1]], book)
        for key in book.keys
        if parts(key)[1] != PRETRAINED
    ]
    rows = [
        json.loads((workshop.made(f"{key}-{PROBES}") / ROWS).read_text(encoding="utf-8")) for key in book.keys
    ]
    return Results(
        tuple(checkpoints),
        tuple(ProbeResult(**row) for found in rows for row in found["probes"]),
        tuple(CosineResult(**row) for found in rows for row in found["cosines"]),
    )


def checkpoint_result(
    key: str, found: Mapping[str, Any], held: Sequence[Example], book: Book
) -> CheckpointResult:
    """What a fine-tuned checkpoint's record says of its own head."""
    right = np.arange(found["measured"]) < round(found["accuracy"] * found["measured"])  # in any order
    share = accuracy(right, book.seed)
    return CheckpointResult(
        backbone=key,
        task=parts(key)[1],
        measured=found["measured"],
        accuracy=share.value,
        low=share.low,
        high=share.high,
        majority=max(Counter(e.label for e in held).values()) / len(held),
    )
