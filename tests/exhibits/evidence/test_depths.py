"""What the exhibit of layers says and draws, against the numbers that it was given."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from components.exhibits.evidence import Evidence, select
from components.exhibits.small_plots import DEPTHS, profiles
from components.results import Row, Table, beside
from components.texts import load_texts
from tests.exhibits.showing import checked, plain, same_intervals
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, DEEP, LOWER, TASKS, fake_results

SAY = load_texts()
RESULTS = fake_results()


def evidence(total: int = 1, task: str = "topic", results: Table = RESULTS) -> Evidence:
    return select(results, task, BACKBONES[:total], {})


def below(key: str, task: str = "topic") -> list[Row]:
    return measured(RESULTS, "depth", backbone=key, task=task)


@pytest.mark.parametrize(("key", "task"), list(zip(BACKBONES[:4], TASKS, strict=True)))
def test_the_sentence_says_what_the_numbers_say(key: str, task: str) -> None:
    found = below(key, task)
    last = {row.pooling: row.value for row in measured(RESULTS, "probe", backbone=key, task=task)}
    counts = multipletests([row.p for row in found], method="holm")[1] < 0.05
    better = [
        row.pooling for row, holds in zip(found, counts, strict=True) if holds and row.better > row.worse
    ]
    worse = sum(counts) - len(better)
    highest = {pooling: max(row.value for row in found if row.pooling == pooling) for pooling in DEEP}
    sentence = plain(DEPTHS.show(select(RESULTS, task, (key,), {}), {}, SAY).above)
    reach = sum(highest[pooling] > last[pooling] for pooling in DEEP)
    assert f"{reach} of {len(DEEP)} poolings are most accurate below the last layer" in sentence
    assert (
        f"{len(better)} of {len(found)} are better than the last one by more than chance and {worse}"
        in sentence
    )
    top = max(max(highest.values()), max(last[pooling] for pooling in DEEP))
    assert f"Highest of all: {100 * top:.1f} % with" in sentence
    said = "So here a layer below the last is better than the last one, for"
    assert (said in sentence) == bool(better)
    assert ("no layer below the last is better than it by more than chance" in sentence) != bool(better)
    assert all(pooling in sentence.split(said)[1].split(".")[0] for pooling in better)


def test_a_layer_that_is_worse_by_far_is_not_called_better() -> None:
    worse = [beside(row, better=1, worse=90, p=1e-9) for row in measured(RESULTS, "depth")]
    sentence = plain(DEPTHS.show(evidence(results=having(RESULTS, depth=worse)), {}, SAY).above)
    total = LOWER * len(DEEP)
    assert f"0 of {total} are better than the last one by more than chance and {total} are worse" in sentence
    assert "So here no layer below the last" in sentence


def test_poolings_that_are_one_vector_at_every_layer_are_tested_once() -> None:
    """Those that are one at some layers alone are two."""

    def same(pooling: str, layers: range) -> Table:
        rows = {
            kind: [
                beside(row, vector="cls")
                if row.pooling == pooling and (kind == "probe" or row.layer in layers)
                else row
                for row in measured(RESULTS, kind)
            ]
            for kind in ("probe", "depth")
        }
        return having(RESULTS, **rows)

    whole = profiles(evidence(results=same("mean", range(LOWER))), BACKBONES[0])
    assert [one[0].poolings for one in whole] == [("cls", "mean"), ("max",)]
    raw = [row.p for row in below(BACKBONES[0]) if row.pooling != "mean"]
    corrected = sorted(row.corrected for one in whole for row in one[:-1])
    np.testing.assert_allclose(corrected, sorted(multipletests(raw, method="holm")[1]))
    assert len(profiles(evidence(results=same("mean", range(1))), BACKBONES[0])) == 3


@pytest.mark.parametrize("total", [1, 3])
def test_every_layer_is_drawn_with_its_interval(total: int) -> None:
    chosen = evidence(total)
    figure = checked(DEPTHS.show(chosen, {}, SAY).figure)
    assert len(figure.data) == total * len(DEEP)
    for place, line in enumerate(figure.data):
        pooling, key = DEEP[place // total], BACKBONES[place % total]
        expected = [row for row in below(key) if row.pooling == pooling]
        (last,) = measured(RESULTS, "probe", backbone=key, task="topic", pooling=pooling)
        assert list(line.x) == list(range(LOWER + 1))
        same_intervals([*expected, last], line.y, line.error_y)
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>cls</b>", "mean", "max", "layer (0: the embeddings)"]
