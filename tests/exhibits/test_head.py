"""A head taken apart: what is said of it, its stream, its strips, its weights and its code."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from components.analyses.anatomy import Anatomy, Step
from components.exhibits.draw import LABELS, OTHER, READ, label_colour
from components.exhibits.exhibit import Exhibit
from components.exhibits.flow import CLASSES, FLOW, TRUNK, class_parts, token_parts
from components.exhibits.head import SENTENCE, SOURCES, STRIPS, WEIGHTS, first_untrained, strips
from components.texts import Sentence
from components.types import Cut, Declaration, Dense, Normalize
from tests.exhibits.showing import SAY, anatomy, drawn, numbers, plain, rows, sharing


def html(exhibit: Exhibit[Anatomy], given: Anatomy) -> str:
    return exhibit.shown(given, {}, SAY).html


def said(given: Anatomy) -> str:
    return plain(html(SENTENCE, given))


def reading(given: Anatomy, share: Any) -> Anatomy:
    """The same with other shares; what has none is not read."""
    return replace(given, analysis=sharing(given.analysis, share, np.flatnonzero(share).tolist()))


def test_the_way_in_one_sentence() -> None:
    assert said(anatomy()) == (
        "FirstForSequenceClassification: [CLS] → dense → tanh → dropout → classifier → 2 logits. "
        "90 parameters: all from the checkpoint."
    )
    assert "1 logit." in said(anatomy("score"))
    probe = said(anatomy("first", pooling="mean", head="probe", task="topic"))
    assert probe.startswith(
        "A linear classifier on the mean vector, trained for topic: 4 tokens → mean pooling"
    )
    assert "all from the trained probe" in probe


def test_what_the_files_declare_stands_beside_what_is_measured() -> None:
    def declaring(declared: Declaration | Sentence) -> str:
        given = anatomy()
        backbone = replace(given.analysis.backbone, declared=declared)
        return said(replace(given, analysis=replace(given.analysis, backbone=backbone)))

    assert "modules.json" not in said(anatomy())
    dense = Dense("2_Dense", 8, 3, "Tanh", bias=True, residual=False)
    assert (
        "Declared in its modules.json, for sentence-transformers: first, max side by side, then a dense "
        "layer to 3 numbers, then the length set to 1, then the first 2 numbers kept. The pooling “declared” "
        "gives that vector, of 2 numbers."
    ) in declaring(Declaration(("first", "max"), 4, (dense, Normalize(), Cut(2))))
    hostile = declaring(Sentence("refusals.declared_module", file="modules.json", name="<b>"))
    assert "cannot be read: its modules.json names a module that is not known here: <b>" in hostile


def test_random_weights_are_named_and_a_constant_is_not_called_random() -> None:
    given = anatomy("untrained")
    assert "90 parameters: 18 of them drawn at random." in said(given)
    weights = tuple(
        replace(one, origin="constant") if one.name.endswith("bias") else one for one in given.weights
    )
    constant = replace(given, weights=weights)
    assert "90 parameters: 16 of them drawn at random, 10 set to one and the same number." in said(constant)
    assert "body.pooler.dense.bias and classifier.bias: not in the checkpoint" in said(constant)
    assert "classifier.weight is not in the checkpoint: it was drawn at random" in said(constant)
    table = html(WEIGHTS, constant)
    assert "another shape:lm_head.weight 30 × 8" in plain(table)
    assert table.count("read from the checkpoint</td>") == 1
    assert table.count("newly initialised: one and the same number throughout</td>") == 2
    assert table.count('<strong class="random">newly initialised: random</strong>') == 1
    body = replace(given, analysis=replace(anatomy().analysis, body_trained=False))
    assert (first_untrained(body), first_untrained(anatomy())) == (-1, len(given.steps))


def test_lines_that_ran_and_the_one_that_picks_are_marked() -> None:
    shown = html(SOURCES, anatomy())
    lines = dict(re.findall(r'<span class="line([^"]*)"><span class="number">(\d+)', shown))
    assert {number: marks for marks, number in lines.items()} == {"40": "", "41": " ran picks", "42": " ran"}
    assert shown.count("picks the position") == 1
    assert "transformers/models/body/modeling_body.py, lines 40 to 42" in shown
    assert html(SOURCES, replace(anatomy(), sources=())) == '<p class="hint">No source of it is at hand.</p>'


def test_a_strip_for_the_hidden_state_and_one_after_each_step_with_a_scale_of_its_own() -> None:
    given = anatomy()
    every, figure = strips(given, SAY), drawn(STRIPS, given)
    steps = enumerate(("takes one position", "dense", "tanh", "dropout", "classifier"), start=1)
    assert [*every] == ["final hidden state of [CLS]", *(f"{place}. {name}" for place, name in steps)]
    expected = [given.steps[0].taken[0], *(step.given for step in given.steps)]
    for values, vector, trace in zip(every.values(), expected, figure.data, strict=False):
        np.testing.assert_array_equal(values, vector)
        assert trace.zmax == -trace.zmin == pytest.approx(float(np.abs(vector).max()))
        np.testing.assert_allclose(np.asarray(trace.z)[0], vector, rtol=1e-3)
    printed = [text for one in figure.data if one.type == "scatter" for text in one.text]
    assert f"±{np.abs(given.analysis.logits).max():.3g}" in printed
    zero = replace(given.steps[-1], given=np.zeros(2, dtype=np.float32))
    assert drawn(STRIPS, replace(given, steps=(zero,))).data[-4].zmax == 1


def test_where_every_token_has_values_those_of_the_one_read_most_are_shown() -> None:
    given = anatomy()
    hidden = given.steps[0].taken
    score = Step("linear", "score", "Body", (), 16, "checkpoint", False, False, hidden, hidden[:, :2])
    found = strips(replace(reading(given, [0, 0, 1, 0]), steps=(score,)), SAY)
    assert [*found] == ["final hidden state of good", "1. score · at good"]
    for values, expected in zip(found.values(), (hidden[2], hidden[2, :2]), strict=True):
        np.testing.assert_array_equal(values, expected)


def test_of_many_tokens_those_read_most_stand_alone_in_their_order() -> None:
    share = np.full(128, 0.001)
    share[[5, 90, 127]] = 0.2, 0.4, 0.275
    parts = token_parts(reading(anatomy(text="unquestionably " * 126), share), SAY)
    alone = [part.members[0] for part in parts if len(part.members) == 1]
    assert {5, 90, 127} <= set(alone)
    assert alone == sorted(alone)
    (rest,) = (part for part in parts if len(part.members) > 1)
    assert (rest.label, rest.live) == (f"{len(rest.members)} others 12 %", True)


@pytest.mark.parametrize("backbone", ["first", "emotions", "score", "many"])
def test_class_parts_sum_to_one_and_stand_for_every_class_once(backbone: str) -> None:
    given = anatomy(backbone).analysis
    found = class_parts(given, SAY)
    assert len(found) == min(len(given.labels), CLASSES)
    assert sum(part.weight for part in found) == pytest.approx(1)
    assert sorted(index for part in found for index in part.members) == list(range(len(given.labels)))


def outlines(figure: go.Figure) -> dict[str, go.Scatter]:
    """The first outline of the figure that speaks of each thing."""
    told = [one for one in figure.data if isinstance(one.text, str)]
    return {one.text.split("<br>")[0]: one for one in reversed(told)}


def test_streams_into_the_trunk_are_as_wide_as_their_shares() -> None:
    streams = outlines(drawn(FLOW, reading(anatomy(), [0.5, 0.3, 0.2, 0])))
    for token, share in {"[CLS]": 0.5, "not": 0.3, "good": 0.2}.items():
        xs, ys = np.array(streams[token].x), np.array(streams[token].y)
        assert np.ptp(xs[ys == ys.max()]) == pytest.approx(share * (TRUNK[1] - TRUNK[0]), abs=2e-4)
    unread = streams["[SEP]"]
    assert max(unread.y) < max(streams["good"].y)
    assert "rgba(133, 137, 143" in unread.fillcolor


def test_steps_are_named_in_their_order_with_shapes_and_functions_are_dashed() -> None:
    figure = drawn(FLOW, anatomy())
    (words,) = (list(one.text) for one in figure.data if one.mode == "text")
    for place, told in enumerate((("1. takes one position", "4 × 8 → 8"), ("2. dense", "72 parameters"))):
        assert all(one in words[place] for one in told)
    assert "changes nothing" in words[3]
    dashed = {one.text.split("<br>")[0] for one in figure.data if one.line.dash == "5px,3px"}
    assert dashed == {"1. takes one position", "3. tanh"}


def test_an_untrained_step_and_everything_after_it_is_grey() -> None:
    bars = {told: one.line.color for told, one in outlines(drawn(FLOW, anatomy("untrained"))).items()}
    assert bars["2. dense"] == bars["4. dropout"] == READ
    assert bars["5. classifier"] == bars["logits"] == OTHER
    assert not {*LABELS} & {*bars.values()}
    given = anatomy()
    (chosen,) = (given.analysis.labels.index(label) for label in given.analysis.predicted)
    assert {*LABELS} & {one.line.color for one in drawn(FLOW, given).data} == {label_colour(chosen)}


def test_the_numbers_of_a_stream_are_tokens_steps_and_classes() -> None:
    given = anatomy(text="not good at all")
    shown = FLOW.show(given, {}, SAY)
    found = rows(shown)[1:]
    tokens, steps, classes = ([row for row in found if row[0] == part] for part in ("token", "step", "class"))
    assert numbers([row[6] for row in tokens]) == given.analysis.reads.share.tolist()
    assert [int(row[4]) for row in steps] == [step.parameters for step in given.steps]
    assert steps[0][2:4] == ["6 × 8", "8"]
    assert classes[0][1] == given.analysis.predicted[0]
    assert "share of the sensitivity: [CLS] 100 %." in shown.words
