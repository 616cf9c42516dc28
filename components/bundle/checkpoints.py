"""Makes one checkpoint folder from its recipe."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from components.bundle.corpus import Corpus, Example
from components.bundle.recipes import Book, Family, Task
from components.bundle.texts import natural
from components.bundle.training import accuracy, train
from components.bundle.vocabulary import train_tokenizer


@dataclass(frozen=True)
class Made:
    """A finished checkpoint. ``accuracy`` and ``majority`` are shares, ``size`` is in bytes."""

    key: str
    parameters: int
    size: int
    accuracy: float
    majority: float
    seconds: float


def untrained(family: Family, task: Task, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """A classifier of the family with random weights, from torch's generator."""
    tokens = ("pad_token_id", "bos_token_id", "eos_token_id")
    config = AutoConfig.for_model(
        family.model_type,
        vocab_size=len(tokenizer),
        id2label=dict(enumerate(task.labels)),
        label2id={label: i for i, label in enumerate(task.labels)},
        problem_type="single_label_classification",
        initializer_range=task.initializer_range,
        **{name: getattr(tokenizer, name) for name in tokens},
        **family.config,
    )
    model = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]  # theirs
    return cast(PreTrainedModel, model)


def load(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A checkpoint folder's classifier, as float32, and its tokenizer."""
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    return model, cast(PreTrainedTokenizerFast, AutoTokenizer.from_pretrained(folder))


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Writes the checkpoint as float16, all of it or nothing, in place of what was there."""
    unfinished = folder.with_name(f".{folder.name}")
    cast(nn.Module, model).half()
    model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def majority(examples: Sequence[Example]) -> float:
    """The share of the most frequent label."""
    return max(Counter(e.label for e in examples).values()) / len(examples)


def make(key: str, book: Book, corpus: Corpus, out: Path, device: str) -> Made:
    """Trains the checkpoint ``key`` into the folder ``out / key`` and measures what was saved there."""
    start = time.perf_counter()
    family_name, _, task_name = key.rpartition("-")
    family, task = book.families[family_name], book.tasks[task_name]
    texts = list(dict.fromkeys(spelling for text in corpus.texts for spelling in (text, natural(text))))
    tokenizer = train_tokenizer(family.tokenizer, book.vocabulary, texts, book.longest)
    torch.manual_seed(book.seed)
    rng = random.Random(book.seed)
    model = untrained(family, task, tokenizer)
    cast(nn.Module, model).to(device)
    for stage in task.stages:
        examples = [e for s in stage.sources for e in corpus.training[s] * book.sources[s].repeat]
        model = train(model, tokenizer, examples, stage, book.training, rng)
    save(model, tokenizer, out / key)
    model, tokenizer = load(out / key)
    held = corpus.evaluation[task_name]
    return Made(
        key=key,
        parameters=model.num_parameters(),
        size=sum(file.stat().st_size for file in (out / key).iterdir()),
        accuracy=accuracy(model, tokenizer, held),
        majority=majority(held),
        seconds=time.perf_counter() - start,
    )
