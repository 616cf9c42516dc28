"""What a head reads: on heads that are plain to see, and on the bundled checkpoints by brute force."""

import numpy as np
import pytest
import torch

from components.inference.engine import Engine
from components.model.reads import Head, Reading
from components.types import Query
from tests.families.cases import FACTS, ByHand
from tests.plain import FIRST, INPUTS, KEYS, SPECS, load_plain

HIDDEN = torch.randn(1, 5, 16, generator=torch.Generator().manual_seed(1))
WEIGHT = torch.randn(3, 16, generator=torch.Generator().manual_seed(2))
WEIGHTS = torch.tensor([0.0, 0.1, 0.2, 0.3, 0.4])
HEADS: dict[str, tuple[Head, list[float]]] = {  # of five positions, and the share of each: read where not 0
    "one position": (lambda hidden: hidden[:, 2] @ WEIGHT.T, [0, 0, 1, 0, 0]),
    "an average": (lambda hidden: hidden.mean(dim=1) @ WEIGHT.T, [0.2] * 5),
    "a weighted sum": (lambda hidden: (WEIGHTS[:, None] * hidden).sum(dim=1) @ WEIGHT.T, WEIGHTS.tolist()),
    "a dead ReLU": (lambda hidden: torch.relu(hidden[:, 1] - 10) @ WEIGHT.T, [0, 1, 0, 0, 0]),
    "a saturated tanh": (lambda hidden: torch.tanh(hidden[:, 3] + 20) @ WEIGHT.T, [0, 0, 0, 1, 0]),
    "slopes too small to be squared": (lambda hidden: hidden[:, 2] @ WEIGHT.T * 1e-30, [0, 0, 1, 0, 0]),
}


@pytest.mark.parametrize("kind", HEADS)
def test_positions_and_shares(kind: str) -> None:
    head, shares = HEADS[kind]
    reading = Reading(head, HIDDEN)
    assert reading.positions[0].tolist() == [share > 0 for share in shares]
    assert reading.share[0].tolist() == pytest.approx(shares, abs=1e-6)


def test_a_maximum_reads_every_position_although_few_win() -> None:
    hidden = HIDDEN.clone()
    hidden[:, 0] += 30  # wins every dimension
    reading = Reading(lambda states: states.amax(dim=1) @ WEIGHT.T, hidden)
    assert reading.positions.all()
    assert reading.share[0].tolist() == pytest.approx([1, 0, 0, 0, 0])


def test_a_head_that_reads_nothing_has_no_positions() -> None:
    reading = Reading(lambda hidden: torch.ones(len(hidden), 3), HIDDEN)
    assert not reading.positions.any()
    assert reading.share[0].sum().item() == pytest.approx(1)


def test_rows_of_a_batch_are_measured_apart() -> None:
    hidden = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(3))
    index = torch.tensor([1, 4])
    reading = Reading(lambda states: states[torch.arange(2), index] @ WEIGHT.T, hidden)
    assert reading.positions.nonzero().tolist() == [[0, 1], [1, 4]]


@pytest.mark.parametrize(("text", "text_pair"), [INPUTS[1], INPUTS[3]])
@pytest.mark.parametrize("key", KEYS[::2])  # every family, and every training
def test_bundled_checkpoints_read_what_brute_force_finds(
    engine: Engine, key: str, text: str, text_pair: str
) -> None:
    analysis, plain = engine.ask("analyze", Query(key, text, text_pair)), load_plain(SPECS[key].location)
    by_hand = ByHand(plain.model, FACTS["bodies"].get(plain.model.config.model_type, ""))
    inputs = dict(plain.tokenizer(text, text_pair or None, return_tensors="pt"))
    read = np.flatnonzero(analysis.reads.positions).tolist()
    last = len(analysis.tokens.text) - 1
    assert read == by_hand.reads(inputs)
    assert read == ([0] if key.split("-")[0] in FIRST else [last])
    assert analysis.reads.share[read[0]] == 1
    assert analysis.tokens.cls == read[0]
