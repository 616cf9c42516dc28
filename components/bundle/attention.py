"""Learns the query of the pooling attention, together with a linear map that is thrown away."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from components.bundle.vectors import Batch
from components.types import Floats, Ints

EPOCHS = 6
LEARNING_RATE = 0.02
DECAY = 0.01


def learn_query(batches: Sequence[Batch], labels: Ints, seed: int) -> Floats:
    """A query (D,) whose weights make the average tell the ``labels`` (N,) apart; one seed, one query.

    Tokens are standardised over the training texts while it is learned, which is then folded into the query:
    a softmax does not see what is added to all scores alike.
    """
    tokens = torch.cat([batch.states.hidden[batch.states.mask] for batch in batches])
    mean, scale = tokens.mean(dim=0), tokens.std(dim=0).clamp(min=1e-3)
    generator = torch.Generator().manual_seed(seed)
    query = torch.zeros(len(mean), requires_grad=True)
    weight = (0.01 * torch.randn(int(labels.max()) + 1, len(mean), generator=generator)).requires_grad_()
    optimiser = torch.optim.AdamW([query, weight], lr=LEARNING_RATE, weight_decay=DECAY)
    steps = EPOCHS * len(batches)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 1 / steps, total_iters=steps)
    for _epoch in range(EPOCHS):
        for index in torch.randperm(len(batches), generator=generator).tolist():
            batch = batches[index]
            hidden = (batch.states.hidden - mean) / scale
            loss = nn.functional.cross_entropy(
                _attended(hidden, batch.states.mask, query) @ weight.T, torch.from_numpy(labels[batch.rows])
            )
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
            optimiser.step()
            schedule.step()
    learned: Floats = (query.detach() / scale).numpy()
    return learned


def _attended(hidden: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    """What the pooling gives, (B, T, D) -> (B, D), on hidden states that are standardised."""
    weight = (hidden @ query).masked_fill(~mask, float("-inf")).softmax(dim=1)
    return (hidden * weight[:, :, None]).sum(dim=1)
