"""The average against [CLS]: counts, intervals and marks are those of pandas, scipy and statsmodels."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from components.exhibits.averaging import AVERAGING, SIGNS, averages, averages_facts
from components.exhibits.evidence import Evidence
from components.results import beside, read_results
from tests.exhibits.showing import SAY, drawn, plain, records
from tests.measured import by_holm, having, measured
from tests.serving import ROOT

FILE = ROOT / "assets" / "results.csv"
SHIPPED = Evidence(read_results(FILE), "sentiment", ("bert-pretrained",), {})
CSV = pd.read_csv(FILE, keep_default_na=False).query("kind in ('probe', 'head')")


@pytest.fixture(scope="module")
def oracle() -> pd.DataFrame:
    """A row for each backbone and task: the average less cls, whether it counts, and was tuned for."""
    tuned = set(zip(*(CSV.query("kind == 'head'")[name] for name in ("backbone", "task")), strict=True))
    found = []
    for cell, rows in CSV.query("kind == 'probe'").groupby(["backbone", "task"], sort=False):
        base = rows.query("pooling == 'cls'").iloc[0]
        others = rows.drop_duplicates("vector").query("vector != @base.vector")
        counts = others[["better", "worse"]].astype(int)
        pairs = counts.to_numpy()
        ps = [binomtest(one, one + other).pvalue if one + other else 1.0 for one, other in pairs]
        corrected = dict(zip(others["vector"], by_holm(ps), strict=True))
        mean = rows.query("pooling == 'mean'").iloc[0]
        raw = ps[list(others["vector"]).index(mean.vector)]
        gained = 100 * (float(mean.value) - float(base.value))
        found.append((*cell, gained, corrected[mean.vector], raw, cell in tuned))
    return pd.DataFrame(found, columns=["backbone", "task", "gained", "p", "raw", "tuned"])


def test_counts_and_points_are_those_of_the_file(oracle: pd.DataFrame) -> None:
    facts = averages_facts(averages(SHIPPED))
    for name, rows in (("tuned", oracle[oracle.tuned]), ("others", oracle[~oracle.tuned])):
        counting = rows[rows.p < 0.05]
        counts = (
            len(rows),
            (counting.gained > 0).sum(),
            (counting.gained < 0).sum(),
            (rows.gained > 0).sum(),
        )
        told = [facts[f"{name}_{key}"] for key in ("cells", "better", "worse", "higher")]
        assert told == list(map(str, counts))
        ends = rows.gained.min(), rows.gained.max(), rows.gained.median()
        told = [facts[f"{name}_{key}"].replace("−", "-") for key in ("low", "high", "median")]
        assert told == [f"{value:+.1f}" for value in ends]
    strict = (by_holm(oracle.raw) < 0.05) & (oracle.gained > 0) & ~oracle.tuned
    assert (facts["cells"], facts["left"]) == (str(len(oracle)), str(strict.sum()))


def test_the_finding_of_what_is_shipped() -> None:
    shown = AVERAGING.show(SHIPPED, {}, SAY)
    assert "in 30 of 54 cases; where the backbone was fine-tuned for the task, in none of 10" in shown.heading
    assert "70.1 % with [CLS], 79.0 % with the average, 81.9 % with" in plain(shown.above)
    assert "corrected for all 64 cases instead, 22 are left" in shown.legend


def test_nothing_is_said_of_what_no_backbone_was_tuned_for() -> None:
    two = Evidence(SHIPPED.results, "sentiment", ("bert-pretrained", "roberta-pretrained"), {})
    assert "was fine-tuned" in AVERAGING.show(SHIPPED, {}, SAY).above
    assert "was fine-tuned" not in AVERAGING.show(two, {}, SAY).above


def test_every_difference_is_drawn_with_the_interval_of_a_paired_mean(oracle: pd.DataFrame) -> None:
    figure, table = drawn(AVERAGING, SHIPPED), records(AVERAGING.show(SHIPPED, {}, SAY))
    assert len(table) == sum(len(dots.x) for dots in figure.data) == len(oracle)
    names = list(dict.fromkeys(oracle.backbone))
    for dots, (task, rows) in zip(figure.data, oracle.groupby("task", sort=False), strict=True):
        assert [names[place] for place in dots.y] == list(rows.backbone)
        np.testing.assert_allclose(dots.x, rows.gained, atol=1e-3)
        signs = [
            "alike" if p >= 0.05 else "better" if gained > 0 else "worse"
            for p, gained in rows[["p", "gained"]].to_numpy()
        ]
        assert list(dots.marker.color) == [SIGNS[sign][0] for sign in signs]
        probes = {row.backbone: row for row in measured(SHIPPED.results, "probe", pooling="mean", task=task)}
        for key, above, below in zip(rows.backbone, dots.error_x.array, dots.error_x.arrayminus, strict=True):
            row = probes[key]
            each = np.repeat([1, -1, 0], [row.better, row.worse, row.measured - row.better - row.worse])
            ends = norm.interval(0.95, each.mean(), each.std() / np.sqrt(len(each)))
            np.testing.assert_allclose((below, above), 50 * (ends[1] - ends[0]), atol=1e-3)
    assert len(figure.layout.shapes) == oracle.tuned.sum()


def test_the_table_of_a_narrow_screen_has_every_difference_and_its_sign(oracle: pd.DataFrame) -> None:
    table = AVERAGING.show(SHIPPED, {}, SAY).legend.partition("</table>")[0].split("<tr>")[2:]
    told = {name: cells for name, *cells in (re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table)}
    assert list(told) == list(oracle.backbone.unique())
    for place, (_, rows) in enumerate(oracle.groupby("task", sort=False)):
        for row in rows.itertuples():
            signs = "■" * row.tuned + ("●" if row.p < 0.05 else "○")
            cell = told[row.backbone][place]
            assert plain(cell).replace("−", "-") == f"{signs}{row.gained:+.1f}"
            assert SIGNS["better" if row.p < 0.05 else "alike"][0] in cell  # as in the legend


def test_an_average_that_is_cls_itself_is_no_case() -> None:
    rows = measured(SHIPPED.results, "probe")
    alike = [beside(row, vector="cls") if row.pooling in ("cls", "mean") else row for row in rows]
    same = Evidence(having(SHIPPED.results, probe=alike), "sentiment", (), {})
    facts = averages_facts(averages(same))
    assert (facts["cells"], facts["averaging"]) == ("0", "open")
    assert AVERAGING.shown(same, {}, SAY).figure is None
