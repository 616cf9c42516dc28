"""Model cards: what a checkpoint is and how it came about, written from the recipe and the records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from components.bundle.corpus import Corpus
from components.bundle.recipes import PRETRAINED, Book, Stage, parts
from components.results import CheckpointResult

CARD = Path(__file__).with_name("card.md")
WIDTHS, LAYERS = ("hidden_size", "dim", "d_model", "n_embd"), ("num_hidden_layers", "n_layers", "n_layer")


def stages(book: Book, key: str) -> tuple[Stage, ...]:
    """The training runs that lead from a checkpoint's start to it."""
    family, task = parts(key)
    return (book.families[family].pretraining,) if task == PRETRAINED else book.tasks[task].path(family)


def card(
    key: str,
    folder: Path,
    record: Mapping[str, Any],
    book: Book,
    corpus: Corpus,
    result: CheckpointResult | None,
) -> str:
    """The card of the checkpoint in ``folder``; ``result``: what was measured of its head, if it has one."""
    family, task = parts(key)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    runs = stages(book, key)
    return Template(CARD.read_text(encoding="utf-8")).substitute(
        key=key,
        family=family,
        pipeline="text-classification" if result else "feature-extraction",
        what=_what(task, config["architectures"][0], book),
        architecture=config["architectures"][0],
        layers=next(config[name] for name in LAYERS if name in config),
        width=next(config[name] for name in WIDTHS if name in config),
        parameters=f"{record['parameters']:,}",
        megabytes=f"{(folder / 'model.safetensors').stat().st_size / 1e6:.1f}",
        vocabulary=f"{book.vocabulary.size:,}",
        longest=book.longest,
        start=_start(key, book),
        steps="; ".join(f"{run.steps:,} of {run.batch} ({run.objective})" for run in runs),
        seconds=record["seconds"],
        threads=record["threads"],
        device=record["device"].upper(),
        measured=_measured(result, record),
        sources=_sources(runs, book, corpus),
        teacher=_teacher(runs, book),
    )


def _what(task: str, architecture: str, book: Book) -> str:
    if task == PRETRAINED:
        return (
            f"{architecture} in miniature, pre-trained the way its paper pre-trains, without a classification"
            " head. Loaded for classification, its head is new and its answers are random."
        )
    labels = " or ".join(f"“{label}”" for label in book.tasks[task].labels)
    return f"{architecture} in miniature, fine-tuned to tell {labels}."


def _start(key: str, book: Book) -> str:
    family, task = parts(key)
    student = book.families[family].student
    if task != PRETRAINED:
        return f"{family}-{PRETRAINED}, with a new head"
    if student:
        return f"layers of {student.of}-{PRETRAINED}, which it is distilled from"
    return f"random weights; word embeddings projected from those of {book.teacher.package}"


def _measured(result: CheckpointResult | None, record: Mapping[str, Any]) -> str:
    if result is None:
        return ""
    low, high = (f"{end:.1%}" for end in (result.low, result.high))
    return (
        f"| Accuracy | {result.accuracy:.1%} of {result.measured:,} held-out examples, 95 % bootstrap"
        f" interval {low} to {high}; the most frequent label has {result.majority:.1%} |\n"
        f"| float16 | storing the weights as float16 changed {record['changed']} of these answers |"
    )


def _sources(runs: tuple[Stage, ...], book: Book, corpus: Corpus) -> str:
    names = dict.fromkeys(name for run in runs for name in run.sources)
    return "\n".join(
        f"| {name} | {book.sources[name].file} | {len(corpus.training[name]):,} |"
        f" {corpus.dropped[name]:,} | {book.sources[name].licence} |"
        for name in names
    )


def _teacher(runs: tuple[Stage, ...], book: Book) -> str:
    if not any(run.trust for run in runs):
        return ""
    return (
        f"On some of them the label is, in part or in whole, the opinion of a stronger encoder, the MiniLM"
        f" that the Python package {book.teacher.package} carries (MIT)."
    )
