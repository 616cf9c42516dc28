"""The teacher, a stronger encoder: fine-tunes it, computes its soft labels, projects its word embeddings."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.nn.functional import normalize
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from components.model.files import packaged
from components.types import Floats
from recipe.corpus import Example
from recipe.recipes import Stage, Teacher, Training
from recipe.training import Progress, batches_by_length, train


def checkpoint(package: str) -> Path:
    """The folder of the checkpoint that a package carries; ModuleNotFoundError where it is not installed."""
    folder = packaged(package)
    if folder is None:
        raise ModuleNotFoundError(f"no installed package {package} carries a checkpoint", name=package)
    return folder


def tokenizer_of(teacher: Teacher) -> PreTrainedTokenizerFast:
    """The teacher's tokenizer, cut at its longest input."""
    tokenizer = AutoTokenizer.from_pretrained(
        checkpoint(teacher.package), model_max_length=teacher.max_length
    )
    return cast(PreTrainedTokenizerFast, tokenizer)


def fine_tune(
    teacher: Teacher,
    examples: Sequence[Example],
    settings: Training,
    rng: random.Random,
    device: str,
    progress: Progress,
) -> PreTrainedModel:
    """The teacher with a new head of two labels, trained on the examples."""
    model = AutoModelForSequenceClassification.from_pretrained(
        checkpoint(teacher.package), dtype=torch.float32
    ).to(device)
    stage = Stage(
        teacher.sources, "as they are", "labels", teacher.steps, teacher.batch, teacher.learning_rate
    )
    return train(model, tokenizer_of(teacher), examples, stage, settings, rng, progress)


@torch.inference_mode()
def soft_labels(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example]
) -> Floats:
    """The probability of label 1 for each example: (N,)."""
    model.train(False)
    found = np.zeros(len(examples), dtype=np.float32)
    for chosen, inputs in batches_by_length(tokenizer, [e.texts for e in examples], 64):
        logits = model(**inputs.to(model.device)).logits
        found[chosen] = logits.softmax(-1)[:, 1].cpu().numpy()
    return found


@torch.inference_mode()
def sentence_vectors(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]
) -> Tensor:
    """Mean-pooled final hidden states, normalised to length 1: (N, D)."""
    model.train(False)
    found = torch.zeros(len(texts), model.config.hidden_size)
    for chosen, inputs in batches_by_length(tokenizer, [(text,) for text in texts], 64):
        mask = inputs["attention_mask"].to(model.device)[:, :, None]  # (B, T, 1)
        hidden = model(**inputs.to(model.device)).last_hidden_state
        found[chosen] = normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1).cpu()
    return found


def pair_soft_labels(
    teacher: Teacher, pairs: Mapping[str, Sequence[Example]], device: str
) -> Mapping[str, Floats]:
    """The probability that each pair of each source matches: (N,).

    Logistic regression on the cosine of the two sentence vectors, fitted to the labels of the calibration
    source (Platt scaling).
    """
    model = cast(nn.Module, AutoModel.from_pretrained(checkpoint(teacher.package), dtype=torch.float32))
    texts = list(dict.fromkeys(text for rows in pairs.values() for pair in rows for text in pair.texts))
    vectors = sentence_vectors(cast(PreTrainedModel, model.to(device)), tokenizer_of(teacher), texts)
    at = {text: index for index, text in enumerate(texts)}
    cosines = {}
    for source, rows in pairs.items():
        one, two = (vectors[[at[pair.texts[side]] for pair in rows]] for side in (0, 1))
        cosines[source] = (one * two).sum(-1, keepdim=True).numpy()  # (N, 1)
    known = [pair.label for pair in pairs[teacher.calibration]]
    regression = LogisticRegression().fit(cosines[teacher.calibration], known)
    return {
        source: regression.predict_proba(found)[:, 1].astype(np.float32) for source, found in cosines.items()
    }


@torch.inference_mode()
def projected_embeddings(teacher: Teacher, tokenizer: PreTrainedTokenizerFast, width: int) -> Tensor:
    """The teacher's word embeddings for the tokens of another vocabulary: (V, width), of unit variance.

    A token's embedding is the mean of the teacher's embeddings of its text, projected on the first ``width``
    principal components. A token whose text the teacher's tokenizer drops gets the mean of all, zero.
    """
    table = (
        AutoModel.from_pretrained(checkpoint(teacher.package), dtype=torch.float32)
        .get_input_embeddings()
        .weight
    )
    theirs = tokenizer_of(teacher)
    known = theirs.get_vocab()
    rows = []
    for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))):
        text = tokenizer.convert_tokens_to_string([token]).strip()
        ids = [known[text]] if text in known else theirs(text, add_special_tokens=False)["input_ids"]
        rows.append(table[ids].mean(0) if ids else torch.full((table.shape[1],), torch.nan))
    found = torch.stack(rows)
    average = found.nanmean(0)
    centred = torch.where(found.isnan(), 0, found - average)
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    reduced = centred @ directions[:width].T  # (V, width)
    return cast(Tensor, reduced / reduced.std())
