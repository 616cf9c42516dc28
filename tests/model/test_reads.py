"""What a head reads: on heads that are plain to see, and on the bundled checkpoints by brute force."""

import numpy as np
import pytest
import torch
from torch import Tensor

from components.inference.engine import Engine
from components.model.reads import Head, Reading
from components.types import Query
from tests.plain import FIRST, INPUTS, KEYS, SPECS, load_plain, overwritten
from tests.vectors import features

HIDDEN = torch.randn(1, 5, 16, generator=torch.Generator().manual_seed(1))
WEIGHT = torch.randn(3, 16, generator=torch.Generator().manual_seed(2))


def measured(head: Head, hidden: Tensor) -> tuple[Tensor, Tensor]:
    reading = Reading(head, hidden)
    return reading.positions, reading.share


def positions(head: Head, hidden: Tensor = HIDDEN) -> list[int]:
    read, share = measured(head, hidden)
    assert share.sum(dim=1).tolist() == pytest.approx([1.0] * len(hidden))
    assert not share[~read].any()
    return np.flatnonzero(read[0]).tolist()


def test_one_position() -> None:
    assert positions(lambda hidden: hidden[:, 2] @ WEIGHT.T) == [2]


def test_an_average_reads_all_alike() -> None:
    read, share = measured(lambda hidden: hidden.mean(dim=1) @ WEIGHT.T, HIDDEN)
    assert read.all()
    assert share[0].tolist() == pytest.approx([0.2] * 5)


def test_a_weighted_sum_has_its_weights_as_shares() -> None:
    weights = torch.tensor([0.0, 0.1, 0.2, 0.3, 0.4])
    read, share = measured(lambda hidden: (weights[:, None] * hidden).sum(dim=1) @ WEIGHT.T, HIDDEN)
    assert read[0].tolist() == [False, True, True, True, True]
    assert share[0].tolist() == pytest.approx(weights.tolist(), abs=1e-6)


def test_a_dead_relu_is_read_although_its_slope_is_zero() -> None:
    assert positions(lambda hidden: torch.relu(hidden[:, 1] - 10) @ WEIGHT.T) == [1]


def test_a_saturated_tanh_is_read_although_its_slope_is_zero() -> None:
    assert positions(lambda hidden: torch.tanh(hidden[:, 3] + 20) @ WEIGHT.T) == [3]


def test_a_maximum_reads_every_position_although_few_win() -> None:
    hidden = HIDDEN.clone()
    hidden[:, 0] += 30  # wins every dimension
    read, share = measured(lambda states: states.amax(dim=1) @ WEIGHT.T, hidden)
    assert read.all()
    assert share[0].tolist() == pytest.approx([1, 0, 0, 0, 0])


def test_slopes_too_small_to_be_squared_in_single_precision_count() -> None:
    assert positions(lambda hidden: hidden[:, 2] @ WEIGHT.T * 1e-30) == [2]


def test_a_head_that_reads_nothing_has_no_positions() -> None:
    read, share = measured(lambda hidden: torch.ones(len(hidden), 3), HIDDEN)
    assert not read.any()
    assert share[0].sum().item() == pytest.approx(1)


def test_rows_of_a_batch_are_measured_apart() -> None:
    hidden = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(3))
    index = torch.tensor([1, 4])
    read, _ = measured(lambda states: states[torch.arange(2), index] @ WEIGHT.T, hidden)
    assert read.nonzero().tolist() == [[0, 1], [1, 4]]


def by_force(key: str, text: str, text_pair: str) -> list[int]:
    """Positions whose final hidden state, really changed in a whole forward pass, changes a logit."""
    plain = load_plain(SPECS[key].location)
    inputs = plain.tokenizer(text, text_pair or None, return_tensors="pt")
    moved = []
    with torch.no_grad():
        before = plain.model(**inputs).logits
        for position in range(inputs["input_ids"].shape[1]):

            def change(hidden: Tensor, position: int = position) -> Tensor:
                changed = hidden.clone()
                changed[:, position] = -5 * changed[:, position] + 1
                return changed

            with overwritten(plain.model, change):
                if not torch.equal(plain.model(**inputs).logits, before):
                    moved.append(position)
    return moved


@pytest.mark.parametrize(("text", "text_pair"), [INPUTS[1], INPUTS[3]])
@pytest.mark.parametrize("key", KEYS)
def test_bundled_checkpoints_read_what_brute_force_finds(
    engine: Engine, key: str, text: str, text_pair: str
) -> None:
    analysis = engine.ask("analyze", Query(key, text, text_pair))
    read = np.flatnonzero(analysis.reads.positions).tolist()
    last = len(analysis.tokens.text) - 1
    assert read == by_force(key, text, text_pair)
    assert read == ([0] if key.split("-")[0] in FIRST else [last])
    assert analysis.reads.share[read[0]] == 1
    assert analysis.tokens.cls == read[0]


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "xlnet", "gpt2"])
def test_in_a_padded_batch_the_head_reads_past_the_padding(engine: Engine, family: str) -> None:
    """GPT-2 reads the last token that is no padding, XLNet the very last (it pads on the left)."""
    texts = ("good", INPUTS[0][0])
    native = features(engine, f"{family}-sentiment", texts, ["native", "first", "lasttoken"])
    np.testing.assert_allclose(
        native["native"], native["first" if family in FIRST else "lasttoken"], atol=1e-6
    )
