"""Model cards, filled in from the recipe, the records of the steps and the results."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template

from components.results import CheckpointResult
from recipe.corpus import Corpus
from recipe.recipes import PRETRAINED, Recipes, Stage, split_key
from recipe.steps import HeadRecord, Record

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
    result: CheckpointResult | None,
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


def _measured(result: CheckpointResult | None, head: HeadRecord | None, target: float) -> str:
    if result is None or head is None:
        return ""
    low, high = (f"{end:.1%}" for end in (result.low, result.high))
    return (
        f"| Accuracy | {result.accuracy:.1%} of {result.measured:,} held-out examples, 95 % bootstrap"
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
