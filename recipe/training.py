"""The training loop: its examples, its batches, its progress; and the accuracy of what comes out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

from components.types import Floats
from recipe.augmentation import AUGMENTATIONS
from recipe.corpus import Corpus, Example
from recipe.pretraining import OBJECTIVES
from recipe.recipes import Stage, Training

EVERY = 20.0  # seconds between two lines of progress
POOL = 32  # batches that are sorted by length together: little padding, still well mixed


@dataclass
class Progress:
    """Prints lines that begin with the ``name`` of what is being made."""

    name: str
    started: float = field(default_factory=time.perf_counter)
    _reported: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.started

    def report(self, text: str) -> None:
        """Print a line now."""
        self._reported = time.perf_counter()
        print(f"[{self.name}] {self.seconds:6.0f} s  {text}", flush=True)

    def step(self, what: str, done: int, steps: int, loss: float) -> None:
        """Print a line if the last is long ago."""
        if time.perf_counter() - self._reported > EVERY or done == steps:
            self.report(f"{what}: step {done:,} of {steps:,}, loss {loss:.3f}")


def stage_examples(stage: Stage, corpus: Corpus, soft_labels: Mapping[str, Floats]) -> list[Example]:
    """A stage's examples, each label averaged with the teacher's by the stage's ``teacher_weight``.

    ``soft_labels``: (N,) for the N examples of each source that the teacher was asked about. Examples with
    neither label are left out; a stage whose ``teacher_weight`` is 0 takes all as they are.
    """
    weight = stage.teacher_weight
    found: list[Example] = []
    for source in stage.sources:
        examples = corpus.training[source]
        if weight and source in soft_labels:
            examples = tuple(
                Example(e.texts, soft if e.label < 0 else (1 - weight) * e.label + weight * soft)
                for e, soft in zip(examples, soft_labels[source].tolist(), strict=True)
            )
        found.extend(e for e in examples if e.label >= 0 or not weight)
    return found


def encode(tokenizer: PreTrainedTokenizerFast, rows: Sequence[tuple[str, ...]]) -> BatchEncoding:
    """Token ids, unpadded, cut at the tokenizer's longest input; a pair loses tokens of its longer text."""
    columns = zip(*rows, strict=True)
    encoded: BatchEncoding = tokenizer(*map(list, columns), truncation=True)
    return encoded


def _padded(
    tokenizer: PreTrainedTokenizerFast, encoded: BatchEncoding, group: Sequence[int]
) -> BatchEncoding:
    return tokenizer.pad(
        {name: [column[i] for i in group] for name, column in encoded.items()}, return_tensors="pt"
    )


def batches_by_length(
    tokenizer: PreTrainedTokenizerFast, rows: Sequence[tuple[str, ...]], size: int
) -> Iterator[tuple[list[int], BatchEncoding]]:
    """The texts or pairs from the shortest to the longest: their indices (B,) and inputs (B, T)."""
    encoded = encode(tokenizer, rows)
    order = sorted(range(len(rows)), key=lambda i: len(encoded["input_ids"][i]))
    for start in range(0, len(order), size):
        group = order[start : start + size]
        yield group, _padded(tokenizer, encoded, group)


def training_batches(
    tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example], size: int, rng: random.Random
) -> Iterator[tuple[BatchEncoding, torch.Tensor]]:
    """The examples once, in random order: inputs (B, T) padded to the longest, and labels (B,) float32."""
    encoded = encode(tokenizer, [example.texts for example in examples])
    lengths = [len(ids) for ids in encoded["input_ids"]]
    order = rng.sample(range(len(examples)), len(examples))
    pools = (
        sorted(order[i : i + POOL * size], key=lengths.__getitem__) for i in range(0, len(order), POOL * size)
    )
    groups = [pool[i : i + size] for pool in pools for i in range(0, len(pool), size)]
    for group in rng.sample(groups, len(groups)):
        labels = torch.tensor([examples[i].label for i in group], dtype=torch.float32)
        yield _padded(tokenizer, encoded, group), labels


def drop_tokens(inputs: BatchEncoding, special: Sequence[int], share: float) -> BatchEncoding:
    """The inputs with a random share of their ordinary tokens masked out of attention; special ones stay.

    ``inputs["input_ids"]`` and ``inputs["attention_mask"]``: (B, T). The random numbers are torch's.
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


def _warmup_and_decay(steps: int, warmup_ratio: float) -> Callable[[int], float]:
    warmup = max(1, round(warmup_ratio * steps))
    return lambda step: min(step / warmup, (steps - step) / max(1, steps - warmup))


def _moving_average(decay: float) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor | int], torch.Tensor]:
    def update(average: torch.Tensor, now: torch.Tensor, count: torch.Tensor | int) -> torch.Tensor:
        weight = 1 - min(decay, float((1 + count) / (10 + count)))  # early averages forget fast
        return torch.lerp(average, now, weight)

    return update


def epochs(
    tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example], stage: Stage, rng: random.Random
) -> Iterator[tuple[BatchEncoding, torch.Tensor]]:
    """An endless stream of batches: the examples again and again, augmented anew in each epoch."""
    while True:
        yield from training_batches(
            tokenizer, AUGMENTATIONS[stage.augmentation](examples, rng), stage.batch, rng
        )


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    examples: Sequence[Example],
    stage: Stage,
    settings: Training,
    rng: random.Random,
    progress: Progress,
    teacher: PreTrainedModel | None = None,
) -> PreTrainedModel:
    """Trains the model in place for one stage; gives the exponential moving average of its weights.

    AdamW, with linear warmup of the learning rate from 0 to the stage's and linear decay back to 0.
    """
    objective = OBJECTIVES[stage.objective](model, tokenizer, teacher).to(model.device)
    optimizer = _optimizer(nn.ModuleList([model, objective]), stage.learning_rate, settings.weight_decay)
    schedule = LambdaLR(optimizer, _warmup_and_decay(stage.steps, settings.warmup_ratio))
    average = AveragedModel(model, avg_fn=_moving_average(settings.ema_decay))
    model.train(stage.dropout)
    stream = islice(epochs(tokenizer, examples, stage, rng), stage.steps)
    for done, (inputs, labels) in enumerate(stream, start=1):
        seen = drop_tokens(inputs, tokenizer.all_special_ids, stage.token_dropout)
        loss = objective(model, seen.to(model.device), labels.to(model.device))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), settings.max_grad_norm)
        optimizer.step()
        schedule.step()
        average.update_parameters(model)
        progress.step(stage.objective, done, stage.steps, loss.item())
    return cast(PreTrainedModel, average.module)


@torch.inference_mode()
def predictions(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example]
) -> list[int]:
    """The likeliest label of each example."""
    model.train(False)
    found = [0] * len(examples)
    for chosen, inputs in batches_by_length(tokenizer, [example.texts for example in examples], 64):
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
