"""Every pooling on hidden states whose values are known by eye: that of token t is t."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import pmean
from torch import Tensor

from components.errors import PoolscopeError
from components.model.pooling import POOLINGS, States
from components.model.reads import Reading

EXPECTED = {  # three tokens 0, 1, 2, of which the first and the last are special
    "native": 1,  # the fake head reads token 1
    "cls": 0,
    "first": 0,
    "lasttoken": 2,
    "mean": 1,
    "mean_content": 1,
    "max": 2,
    "mean_sqrt_len_tokens": 3 / np.sqrt(3),
    "weightedmean": (0 * 1 + 1 * 2 + 2 * 3) / 6,
    "gem": ((0 + 1 + 8) / 3) ** (1 / 3),
    "first_last_avg": (1 + 11) / 2,  # layer 1 holds t + 10
    "mean_last4": (1 + 11) / 2,
    "concat_last4_cls": None,
    "mean_max": None,
    "mean_std": None,
    "pooler": 100,
    "declared": 1 / 2,  # below: half of the mean
    "attention": 2 - 1e-6,  # the query below all but takes the maximum
    "flatten": None,
}
QUERY = torch.full((4,), 5.0)


def states(side: str, layers: int = 2) -> States:
    """Two texts of three and five tokens; hidden state of token t is t + 10 (L - l), of padding 999."""
    rows = []
    for length in (3, 5):
        own, padding = torch.arange(length).float(), torch.full((5 - length,), 999.0)
        rows.append(torch.cat((own, padding) if side == "right" else (padding, own)))
    final = torch.stack(rows)[:, :, None].expand(2, 5, 4)  # (B, T, D)
    start = torch.tensor([2 if side == "left" else 0, 0])
    mask = final[:, :, 0] < 999
    special = torch.zeros_like(mask)
    for row, length in enumerate((3, 5)):
        special[row, start[row]] = special[row, start[row] + length - 1] = True

    def head(hidden: Tensor) -> Tensor:  # reads the second token of each text
        return hidden[torch.arange(2), start + 1]

    return States(
        layers=tuple(final + 10 * (layers - layer) for layer in range(layers + 1)),
        mask=mask,
        special=special | ~mask,
        cls=start,
        reads=Reading(head, final),
        pooler=lambda hidden: hidden[torch.arange(2), start] + 100,  # of the first token
        query=QUERY,
        declared=lambda states: POOLINGS["mean"](states) / 2,
    )


def random_states(side: str, lengths: tuple[int, ...] = (3, 70, 64, 1), width: int = 5) -> States:
    """One layer of random hidden states for texts of these ``lengths``, with 999 where padding stands."""
    total = max(lengths)
    count = torch.tensor(lengths)[:, None]
    position = torch.arange(total)[None]
    mask = position < count if side == "right" else position >= total - count
    hidden = torch.randn(len(lengths), total, width, generator=torch.Generator().manual_seed(0))
    return States(
        layers=(hidden.masked_fill(~mask[:, :, None], 999.0),),
        mask=mask,
        special=~mask,
        cls=mask.int().argmax(dim=1),
        reads=Reading(lambda states: states[:, 0], hidden),
        pooler=None,
        query=torch.linspace(-1, 2, width),
        declared=POOLINGS["mean"],
    )


MASKED = [key for key in POOLINGS if key not in ("native", "pooler")]  # what these see is the model's own


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("key", MASKED)
def test_a_text_in_a_batch_is_pooled_as_it_is_alone(key: str, side: str) -> None:
    whole = random_states(side)
    whole = replace(whole, layers=(*whole.layers, whole.hidden * 2), special=~whole.mask)
    for row, mask in enumerate(whole.mask):
        layers = tuple(layer[row : row + 1, mask] for layer in whole.layers)
        alone = replace(
            whole,
            layers=layers,
            mask=mask[mask][None],
            special=~mask[mask][None],
            cls=torch.zeros(1, dtype=torch.long),
            reads=Reading(lambda states: states[:, 0], layers[-1]),
        )
        np.testing.assert_allclose(POOLINGS[key](whole)[row], POOLINGS[key](alone)[0], atol=1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("key", [key for key, value in EXPECTED.items() if value is not None])
def test_value_known_by_eye(key: str, side: str) -> None:
    pooled = POOLINGS[key](states(side))
    assert pooled.shape == (2, 4)
    assert pooled[0].tolist() == pytest.approx([EXPECTED[key]] * 4)


@pytest.mark.parametrize("layers", [1, 2, 4, 6])
def test_the_last_four_layers_leave_the_embeddings_out(layers: int) -> None:
    """Layer l is 10 (L - l) above the last one, whose three tokens are 0, 1 and 2."""
    expected = [10 * above for above in reversed(range(min(layers, 4)))]
    beside = POOLINGS["concat_last4_cls"](states("right", layers))[0]
    assert beside.tolist() == [value for value in expected for _ in range(4)]
    average = POOLINGS["mean_last4"](states("left", layers))[0]
    assert average.tolist() == pytest.approx([np.mean(expected) + 1] * 4)


def by_brute_force(key: str, tokens: np.ndarray) -> np.ndarray:
    """What NumPy and SciPy make of the tokens (T, D) of one text."""
    if key == "gem":  # a negative value counts as nothing, as in the pooling of images, behind a ReLU
        return pmean(np.maximum(tokens.astype(np.float64), 1e-6), 3, axis=0)
    if key == "attention":
        weights = np.exp(tokens @ np.linspace(-1, 2, 5))
        return weights @ tokens / weights.sum()
    if key == "flatten":
        return np.concatenate([tokens[:64], np.zeros((64, 5))])[:64].ravel()
    other = tokens.max(axis=0) if key == "mean_max" else tokens.std(axis=0)
    return np.concatenate([tokens.mean(axis=0), other])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("key", ["mean_max", "mean_std", "gem", "attention", "flatten"])
def test_what_has_no_value_known_by_eye_by_brute_force(key: str, side: str) -> None:
    given = random_states(side)
    for pooled, hidden, mask in zip(POOLINGS[key](given), given.hidden.numpy(), given.mask, strict=True):
        np.testing.assert_allclose(pooled, by_brute_force(key, hidden[mask]), atol=1e-5, rtol=1e-4)


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
    assert (pooling(plain).shape[1] > 4) == pooling.spec.wide
    lowest = pooling(plain.upto(0))  # the embeddings alone
    assert lowest.isfinite().all()
    assert lowest.shape[1] == 4 or pooling.spec.wide
    assert pooling.spec.key == key
    assert pooling.spec.title.startswith(key)
    assert pooling.spec.summary.endswith(".")


LACKING: dict[str, tuple[dict[str, object], str]] = {
    "attention": ({"query": None}, "pooling: 'attention' was given; it is learned with a probe"),
    "mean_content": ({"special": torch.ones(2, 5, dtype=torch.bool)}, "mean_content"),
    "pooler": ({"pooler": None}, "no pooler"),
    "declared": ({"declared": lambda _states: None}, "declares no pooling"),
}


@pytest.mark.parametrize("key", LACKING)
def test_a_pooling_without_what_it_needs_says_so(key: str) -> None:
    lacks, message = LACKING[key]
    with pytest.raises(PoolscopeError, match=message):
        POOLINGS[key](replace(states("right"), **lacks))  # type: ignore[arg-type]  # by their names
