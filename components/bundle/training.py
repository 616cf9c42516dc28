"""Trains a classifier, and measures it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

from components.bundle.batches import batches, in_order
from components.bundle.corpus import Example
from components.bundle.objectives import OBJECTIVES
from components.bundle.pairs import make_matching, vary_pairs
from components.bundle.passages import make_consecutive, make_passages
from components.bundle.progress import Progress
from components.bundle.recipes import Stage, Training
from components.bundle.texts import vary_texts

Variation = Callable[[Sequence[Example], random.Random], list[Example]]

# How the examples of a stage change from epoch to epoch, by the recipe's name for it.
VARIATIONS: Mapping[str, Variation] = {
    "as they are": lambda examples, _: list(examples),
    "texts": vary_texts,
    "pairs": vary_pairs,
    "made pairs": make_matching,
    "passages": make_passages,
    "consecutive passages": make_consecutive,
}


def drop_tokens(inputs: BatchEncoding, special: Sequence[int], share: float) -> BatchEncoding:
    """The inputs with a share of their ordinary tokens hidden from attention; special ones stay.

    ``inputs["input_ids"]`` and ``inputs["attention_mask"]``: (B, T). Chance is torch's.
    """
    ids = inputs["input_ids"]
    kept = (torch.rand(ids.shape) >= share) | torch.isin(ids, torch.tensor(special))
    return BatchEncoding({**inputs, "attention_mask": inputs["attention_mask"] * kept})


def _optimizer(model: nn.Module, rate: float, decay: float) -> torch.optim.AdamW:
    learned = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in learned if p.ndim > 1]
    vectors = [p for p in learned if p.ndim == 1]  # biases and norms do not decay
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=True)


def _rise_and_fall(steps: int, warm_up: float) -> Callable[[int], float]:
    rise = max(1, round(warm_up * steps))
    return lambda step: min(step / rise, (steps - step) / max(1, steps - rise))


def _average(decay: float) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor | int], torch.Tensor]:
    def update(average: torch.Tensor, now: torch.Tensor, count: torch.Tensor | int) -> torch.Tensor:
        weight = 1 - min(decay, float((1 + count) / (10 + count)))  # early averages forget fast
        return torch.lerp(average, now, weight)

    return update


def epochs(
    tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example], stage: Stage, rng: random.Random
) -> Iterator[tuple[BatchEncoding, torch.Tensor]]:
    """Batches without end: the examples again and again, varied anew each time."""
    while True:
        yield from batches(tokenizer, VARIATIONS[stage.variation](examples, rng), stage.batch, rng)


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    examples: Sequence[Example],
    stage: Stage,
    settings: Training,
    rng: random.Random,
    say: Progress,
    teacher: PreTrainedModel | None = None,
) -> PreTrainedModel:
    """The moving average of the model's weights over a stage; the model itself is trained in place.

    AdamW, with a learning rate that rises from 0 to the stage's and falls back, both in a straight line.
    """
    objective = OBJECTIVES[stage.objective](model, tokenizer, teacher).to(model.device)
    optimizer = _optimizer(nn.ModuleList([model, objective]), stage.learning_rate, settings.weight_decay)
    schedule = LambdaLR(optimizer, _rise_and_fall(stage.steps, settings.warm_up))
    average = AveragedModel(model, avg_fn=_average(settings.averaging))
    model.train(stage.dropout)
    stream = islice(epochs(tokenizer, examples, stage, rng), stage.steps)
    for done, (inputs, labels) in enumerate(stream, start=1):
        seen = drop_tokens(inputs, tokenizer.all_special_ids, stage.dropped_tokens)
        loss = objective(model, seen.to(model.device), labels.to(model.device))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), settings.largest_gradient)
        optimizer.step()
        schedule.step()
        average.update_parameters(model)
        say.step(stage.objective, done, stage.steps, loss.item())
    return cast(PreTrainedModel, average.module)


@torch.inference_mode()
def predictions(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example]
) -> list[int]:
    """The likeliest label of each example."""
    model.train(False)
    found = [0] * len(examples)
    for chosen, inputs in in_order(tokenizer, [example.texts for example in examples], 64):
        labels = model(**inputs.to(model.device)).logits.argmax(-1).tolist()  # (B,)
        for index, label in zip(chosen, labels, strict=True):
            found[index] = label
    return found


def accuracy(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example]
) -> float:
    """The share of examples whose likeliest label is their own."""
    found = predictions(model, tokenizer, examples)
    return sum(label == e.label for label, e in zip(found, examples, strict=True)) / len(examples)
