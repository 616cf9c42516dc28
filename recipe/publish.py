"""Copies what the steps made to the assets: checkpoints with model cards, probes, one file of results."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from components.model.loading import load as load_backbone
from components.results import (
    Baseline,
    BaselineResult,
    CheckpointResult,
    Results,
    SwapResult,
    read_results,
    write_results,
)
from components.types import Bools
from recipe.baselines import baseline_answers, baseline_results
from recipe.cards import card
from recipe.checkpoints import load, load_tokenizer
from recipe.corpus import Corpus, Example
from recipe.recipes import PRETRAINED, Recipes, split_key
from recipe.statistics import estimate_accuracy, mcnemar_test
from recipe.steps import AGREEMENT, MODEL, PROBES, ROWS, Workspace, bundled, read_record
from recipe.swaps import swap_results
from recipe.training import predictions


def publish(workspace: Workspace, corpus: Corpus, out: Path) -> Results:
    """Replaces models/, probes/ and results.json in ``out`` by what the steps made.

    Raises FileNotFoundError, and changes nothing, where a step has not been made yet.
    """
    recipes = workspace.recipes
    results = collect_results(workspace, corpus)
    measured = {result.backbone: result for result in results.checkpoints}
    learned = workspace.learned(corpus)
    for folder in ("models", "probes"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    for key in recipes.keys:
        made = workspace.output(key)
        shutil.copytree(made / MODEL, out / "models" / key)
        text = card(key, made / MODEL, read_record(made), recipes, learned, measured.get(key))
        (out / "models" / key / "README.md").write_text(text, encoding="utf-8")
    for key in recipes.probed:
        shutil.copy(workspace.output(f"{key}-{PROBES}") / f"{key}.safetensors", out / "probes")
    write_results(results, out / "results.json")
    return results


def collect_results(workspace: Workspace, corpus: Corpus) -> Results:
    """The results of all steps, and of the baselines of every task."""
    recipes = workspace.recipes
    models = {key: workspace.output(key) / MODEL for key in recipes.keys}
    probed = [read_results(workspace.output(f"{key}-{PROBES}") / ROWS) for key in recipes.probed]
    explained = [key for key, task in tuned(recipes.keys).items() if task in recipes.explaining.tasks]
    weighed = [read_results(workspace.output(f"{key}-{AGREEMENT}") / ROWS) for key in explained]
    baselines, checkpoints = held_against_baselines(recipes, corpus, models)
    return Results(
        checkpoints,
        tuple(row for results in probed for row in results.probes),
        tuple(row for results in probed for row in results.cosines),
        baselines,
        swapped(recipes, corpus, models),
        tuple(row for results in probed for row in results.depths),
        tuple(row for results in weighed for row in results.agreements),
        tuple(row for results in probed for row in results.postprocessed),
        tuple(row for results in probed for row in results.sizes),
    )


def swapped(recipes: Recipes, corpus: Corpus, models: Mapping[str, Path]) -> tuple[SwapResult, ...]:
    """The own heads of the fine-tuned ``models`` (folders by key), given other vectors than their own."""
    return tuple(
        row
        for key, task in tuned(models).items()
        for row in swap_results(
            load_backbone(bundled(key, models[key])), task, corpus.evaluation[task], recipes.seed
        )
    )


def tuned(keys: Iterable[str]) -> Mapping[str, str]:
    """The tasks of the fine-tuned checkpoints among ``keys``."""
    return {key: task for key in keys if (task := split_key(key)[1]) != PRETRAINED}


def held_against_baselines(
    recipes: Recipes, corpus: Corpus, models: Mapping[str, Path]
) -> tuple[tuple[BaselineResult, ...], tuple[CheckpointResult, ...]]:
    """The baselines of every task, and the own heads of the fine-tuned ``models`` (folders by key)."""
    training = {
        task: [example for source in sources for example in corpus.training[source]]
        for task, sources in recipes.baselines.items()
    }
    answers = {
        task: baseline_answers(examples, corpus.evaluation[task], recipes.seed)
        for task, examples in training.items()
    }
    return (
        tuple(
            row
            for task, right in answers.items()
            for row in baseline_results(task, len(training[task]), right, recipes.seed)
        ),
        tuple(
            checkpoint_result(key, models[key], corpus.evaluation[task], answers[task], recipes.seed)
            for key, task in tuned(models).items()
        ),
    )


def checkpoint_result(
    key: str, folder: Path, held_out: Sequence[Example], answers: Mapping[Baseline, Bools], seed: int
) -> CheckpointResult:
    """The result of a fine-tuned checkpoint's own head, as it is stored in ``folder``."""
    found = predictions(load(folder), load_tokenizer(folder), held_out)
    right = np.array([label == example.label for label, example in zip(found, held_out, strict=True)])
    *_, strongest = answers.values()
    share, other = estimate_accuracy(right, seed), mcnemar_test(right, strongest)
    return CheckpointResult(
        backbone=key,
        task=split_key(key)[1],
        measured=len(right),
        accuracy=share.value,
        low=share.low,
        high=share.high,
        better=other.better,
        worse=other.worse,
        p=other.p,
    )
