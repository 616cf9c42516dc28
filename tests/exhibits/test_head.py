"""A head taken apart: what is said of it, its strips, its weights and its code."""

import re
from dataclasses import replace

import numpy as np
import pytest

from components.analyses.anatomy import Anatomy, Step
from components.declaration import Cut, Declaration, Dense, Normalize
from components.exhibits.exhibit import Exhibit
from components.exhibits.head import SENTENCE, SOURCES, STRIPS, WEIGHTS, first_untrained, strips
from components.texts import Sentence
from components.types import Reads
from tests.exhibits.showing import SAY, anatomy, drawn, plain


def html(exhibit: Exhibit[Anatomy], given: Anatomy) -> str:
    return exhibit.shown(given, {}, SAY).html


def said(given: Anatomy) -> str:
    return plain(html(SENTENCE, given))


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
    def declaring(declared: Declaration | Sentence | None) -> str:
        given = anatomy()
        backbone = replace(given.analysis.backbone, declared=declared)
        return said(replace(given, analysis=replace(given.analysis, backbone=backbone)))

    dense = Dense("2_Dense", 8, 3, "Tanh", bias=True, residual=False)
    assert "modules.json" not in declaring(None)
    assert (
        "Declared in its modules.json, for sentence-transformers: first, max side by side, "
        "then a dense layer to 3 numbers, then the length set to 1, then the first 2 numbers kept. "
        "The pooling “declared” gives that vector, of 2 numbers."
    ) in declaring(Declaration(("first", "max"), 4, (dense, Normalize(), Cut(2))))
    hostile = declaring(Sentence("refusals.declared_module", file="modules.json", name="<b>"))
    assert "cannot be read: its modules.json names a module that is not known here: <b>" in hostile


def test_random_weights_are_named_and_a_constant_is_not_called_random() -> None:
    given = anatomy("untrained")
    assert "90 parameters: 18 of them drawn at random." in said(given)
    assert "classifier.weight and classifier.bias are not in the checkpoint: they were drawn" in said(given)
    assert "random" not in said(anatomy())
    weights = tuple(
        replace(one, origin="constant") if one.name.endswith("bias") else one for one in given.weights
    )
    constant = replace(given, weights=weights)
    assert "90 parameters: 16 of them drawn at random, 10 set to one and the same number." in said(constant)
    assert "body.pooler.dense.bias and classifier.bias: not in the checkpoint" in said(constant)
    assert "classifier.weight is not in the checkpoint: it was drawn at random" in said(constant)
    table = html(WEIGHTS, constant)
    assert table.count("newly initialised: one and the same number throughout</td>") == 2
    assert table.count('<strong class="random">newly initialised: random</strong>') == 1


def test_random_weights_of_the_body_are_said_before_those_of_the_head() -> None:
    given = anatomy()
    body = replace(given, analysis=replace(given.analysis, body_trained=False))
    assert "Weights of the body are not in the checkpoint" in said(body)
    assert (first_untrained(body), first_untrained(given)) == (-1, len(given.steps))


def test_weights_with_their_origin_and_those_that_are_not_used() -> None:
    trained, untrained = html(WEIGHTS, anatomy()), html(WEIGHTS, anatomy("untrained"))
    assert trained.count("read from the checkpoint</td>") == 4
    assert "The checkpoint holds nothing that this model does not use." in plain(trained)
    assert "one tensor:lm_head.weight 30 × 8" in plain(untrained)


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
    steps = ["takes one position", "dense", "tanh", "dropout", "classifier"]
    names = [f"{place}. {name}" for place, name in enumerate(steps, start=1)]
    assert [strip.name for strip in every] == ["final hidden state of [CLS]", *names]
    np.testing.assert_array_equal(every[0].values, given.steps[0].taken[0])
    np.testing.assert_array_equal(every[-1].values, given.analysis.logits)
    for strip, trace in zip(every, (one for one in figure.data if one.type == "heatmap"), strict=True):
        assert trace.zmax == -trace.zmin == pytest.approx(float(np.abs(strip.values).max()))
        np.testing.assert_allclose(np.asarray(trace.z)[0], strip.values, rtol=1e-3)
    printed = [text for one in figure.data if one.type == "scatter" for text in one.text]
    assert f"±{np.abs(given.analysis.logits).max():.3g}" in printed
    zero = replace(given.steps[-1], given=np.zeros(2, dtype=np.float32))
    assert drawn(STRIPS, replace(given, steps=(zero,))).data[-4].zmax == 1


def test_where_every_token_has_values_those_of_the_one_read_most_are_shown() -> None:
    given = anatomy()
    hidden = given.steps[0].taken
    score = Step("linear", "score", "Body", (), 16, "checkpoint", False, False, hidden, hidden[:, :2])
    share = np.array([0, 0, 1, 0], dtype=np.float32)
    moved = replace(given, steps=(score,), analysis=replace(given.analysis, reads=Reads(share > 0, share)))
    first, second = strips(moved, SAY)
    assert (first.name, second.name) == ("final hidden state of good", "1. score · at good")
    np.testing.assert_array_equal(first.values, hidden[2])
    np.testing.assert_array_equal(second.values, hidden[2, :2])
