"""Copies what the steps made to the assets: checkpoints with model cards, probes, one file of results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd

from components.model.loading import load as load_backbone
from components.results import KINDS, Baseline, Table, each, of, read_results, table, write_results
from components.results import Row as Measured
from components.types import Bools
from recipe.baselines import baseline_answers, baseline_results
from recipe.checkpoints import load, load_tokenizer
from recipe.corpus import Corpus, Example
from recipe.recipes import PRETRAINED, Recipes, Stage, split_key
from recipe.statistics import Row, compared
from recipe.steps import AGREEMENT, MODEL, PROBES, ROWS, HeadRecord, Record, Workspace, bundled, read_record
from recipe.swaps import swap_results
from recipe.training import predictions


def publish(workspace: Workspace, corpus: Corpus, out: Path) -> Table:
    """Replaces models/, probes/ and results.csv in ``out`` by what the steps made.

    Raises FileNotFoundError, and changes nothing, where a step has not been made yet.
    """
    recipes = workspace.recipes
    results = collect_results(workspace, corpus)
    measured = {row.backbone: row for row in each(of(results, "head"))}
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
    write_results(results, out / "results.csv")
    return results


def collect_results(workspace: Workspace, corpus: Corpus) -> Table:
    """The results of all steps, and of the baselines of every task."""
    recipes = workspace.recipes
    models = {key: workspace.output(key) / MODEL for key in recipes.keys}
    probed = [read_results(workspace.output(f"{key}-{PROBES}") / ROWS) for key in recipes.probed]
    explained = [key for key, task in tuned(recipes.keys).items() if task in recipes.explaining.tasks]
    weighed = [read_results(workspace.output(f"{key}-{AGREEMENT}") / ROWS) for key in explained]
    made = [*held_against_baselines(recipes, corpus, models), *swapped(recipes, corpus, models)]
    every = pd.concat([table(made), *probed, *weighed])
    return every.sort_values("kind", key=lambda kinds: kinds.map(list(KINDS).index), kind="stable")


def swapped(recipes: Recipes, corpus: Corpus, models: Mapping[str, Path]) -> list[Row]:
    """The own heads of the fine-tuned ``models`` (folders by key), given other vectors than their own."""
    return [
        row
        for key, task in tuned(models).items()
        for row in swap_results(
            load_backbone(bundled(key, models[key])), task, corpus.evaluation[task], recipes.seed
        )
    ]


def tuned(keys: Iterable[str]) -> Mapping[str, str]:
    """The tasks of the fine-tuned checkpoints among ``keys``."""
    return {key: task for key in keys if (task := split_key(key)[1]) != PRETRAINED}


def held_against_baselines(recipes: Recipes, corpus: Corpus, models: Mapping[str, Path]) -> list[Row]:
    """The own heads of the fine-tuned ``models`` (folders by key), and the baselines of every task."""
    training = {
        task: [example for source in sources for example in corpus.training[source]]
        for task, sources in recipes.baselines.items()
    }
    answers = {
        task: baseline_answers(examples, corpus.evaluation[task], recipes.seed)
        for task, examples in training.items()
    }
    heads = [
        checkpoint_result(key, models[key], corpus.evaluation[task], answers[task], recipes.seed)
        for key, task in tuned(models).items()
    ]
    baselines = [
        row
        for task, right in answers.items()
        for row in baseline_results(task, len(training[task]), right, recipes.seed)
    ]
    return [*heads, *baselines]


def checkpoint_result(
    key: str, folder: Path, held_out: Sequence[Example], answers: Mapping[Baseline, Bools], seed: int
) -> Row:
    """The result of a fine-tuned checkpoint's own head, as it is stored in ``folder``."""
    found = predictions(load(folder), load_tokenizer(folder), held_out)
    right = np.array([label == example.label for label, example in zip(found, held_out, strict=True)])
    *_, strongest = answers.values()
    of_task = {"backbone": key, "task": split_key(key)[1]}
    return {"kind": "head", **of_task, **compared(right, strongest, seed)}


CARD = Path(__file__).with_name("card.md")
WIDTHS, LAYERS = ("hidden_size", "dim", "d_model", "n_embd"), ("num_hidden_layers", "n_layers", "n_layer")


def stages(recipes: Recipes, key: str) -> tuple[Stage, ...]:
    """The training stages of a checkpoint, without those of the checkpoint that it starts from."""
    family, task = split_key(key)
    return (
        (recipes.families[family].pretraining,)
        if task == PRETRAINED
        else recipes.tasks[task].stages_for(family)
    )


def card(
    key: str,
    folder: Path,
    record: Record,
    recipes: Recipes,
    learned: Corpus,
    result: Measured | None,
) -> str:
    """The model card of the checkpoint in ``folder``, which was ``learned`` from that corpus.

    ``result``: of its head, None where it has none.
    """
    family, task = split_key(key)
    target = recipes.tasks[task].target_accuracy if task in recipes.tasks else 0.0
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    runs = stages(recipes, key)
    return Template(CARD.read_text(encoding="utf-8")).substitute(
        key=key,
        family=family,
        pipeline="text-classification" if result else "feature-extraction",
        what=_what(task, config["architectures"][0], recipes),
        architecture=config["architectures"][0],
        layers=next(config[name] for name in LAYERS if name in config),
        width=next(config[name] for name in WIDTHS if name in config),
        parameters=f"{record.parameters:,}",
        megabytes=f"{(folder / 'model.safetensors').stat().st_size / 1e6:.1f}",
        vocabulary=f"{recipes.vocabulary.size:,}",
        max_length=recipes.max_length,
        start=_start(key, recipes),
        steps="; ".join(f"{run.steps:,} of {run.batch} ({run.objective})" for run in runs),
        seconds=record.seconds,
        threads=record.threads,
        device=record.device.upper(),
        measured=_measured(result, record.head, target),
        sources=_sources(runs, recipes, learned),
        teacher=_teacher(runs, recipes),
    )


def _what(task: str, architecture: str, recipes: Recipes) -> str:
    if task == PRETRAINED:
        return (
            f"{architecture} in miniature, pre-trained the way its paper pre-trains, without a classification"
            " head. Loaded for classification, its head is new and its answers are random."
        )
    labels = " or ".join(f"“{label}”" for label in recipes.tasks[task].labels)
    return f"{architecture} in miniature, fine-tuned to tell {labels}."


def _start(key: str, recipes: Recipes) -> str:
    family, task = split_key(key)
    student = recipes.families[family].student
    if task != PRETRAINED:
        return f"{family}-{PRETRAINED}, with a new head"
    if student:
        return f"layers of {student.of}-{PRETRAINED}, which it is distilled from"
    return f"random weights; word embeddings projected from those of {recipes.teacher.package}"


def _measured(result: Measured | None, head: HeadRecord | None, target: float) -> str:
    if result is None or head is None:
        return ""
    low, high = (f"{end:.1%}" for end in (result.low, result.high))
    return (
        f"| Accuracy | {result.value:.1%} of {result.measured:,} held-out examples, 95 % bootstrap"
        f" interval {low} to {high} |\n"
        f"| Beside a baseline | of these, {result.better} are right here and wrong with the strongest"
        f" classifier without a network, {result.worse} the other way round"
        f" (McNemar's exact test: p = {result.p:.2g}) |\n"
        f"| Chosen by | {head.accuracy:.1%} of {head.measured:,} rows held out from training; the bar is"
        f" {target:.1%} |\n"
        f"| float16 | storing the weights as float16 changed {head.changed} of these {head.measured:,}"
        " answers |"
    )


def _sources(runs: tuple[Stage, ...], recipes: Recipes, learned: Corpus) -> str:
    names = dict.fromkeys(name for run in runs for name in run.sources)
    return "\n".join(
        f"| {name} | {recipes.sources[name].file} | {len(learned.training[name]):,} |"
        f" {learned.dropped[name]:,} | {recipes.sources[name].licence} |"
        for name in names
    )


def _teacher(runs: tuple[Stage, ...], recipes: Recipes) -> str:
    if not any(run.teacher_weight for run in runs):
        return ""
    return (
        f"On some of them the label is, in part or in whole, the opinion of a stronger encoder, the MiniLM"
        f" that the Python package {recipes.teacher.package} carries (MIT)."
    )
