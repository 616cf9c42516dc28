"""The states that a head reads: measured by changing the final hidden states, never looked up."""

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from components.model.cut import noise_like

Head = Callable[[Tensor], Tensor]  # final hidden states (B, T, D) -> logits (B, K)

NOISE = 30.0  # standard deviations: enough to win a maximum or wake a dead ReLU, but for a chance of 2^-D
LOUD = 10_000.0  # the same where nothing was heard of it: some ReLUs sleep deep


class Reading:
    """Reading of ``hidden`` (B, T, D) by ``head``; each part is measured when first asked for, and once."""

    def __init__(self, head: Head, hidden: Tensor) -> None:
        self.head, self._hidden = head, hidden

    @property
    def logits(self) -> Tensor:
        """(B, K) what the head says of the hidden states as they are."""
        return self._measured[1]

    @cached_property
    def positions(self) -> Tensor:
        """(B, T) true exactly where a change of the final hidden state changes a logit.

        A nonzero slope proves that a position is read. A zero slope proves nothing (a dead ReLU, a saturated
        tanh, a maximum that lies elsewhere), so silent positions are changed, and logits compared bit by bit.
        """
        read = self._measured[0] > 0
        if read.all():
            return read
        size = NOISE if read.any(dim=1).all() else LOUD
        noised = self._hidden + noise_like(self._hidden) * self._hidden.std() * size
        if not self._moved(noised, ~read, self.logits).any():
            return read  # one run settles it for most heads, which read few positions
        moving = read.clone()
        before = self.head(self._hidden)
        for position in (~read).any(dim=0).nonzero()[:, 0].tolist():
            one = torch.zeros_like(read)
            one[:, position] = ~read[:, position]
            moving[:, position] |= self._moved(noised, one, before)
        return moving

    @property
    def places(self) -> tuple[int, ...]:
        """The positions of the first row."""
        return tuple(self.positions[0].nonzero()[:, 0].tolist())

    @cached_property
    def share(self) -> Tensor:
        """(B, T) slope over the sum of slopes, in equal parts where every slope is zero; rows sum to 1."""
        weight, _logits = self._measured
        flat = weight.sum(dim=1, keepdim=True) == 0
        if flat.any():
            weight = torch.where(flat, self.positions.double(), weight)
        total = weight.sum(dim=1, keepdim=True)
        share = torch.where(total > 0, weight / total, torch.full_like(weight, 1 / weight.shape[1]))
        return share.to(self._hidden.dtype)

    def _moved(self, noised: Tensor, where: Tensor, before: Tensor) -> Tensor:
        """Tell whether the logits of each row (B,) differ with what is ``noised`` at ``where`` (B, T)."""
        return (self.head(torch.where(where[:, :, None], noised, self._hidden)) != before).any(dim=1)

    @cached_property
    def _measured(self) -> tuple[Tensor, Tensor]:
        """Norm over labels and width of d logits / d hidden: (B, T); and the logits (B, K)."""
        leaf = self._hidden.detach().clone().requires_grad_()
        squares = torch.zeros(leaf.shape[:2], dtype=torch.float64)  # those of small slopes vanish in float32
        with torch.enable_grad():  # whoever asks first may stand in a no_grad block
            logits = self.head(leaf)
            sums = logits.sum(dim=0) if logits.requires_grad else ()  # else no way leads there
            for total in sums:
                (slope,) = torch.autograd.grad(total, leaf, retain_graph=True)
                squares += torch.linalg.vector_norm(slope, dim=2, dtype=torch.float64).square()
        return squares.sqrt(), logits.detach()
