"""Makes one checkpoint folder: pre-trained without a classification head, or fine-tuned from that."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForPreTraining,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from components.bundle.corpus import Corpus, Example
from components.bundle.progress import Progress
from components.bundle.recipes import Book, Family, Stage, Student, Task, parts
from components.bundle.teacher import Opinions, borrowed_embeddings
from components.bundle.texts import natural
from components.bundle.training import train
from components.bundle.vocabulary import train_tokenizer


def untrained(family: Family, book: Book, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """A model of the family for its paper's pre-training, with random weights from torch's generator.

    Its word embeddings are the teacher's, projected, at the size of random ones.
    """
    tokens = ("pad_token_id", "bos_token_id", "eos_token_id")
    scale = book.training.initializer_range
    config = AutoConfig.for_model(
        family.model_type,
        vocab_size=len(tokenizer),
        initializer_range=scale,
        **{name: getattr(tokenizer, name) for name in tokens},
        **family.config,
    )
    model: PreTrainedModel = AutoModelForPreTraining.from_config(config)  # type: ignore[no-untyped-call]  # theirs
    words = cast(nn.Embedding, model.get_input_embeddings())
    with torch.no_grad():
        words.weight.copy_(scale * borrowed_embeddings(book.teacher, tokenizer, words.embedding_dim))
    return model


def copied(student: Student, weights: Mapping[str, torch.Tensor], name: str) -> torch.Tensor | None:
    """The weight that a student's weight ``name`` starts from: every pattern is applied in turn."""
    theirs = name
    for pattern, replacement in student.copies:
        theirs = re.sub(f"^{pattern}$", replacement, theirs)
    return weights.get(theirs) if theirs != name else None


def load(folder: Path, kind: Any = AutoModelForSequenceClassification) -> PreTrainedModel:
    """A checkpoint folder's model, as float32; by default with its classification head."""
    return cast(PreTrainedModel, kind.from_pretrained(folder, dtype=torch.float32))


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """A checkpoint folder's tokenizer."""
    return cast(PreTrainedTokenizerFast, AutoTokenizer.from_pretrained(folder))


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Writes the checkpoint as float16, all of it or nothing, in place of what was there."""
    unfinished = folder.with_name(f".{folder.name}")
    cast(nn.Module, model).half()
    model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def pretrain(
    name: str, book: Book, corpus: Corpus, teacher: Path | None, device: str, say: Progress
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A family's model after its paper's pre-training; ``teacher``: the folder of the one it learns from."""
    family = book.families[name]
    spelt = (s for text in corpus.texts(book.vocabulary.sources) for s in (text, natural(text)))
    tokenizer = train_tokenizer(family.tokenizer, book.vocabulary, list(dict.fromkeys(spelt)), book.longest)
    say.say(f"vocabulary of {len(tokenizer):,} tokens")
    torch.manual_seed(book.seed)
    rng = random.Random(f"{book.seed} {name}")
    model = untrained(family, book, tokenizer)
    master = None
    if family.student and teacher:
        master = load(teacher, AutoModelForPreTraining)
        weights = cast(nn.Module, master).state_dict()
        with torch.no_grad():
            for key, weight in cast(nn.Module, model).named_parameters():
                found = copied(family.student, weights, key)
                if found is not None:
                    weight.copy_(found)
    cast(nn.Module, model).to(device)
    examples = [e for source in family.pretraining.sources for e in corpus.training[source]]
    model = train(model, tokenizer, examples, family.pretraining, book.training, rng, say, master)
    return model, tokenizer


def taught(stage: Stage, corpus: Corpus, opinions: Mapping[str, Opinions]) -> list[Example]:
    """A stage's examples, their labels mixed with the teacher's opinions where the stage trusts it.

    Then an example without either is left out; a stage that trusts nobody takes all as they are.
    """
    found: list[Example] = []
    for source in stage.sources:
        examples = corpus.training[source]
        if stage.trust and source in opinions:
            views = opinions[source].tolist()
            examples = tuple(
                Example(e.texts, view if e.label < 0 else (1 - stage.trust) * e.label + stage.trust * view)
                for e, view in zip(examples, views, strict=True)
            )
        found.extend(e for e in examples if e.label >= 0 or not stage.trust)
    return found


def classifier(folder: Path, task: Task) -> PreTrainedModel:
    """A pre-trained checkpoint with a new classification head from torch's generator."""
    labels = dict(enumerate(task.labels))
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        dtype=torch.float32,
        id2label=labels,
        label2id={label: index for index, label in labels.items()},
        problem_type="single_label_classification",
    )
    return cast(PreTrainedModel, model)


def fine_tune(
    key: str,
    folder: Path,
    book: Book,
    corpus: Corpus,
    opinions: Mapping[str, Opinions],
    device: str,
    say: Progress,
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The classifier ``key``, from the pre-trained checkpoint in ``folder`` through every stage."""
    family, task = parts(key)
    torch.manual_seed(book.seed)
    rng = random.Random(f"{book.seed} {key}")
    model, tokenizer = classifier(folder, book.tasks[task]), load_tokenizer(folder)
    cast(nn.Module, model).to(device)
    for stage in book.tasks[task].path(family):
        examples = taught(stage, corpus, opinions)
        model = train(model, tokenizer, examples, stage, book.training, rng, say)
    return model, tokenizer
