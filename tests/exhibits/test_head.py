"""A head taken apart: what is said of it, its way, its weights and its code."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from components.analyses.anatomy import Anatomy
from components.exhibits.exhibit import Exhibit
from components.exhibits.head import PRINTED, SENTENCE, SOURCES, WEIGHTS
from components.texts import Sentence
from components.types import Cut, Declaration, Dense, Normalize
from tests.exhibits.showing import SAY, anatomy, plain, sharing


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


def test_lines_that_ran_and_the_one_that_picks_are_marked() -> None:
    shown = html(SOURCES, anatomy())
    lines = dict(re.findall(r'<span class="line([^"]*)"><span class="number">(\d+)', shown))
    assert {number: marks for marks, number in lines.items()} == {"40": "", "41": " ran picks", "42": " ran"}
    assert shown.count("picks the position") == 1
    assert "transformers/models/body/modeling_body.py, lines 40 to 42" in shown
    assert html(SOURCES, replace(anatomy(), sources=())) == '<p class="hint">No source of it is at hand.</p>'


def test_the_way_runs_from_the_tokens_through_numbered_steps_to_the_classes() -> None:
    given = anatomy("untrained")
    shown = html(PRINTED, reading(given, [0.5, 0.3, 0, 0]))
    way, declared = shown.split('<section><h2 id="printed-heading">')
    assert re.findall(r"<span( class=.read.)?></span>", way) == [' class="read"'] * 2 + [""] * 2
    told = [plain(one) for one in re.findall(r"<li class=.step.*?</li>", way)]
    assert [one[0] for one in told] == [*"12345"]
    for words, one in zip(
        ("4 × 8 → 8", "72 parameters", "8 → 8", "changes nothing", "random"), told, strict=True
    ):
        assert words in one
    assert re.findall(r'class="turn functional" aria-hidden="true">(.)', way) == ["1", "3"]
    assert re.findall(r'class="step untrained"><b[^>]*>(.)', way) == ["5"]
    body = replace(given, analysis=replace(given.analysis, body_trained=False))
    assert html(PRINTED, body).count('class="step untrained"') == 5
    assert [label in plain(way) for label in given.analysis.labels] == [True] * 2
    assert "runs as step 2" in plain(declared)
