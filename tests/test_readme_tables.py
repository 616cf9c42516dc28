"""The tables of the README and the docs say what was measured."""

import re
from collections import defaultdict

import numpy as np
import pytest

from components.exhibits.evidence import gains, select
from components.exhibits.intervals import profiles
from components.inference.engine import Engine
from components.results import of, read_results
from tests.measured import measured
from tests.readme import GROWN, PAGES
from tests.serving import ROOT

RESULTS = read_results(ROOT / "assets" / "results.csv")
RECIPE = " ".join(PAGES["recipe.md"].split())


def test_the_poolings_in_the_table_exist(engine: Engine) -> None:
    table = PAGES["measuring.md"].split("| Pooling |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(named) > 10
    assert set(named) <= {spec.key for spec in engine.poolings()}


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
def test_the_accuracies_are_those_of_the_results(task: str) -> None:
    (line,) = re.findall(rf"^\| {task}, .*$", PAGES["backbones.md"], re.MULTILINE)
    reached = [row for kind in ("head", "baseline") for row in measured(RESULTS, kind, task=task)]
    shown = [f"{100 * row.value:.1f}" for row in reached]
    assert re.findall(r"([\d.]+) %", line)[: len(shown)] == shown


def test_how_far_poolings_lie_apart_is_that_of_the_results() -> None:
    def spans(kind: str, training: str = "", **where: str) -> dict[str, float]:
        found = of(RESULTS, kind, **where).groupby("backbone")["value"].agg(np.ptp)
        return {key: span for key, span in found.items() if key.endswith(training)}

    topic, tuned = spans("probe", task="topic").values(), spans("probe", "-sentiment", task="sentiment")
    last = tuned.pop("gpt2-sentiment")
    bare, after = (spans("cosine", training).values() for training in ("-pretrained", "-sentiment"))
    assert f"lie {100 * min(topic):.1f} to {100 * max(topic):.1f} points apart" in RECIPE
    ends = [100 * end(tuned.values()) for end in (min, max)]
    assert f"four lie {ends[0]:.1f} to {ends[1]:.1f} points apart" in RECIPE
    assert f"GPT-2 {100 * last:.1f}:" in RECIPE
    assert f"spans {min(bare):.2f} to {max(bare):.2f} in the pre-trained backbones" in RECIPE
    assert f"and {min(after):.2f} to {max(after):.2f} in those fine-tuned for sentiment" in RECIPE


def test_how_many_lower_layers_are_better_is_that_of_the_results() -> None:
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2, int))  # those that are better, and all
    topics = 0
    for key, task in dict.fromkeys((row.backbone, row.task) for row in measured(RESULTS, "depth")):
        made_for = key.split("-")[1]
        found = profiles(select(RESULTS, task, (key,), {}), key)
        better = sum(gains(one)[0] for one in found)
        kind = made_for if made_for == "pretrained" else "own" if made_for == task else "other"
        counts[GROWN if key == GROWN else kind] += (better, sum(len(one) - 1 for one in found))
        topics += better if (kind, task) == ("pretrained", "topic") else 0
    own, other, bare, grown = (counts[kind] for kind in ("own", "other", "pretrained", GROWN))
    assert f"of its lower layers {grown[0]} of {grown[1]} are better than the last one" in RECIPE
    assert f"{own[0]} of {own[1]} are better than the last one on its own task" in RECIPE
    assert f"and {other[0]} of {other[1]} on the other three" in RECIPE
    assert f"in the pre-trained backbones {bare[0]} of {bare[1]} are, all of them on" in RECIPE
    assert topics == bare[0]


def test_what_whitening_does_is_that_of_the_results() -> None:
    every = measured(RESULTS, "postprocessed")

    def counted(step: str, grown: bool) -> tuple[int, int, int]:
        rows = [row for row in every if row.step == step and row.vector == row.pooling]
        rows = [row for row in rows if (row.backbone == GROWN) == grown]
        return sum(row.gain_low > 0 for row in rows), sum(row.gain_high < 0 for row in rows), len(rows)

    up, down, total = counted("whitened", grown=False)
    assert f"whitening raises rho for {up} of {total} vectors and lowers it for {down}" in RECIPE
    up, down, total = counted("whitened", grown=True)
    assert f"it raises {up} of {total} and lowers {down}" in RECIPE
    up, down, total = counted("centred", grown=False)
    assert f"raises rho for {up} of the miniatures' {total} vectors and lowers it for {down}" in RECIPE
    means = [
        row.gain for row in every if (row.step, row.pooling) == ("whitened", "mean") and row.backbone != GROWN
    ]
    assert f"that of `mean` rises by {min(means):.2f} to {max(means):.2f}" in RECIPE
