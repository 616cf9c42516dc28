"""Every pooling against NumPy and SciPy, one text at a time, on random hidden states."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.stats import pmean

from components.model.pooling import POOLINGS, States
from components.model.reads import Reading

LENGTHS = (3, 70, 64, 1)  # of four texts; flatten takes 64 tokens
WIDTH = 5
QUERY = np.linspace(-1, 2, WIDTH, dtype=np.float32)
Numbers = np.ndarray


def states(side: str, layers: int = 7) -> States:
    """Hidden states, 999 for padding; the second token takes [CLS]'s place, the outer ones are special."""
    total, count = max(LENGTHS), torch.tensor(LENGTHS)[:, None]
    place = torch.arange(total)[None] - (0 if side == "right" else total - count)  # (B, T) in its own text
    mask = (place >= 0) & (place < count)
    cls = (place == (count > 1).int()).int().argmax(dim=1)
    drawn = torch.randn(layers, len(LENGTHS), total, WIDTH, generator=torch.Generator().manual_seed(0))
    drawn = drawn.masked_fill(~mask[:, :, None], 999.0)
    return States(
        layers=tuple(drawn),
        mask=mask,
        special=(count > 2) & ((place == 0) | (place == count - 1)),
        cls=cls,
        reads=Reading(lambda hidden: hidden[torch.arange(len(LENGTHS)), cls], drawn[-1]),
        pooler=lambda hidden: hidden[torch.arange(len(LENGTHS)), cls] + 100,
        query=torch.from_numpy(QUERY),
        declared=lambda states: POOLINGS["mean"](states) / 2,
    )


def attention(tokens: Numbers, query: Numbers = QUERY) -> Numbers:
    weights = np.exp(tokens @ query)
    return weights @ tokens / weights.sum()


def gem(tokens: Numbers) -> Numbers:
    """A negative value counts as nothing, as in the pooling of images, behind a ReLU."""
    return pmean(np.maximum(tokens.astype(np.float64), 1e-6), 3, axis=0)


def second(tokens: Numbers) -> Numbers:
    return tokens[min(1, len(tokens) - 1)]


ALONE: dict[str, Callable[[Numbers], Numbers]] = {  # of the last layer of one text: (T, D) -> (D',)
    "native": second,
    "cls": second,
    "first": lambda tokens: tokens[0],
    "lasttoken": lambda tokens: tokens[-1],
    "mean": lambda tokens: tokens.mean(axis=0),
    "mean_content": lambda tokens: (tokens[1:-1] if len(tokens) > 2 else tokens).mean(axis=0),
    "max": lambda tokens: tokens.max(axis=0),
    "mean_sqrt_len_tokens": lambda tokens: tokens.sum(axis=0) / np.sqrt(len(tokens)),
    "weightedmean": lambda tokens: np.average(tokens, axis=0, weights=np.arange(1, len(tokens) + 1)),
    "gem": gem,
    "mean_max": lambda tokens: np.concatenate([tokens.mean(axis=0), tokens.max(axis=0)]),
    "mean_std": lambda tokens: np.concatenate([tokens.mean(axis=0), tokens.std(axis=0)]),
    "pooler": lambda tokens: second(tokens) + 100,
    "declared": lambda tokens: tokens.mean(axis=0) / 2,
    "attention": attention,
    "flatten": lambda tokens: np.pad(tokens[:64], ((0, max(0, 64 - len(tokens))), (0, 0))).ravel(),
}
LAYERED: dict[str, Callable[[Numbers], Numbers]] = {  # of all layers of one text: (L + 1, T, D) -> (D',)
    "first_last_avg": lambda layers: (layers[min(1, len(layers) - 1)] + layers[-1]).mean(axis=0) / 2,
    "mean_last4": lambda layers: (layers if len(layers) == 1 else layers[1:])[-4:].mean(axis=(0, 1)),
    "concat_last4_cls": lambda layers: np.concatenate(
        [second(tokens) for tokens in (layers if len(layers) == 1 else layers[1:])[-4:]]
    ),
}
BY_HAND = LAYERED | {key: lambda layers, of=of: of(layers[-1]) for key, of in ALONE.items()}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("key", list(POOLINGS))
def test_each_text_of_a_batch_is_pooled_as_by_hand_alone(key: str, side: str) -> None:
    for depth in (1, 2, 4, 7):
        given = states(side, depth)
        hidden = torch.stack(given.layers).numpy()
        for row, (pooled, mask) in enumerate(zip(POOLINGS[key](given), given.mask.numpy(), strict=True)):
            expected = BY_HAND[key](hidden[:, row, mask])
            np.testing.assert_allclose(pooled, expected, atol=1e-5, rtol=1e-4, err_msg=f"{depth} {row}")


@pytest.mark.parametrize("key", ["gem", "mean_std"])
def test_slopes_are_finite_where_nothing_varies_or_all_is_negative(key: str) -> None:
    plain = states("right")
    hidden = torch.full_like(plain.hidden, -1).requires_grad_()
    POOLINGS[key](plain.ending(hidden)).sum().backward()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()


@pytest.mark.parametrize("key", list(POOLINGS))
def test_every_pooling_explains_itself_and_reads_no_padding(key: str) -> None:
    pooling, plain = POOLINGS[key], states("right", 4)
    noisy = plain.layers[-1].masked_fill(~plain.mask[:, :, None], -5555.0)
    assert torch.equal(pooling(plain), pooling(plain.ending(noisy)))
    assert (pooling(plain).shape[1] > WIDTH) == pooling.spec.wide
    assert pooling.spec.key == key
    assert pooling.spec.title.startswith(key)
    assert pooling.spec.summary.endswith(".")
