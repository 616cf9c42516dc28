"""Makes one checkpoint: pre-trained without a classification head, or fine-tuned from that."""

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

from components.types import Floats
from recipe.augmentation import detokenize
from recipe.corpus import Corpus
from recipe.recipes import Family, Recipes, Student, Task, split_key
from recipe.teacher import projected_embeddings
from recipe.training import Progress, stage_examples, train
from recipe.vocabulary import train_tokenizer


def untrained(family: Family, recipes: Recipes, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """A model of the family for its paper's pre-training, with random weights from torch's generator.

    Its word embeddings are the teacher's, projected, and scaled to the standard deviation of random ones.
    """
    tokens = ("pad_token_id", "bos_token_id", "eos_token_id")
    scale = recipes.training.initializer_range
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
        words.weight.copy_(scale * projected_embeddings(recipes.teacher, tokenizer, words.embedding_dim))
    return model


def initial_weight(student: Student, weights: Mapping[str, torch.Tensor], name: str) -> torch.Tensor | None:
    """The teacher's weight that a student's weight ``name`` starts from, or None.

    The patterns of ``student.copies`` are applied to the name one after the other.
    """
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
    name: str, recipes: Recipes, corpus: Corpus, start: Path | None, device: str, progress: Progress
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A family's model after its paper's pre-training; ``start``: folder of a student's teacher."""
    family = recipes.families[name]
    texts = (s for text in corpus.texts(recipes.vocabulary.sources) for s in (text, detokenize(text)))
    tokenizer = train_tokenizer(
        family.tokenizer, recipes.vocabulary, list(dict.fromkeys(texts)), recipes.max_length
    )
    progress.report(f"vocabulary of {len(tokenizer):,} tokens")
    torch.manual_seed(recipes.seed)
    rng = random.Random(f"{recipes.seed} {name}")
    model = untrained(family, recipes, tokenizer)
    teacher = None
    if family.student and start:
        teacher = load(start, AutoModelForPreTraining)
        weights = cast(nn.Module, teacher).state_dict()
        with torch.no_grad():
            for key, weight in cast(nn.Module, model).named_parameters():
                found = initial_weight(family.student, weights, key)
                if found is not None:
                    weight.copy_(found)
    cast(nn.Module, model).to(device)
    examples = [e for source in family.pretraining.sources for e in corpus.training[source]]
    model = train(model, tokenizer, examples, family.pretraining, recipes.training, rng, progress, teacher)
    return model, tokenizer


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
    recipes: Recipes,
    corpus: Corpus,
    soft_labels: Mapping[str, Floats],
    device: str,
    progress: Progress,
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The classifier ``key``, from the pre-trained checkpoint in ``folder`` through every stage."""
    family, task = split_key(key)
    torch.manual_seed(recipes.seed)
    rng = random.Random(f"{recipes.seed} {key}")
    model, tokenizer = classifier(folder, recipes.tasks[task]), load_tokenizer(folder)
    cast(nn.Module, model).to(device)
    for stage in recipes.tasks[task].stages_for(family):
        examples = stage_examples(stage, corpus, soft_labels)
        model = train(model, tokenizer, examples, stage, recipes.training, rng, progress)
    return model, tokenizer
