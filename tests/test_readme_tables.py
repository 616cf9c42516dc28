"""The tables of the README and the docs say what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from components.exhibits.evidence import gains, select
from components.exhibits.small_plots import profiles
from components.inference.engine import Engine
from components.results import read_results
from tests.measured import measured
from tests.readme import GROWN, PAGES
from tests.serving import ROOT


def test_the_poolings_in_the_table_exist(engine: Engine) -> None:
    table = PAGES["measuring.md"].split("| Pooling |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(named) > 10
    assert set(named) <= {spec.key for spec in engine.poolings()}


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
def test_the_accuracies_are_those_of_the_results(task: str) -> None:
    (line,) = re.findall(rf"^\| {task}, .*$", PAGES["backbones.md"], re.MULTILINE)
    results = read_results(ROOT / "assets" / "results.csv")
    reached = [
        row for row in (*measured(results, "head"), *measured(results, "baseline")) if row.task == task
    ]
    shown = [f"{100 * row.value:.1f}" for row in reached]
    assert re.findall(r"([\d.]+) %", line)[: len(shown)] == shown


def test_how_far_poolings_lie_apart_is_that_of_the_results() -> None:
    results = read_results(ROOT / "assets" / "results.csv")

    def spans(rows: Iterable[Any], scale: float) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for row in rows:
            found.setdefault(row.backbone, []).append(scale * row.value)
        return {key: max(values) - min(values) for key, values in found.items()}

    topic = spans((row for row in measured(results, "probe") if row.task == "topic"), 100).values()
    every = spans((row for row in measured(results, "probe") if row.task == "sentiment"), 100)
    tuned = {key: span for key, span in every.items() if key.endswith("-sentiment")}
    last = tuned.pop("gpt2-sentiment")
    rho = spans(measured(results, "cosine"), 1)
    bare = [span for key, span in rho.items() if key.endswith("-pretrained")]
    after = [span for key, span in rho.items() if key.endswith("-sentiment")]
    said = " ".join(PAGES["recipe.md"].split())
    assert f"lie {min(topic):.1f} to {max(topic):.1f} points apart" in said
    assert f"four lie {min(tuned.values()):.1f} to {max(tuned.values()):.1f} points apart" in said
    assert f"GPT-2 {last:.1f}:" in said
    assert f"spans {min(bare):.2f} to {max(bare):.2f} in the pre-trained backbones" in said
    assert f"and {min(after):.2f} to {max(after):.2f} in those fine-tuned for sentiment" in said


def test_how_many_lower_layers_are_better_is_that_of_the_results() -> None:
    results = read_results(ROOT / "assets" / "results.csv")
    counts: dict[str, list[int]] = {"own": [0, 0], "other": [0, 0], "pretrained": [0, 0], GROWN: [0, 0]}
    topics = 0
    for key, task in dict.fromkeys((row.backbone, row.task) for row in measured(results, "depth")):
        made_for = key.split("-")[1]
        found = profiles(select(results, task, (key,), {}), key)
        better = sum(gains(one)[0] for one in found)
        kind = made_for if made_for == "pretrained" else "own" if made_for == task else "other"
        kind = GROWN if key == GROWN else kind
        counts[kind] = [counts[kind][0] + better, counts[kind][1] + sum(len(one) - 1 for one in found)]
        topics += better if (kind, task) == ("pretrained", "topic") else 0
    said = " ".join(PAGES["recipe.md"].split())
    own, other, bare, grown = counts.values()
    assert f"of its lower layers {grown[0]} of {grown[1]} are better than the last one" in said
    assert f"{own[0]} of {own[1]} are better than the last one on its own task" in said
    assert f"and {other[0]} of {other[1]} on the other three" in said
    assert f"in the pre-trained backbones {bare[0]} of {bare[1]} are, all of them on" in said
    assert topics == bare[0]


def test_what_whitening_does_is_that_of_the_results() -> None:
    every = measured(read_results(ROOT / "assets" / "results.csv"), "postprocessed")
    said = " ".join(PAGES["recipe.md"].split())

    def counted(step: str, grown: bool) -> tuple[int, int, int]:
        rows = [row for row in every if row.step == step and row.vector == row.pooling]
        rows = [row for row in rows if (row.backbone == GROWN) == grown]
        return sum(row.gain_low > 0 for row in rows), sum(row.gain_high < 0 for row in rows), len(rows)

    up, down, total = counted("whitened", grown=False)
    assert f"whitening raises rho for {up} of {total} vectors and lowers it for {down}" in said
    up, down, total = counted("whitened", grown=True)
    assert f"it raises {up} of {total} and lowers {down}" in said
    up, down, total = counted("centred", grown=False)
    assert f"raises rho for {up} of the miniatures' {total} vectors and lowers it for {down}" in said
    means = [r.gain for r in every if (r.step, r.pooling) == ("whitened", "mean") and r.backbone != GROWN]
    assert f"that of `mean` rises by {min(means):.2f} to {max(means):.2f}" in said
