"""Copies what the steps made to the assets: checkpoints with model cards, probes, one file of results."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from components.bundle.cards import card
from components.bundle.corpus import Corpus, Example
from components.bundle.recipes import split_key
from components.bundle.statistics import estimate_accuracy
from components.bundle.steps import MODEL, PROBES, ROWS, HeadRecord, Workspace, read_record
from components.results import CheckpointResult, Results, read_results, write_results


def publish(workspace: Workspace, corpus: Corpus, out: Path) -> Results:
    """Replaces models/, probes/ and results.json in ``out`` by what the steps made.

    Raises FileNotFoundError, and changes nothing, where a step has not been made yet.
    """
    recipes = workspace.recipes
    results = collect_results(workspace, corpus)
    measured = {result.backbone: result for result in results.checkpoints}
    for folder in ("models", "probes"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    for key in recipes.keys:
        made = workspace.output(key)
        shutil.copytree(made / MODEL, out / "models" / key)
        text = card(key, made / MODEL, read_record(made), recipes, corpus, measured.get(key))
        (out / "models" / key / "README.md").write_text(text, encoding="utf-8")
        shutil.copy(workspace.output(f"{key}-{PROBES}") / f"{key}.safetensors", out / "probes")
    write_results(results, out / "results.json")
    return results


def collect_results(workspace: Workspace, corpus: Corpus) -> Results:
    """The results of all steps."""
    recipes = workspace.recipes
    heads = {key: read_record(workspace.output(key)).head for key in recipes.keys}
    probed = [read_results(workspace.output(f"{key}-{PROBES}") / ROWS) for key in recipes.keys]
    return Results(
        tuple(
            checkpoint_result(key, head, corpus.evaluation[split_key(key)[1]], recipes.seed)
            for key, head in heads.items()
            if head
        ),
        tuple(row for results in probed for row in results.probes),
        tuple(row for results in probed for row in results.cosines),
    )


def checkpoint_result(key: str, head: HeadRecord, held_out: Sequence[Example], seed: int) -> CheckpointResult:
    """The result of a fine-tuned checkpoint's own head."""
    right = np.arange(head.measured) < round(head.accuracy * head.measured)  # in any order
    share = estimate_accuracy(right, seed)
    return CheckpointResult(
        backbone=key,
        task=split_key(key)[1],
        measured=head.measured,
        accuracy=share.value,
        low=share.low,
        high=share.high,
        majority=max(Counter(e.label for e in held_out).values()) / len(held_out),
    )
