"""What can be taken away of each plot: its numbers as CSV, and buttons for its images."""

import csv
import io
import re
from base64 import b64decode
from html import unescape

import numpy as np
import pytest

from components.figures.curves import curves
from components.figures.evidence import select
from components.figures.grid import Comparison
from components.figures.view import View
from components.texts import load_texts
from components.types import Anatomy, Compared, Query
from components.ui.captions import heatmap_heading, outputs_heading, similarity_heading
from components.ui.compare.captions import curves_heading
from components.ui.evidence_captions import accuracy_heading, rho_heading
from components.ui.lead import flow_heading, strips_heading
from tests.figures.compared import answer, comparison
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.fake_results import BACKBONES, fake_results

SAY = load_texts()


def anatomy(backbone: str = "first", text: str = "not good at all", **query: str) -> Anatomy:
    return FakeAnalyst().anatomy(Query(backbone, text, **query))


def view(backbone: str = "first", layer: int = 1, centred: bool = False, **query: str) -> View:
    return View(anatomy(backbone, **query).analysis, layer, centred)


def rows(heading: str) -> list[list[str]]:
    """The CSV behind a heading's link."""
    (data,) = re.findall(r'href="data:text/csv;base64,([^"]+)"', heading)
    return list(csv.reader(io.StringIO(b64decode(data).decode("utf-8-sig"))))


def numbers(cells: list[str]) -> list[float]:
    return [float(cell) for cell in cells]


def described(heading: str) -> str:
    return unescape(heading.partition('class="unseen">')[2].partition("</p>")[0])


def compared() -> Comparison:
    """Two backbones with answers of different depth."""
    analyst = FakeAnalyst()
    specs = [spec for spec in analyst.backbones() if spec.key in ("first", "pair")]
    cells = list(analyst.compare([Query(spec.key, "a good film", "=1+1") for spec in specs]))
    return Comparison(tuple(specs), ("native",), tuple(cells), "done")


@pytest.mark.parametrize("centred", [False, True])
def test_similarity_is_what_the_bars_show(centred: bool) -> None:
    seen = view(centred=centred)
    head, *found = rows(similarity_heading(seen, SAY))
    assert head[:2] == ["index", "token"]
    assert [row[1] for row in found] == list(seen.analysis.tokens.text)
    shown = (seen.analysis.centred if centred else seen.analysis.similarity)[1]
    np.testing.assert_allclose(numbers([row[4] for row in found]), shown, rtol=1e-6)
    assert [row[2] == "yes" for row in found] == seen.analysis.reads.positions.tolist()


def test_outputs_are_all_there_and_not_only_those_with_bars() -> None:
    analysis = anatomy("many").analysis
    _, *found = rows(outputs_heading(analysis, SAY))
    assert len(found) == 40
    expected = dict(
        zip(analysis.labels, zip(analysis.logits, analysis.probabilities, strict=True), strict=True)
    )
    for label, logit, probability, _ in found:
        np.testing.assert_allclose([float(logit), float(probability)], expected[label], rtol=1e-6)
    assert {row[3] for row in rows(outputs_heading(anatomy("untrained").analysis, SAY))[1:]} == {"no"}


def test_the_heat_map_is_a_row_for_each_token_and_a_column_for_each_layer() -> None:
    seen = view("pair", layer=3)
    head, *found = rows(heatmap_heading(seen, SAY))
    assert head[2:] == [f"layer {layer}" for layer in range(7)]
    values = np.array([numbers(row[2:]) for row in found])
    np.testing.assert_allclose(values, seen.analysis.similarity.T, rtol=1e-6)


def test_the_heat_map_says_where_it_is_highest_and_lowest() -> None:
    seen = view("pair", layer=3)
    values = seen.analysis.similarity.copy()
    values[:, 0] = np.nan  # the reference
    said = described(heatmap_heading(seen, SAY))
    for pick in (np.nanargmax, np.nanargmin):
        layer, index = np.unravel_index(pick(values), values.shape)
        token = seen.analysis.tokens.text[index]
        assert f"{values[layer, index]:.2f} ({token} at layer {layer})" in said


def test_the_stream_is_tokens_steps_and_classes() -> None:
    given = anatomy()
    _, *found = rows(flow_heading(given, SAY))
    by_part = {part: [row for row in found if row[0] == part] for part in ("token", "step", "class")}
    assert [len(by_part[part]) for part in by_part] == [6, 5, 2]
    assert numbers([row[6] for row in by_part["token"]]) == given.analysis.reads.share.tolist()
    assert [int(row[4]) for row in by_part["step"]] == [step.parameters for step in given.steps]
    assert by_part["step"][0][2:4] == ["6 × 8", "8"]
    best = given.analysis.predicted[0]
    assert by_part["class"][0][1] == best
    said = described(flow_heading(given, SAY))
    assert "what the head reads: [CLS] 100 %." in said
    assert f"The classes: {best}" in said


def test_strips_are_a_column_each() -> None:
    given = anatomy()
    head, *found = rows(strips_heading(given, SAY))
    assert len(head) == 2 + len(given.steps)
    columns = list(zip(*found, strict=True))
    np.testing.assert_allclose(numbers(columns[3]), given.steps[1].given, rtol=1e-6)
    np.testing.assert_allclose(
        numbers([cell for cell in columns[-1] if cell]), given.analysis.logits, rtol=1e-6
    )


def test_curves_are_plain_and_centred() -> None:
    given = compared()
    _, *found = rows(curves_heading(curves(given, False), given, SAY))
    assert len(found) == 3 + 7
    analysis = given.cells[1].analysis
    assert analysis is not None
    depth, plain, centred = (numbers([row[place] for row in found[3:]]) for place in (2, 3, 4))
    np.testing.assert_allclose(depth, np.linspace(0, 100, 7), rtol=1e-6)
    np.testing.assert_allclose(plain, analysis.similarity[:, 1:].mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(centred, analysis.centred[:, 1:].mean(axis=1), rtol=1e-4, atol=1e-6)


def test_where_there_is_no_curve_there_is_nothing_to_take_away() -> None:
    alone = answer([0.9, 0.1], text="x")
    assert "data-export" not in curves_heading((), comparison([[alone]]), SAY)


@pytest.mark.parametrize("count", [1, 3])
def test_evidence_says_its_ends_and_gives_its_table(count: int) -> None:
    results, keys = fake_results(), BACKBONES[:count]
    evidence = select(results, "topic", keys, {})
    for heading, values in (
        (
            accuracy_heading(evidence, SAY),
            [(row.accuracy, row.backbone, row.pooling) for row in evidence.probes],
        ),
        (rho_heading(evidence, SAY), [(row.rho, row.backbone, row.pooling) for row in evidence.cosines]),
    ):
        said = described(heading)
        for key in keys:
            lowest, highest = (pick(one for one in values if one[1] == key) for pick in (min, max))
            assert f"{key}: lowest {lowest[2]} with " in said
            assert f"highest {highest[2]} with " in said
        assert len(rows(heading)) == 1 + len(evidence.probes)


def test_a_row_is_three_ways_to_save_and_names_its_plot() -> None:
    html = heatmap_heading(view(), SAY)
    assert re.findall(r'data-export="(\w+)" data-plot="heatmap"', html) == ["png", "svg"]
    assert 'download="poolscope-heatmap.csv"' in html
    assert 'data-scale="cosine similarity"' in html
    assert "“not good at all” · First token · sentiment · pooling native · own head" in unescape(html)


def test_nothing_from_outside_is_markup_or_a_formula() -> None:
    given = anatomy("hostile", f"=1+1 {XSS}")
    seen = View(given.analysis, 1)
    parts = [similarity_heading(seen, SAY), heatmap_heading(seen, SAY), outputs_heading(seen.analysis, SAY)]
    parts += [flow_heading(given, SAY), strips_heading(given, SAY)]
    assert not re.search(r"<(img|svg|script|a/)", "".join(parts))
    assert rows(parts[0])[2][1] == "'=1+1"
    assert rows(parts[0])[3][1] == XSS


def test_what_a_redraw_carries_stays_small() -> None:
    """What the rows add for 128 tokens and 7 layers."""
    seen = view("pair", layer=6, text=" ".join(f"word{n}" for n in range(126)))
    assert seen.by_layer.shape == (7, 128)
    added = similarity_heading(seen, SAY) + heatmap_heading(seen, SAY)
    assert len(added) < 40_000


def test_a_comparison_of_one_backbone_has_a_curve() -> None:
    given = compared()
    one = Comparison(
        given.backbones, given.poolings, (Compared(given.backbones[0], given.compared[0].cells),)
    )
    assert len(rows(curves_heading(curves(one, False), one, SAY))) == 4
