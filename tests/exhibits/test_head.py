"""What the Head tab says in HTML, and that nothing of a checkpoint becomes markup."""

import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from components.analyses.anatomy import Anatomy, Step
from components.declaration import Cut, Declaration, Dense, Normalize
from components.exhibits.exhibit import Exhibit, heading_html
from components.exhibits.head import SENTENCE, SOURCES, STRIPS, WEIGHTS, first_untrained, strips
from components.exhibits.panels import HEAD
from components.texts import Sentence, load_texts
from components.types import Query, Reads
from tests.exhibits.showing import checked, plain
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def anatomy(backbone: str = "first", text: str = "not good", **query: str) -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(backbone, text, **query))


def html(exhibit: Exhibit[Anatomy], given: Anatomy) -> str:
    """All that is no figure."""
    shown = exhibit.shown(given, {}, SAY)
    return f"{heading_html(shown, exhibit.name, SAY)}{shown.html}{shown.legend}"


def everything(given: Anatomy) -> str:
    return "".join(html(exhibit, given) for exhibit in HEAD.exhibits)


def test_the_way_in_one_sentence() -> None:
    assert plain(html(SENTENCE, anatomy())) == (
        "FirstForSequenceClassification: [CLS] → dense → tanh → dropout → classifier → 2 logits. "
        "90 parameters: all from the checkpoint."
    )
    assert "4 logits" in plain(html(SENTENCE, anatomy("emotions")))
    assert "1 logit." in plain(html(SENTENCE, anatomy("score")))


def test_several_tokens_are_counted_and_a_probe_names_its_task() -> None:
    said = plain(html(SENTENCE, anatomy("first", pooling="mean", head="probe", task="topic")))
    assert said.startswith(
        "A linear classifier on the mean vector, trained for topic: 4 tokens → mean pooling"
    )
    assert "all from the trained probe" in said


def test_what_the_files_declare_stands_beside_what_is_measured() -> None:
    def said(declared: Declaration | Sentence | None) -> str:
        given = anatomy()
        backbone = replace(given.analysis.backbone, declared=declared)
        return html(SENTENCE, replace(given, analysis=replace(given.analysis, backbone=backbone)))

    dense = Dense("2_Dense", 8, 3, "Tanh", bias=True, residual=False)
    assert "modules.json" not in said(None)
    assert (
        "Declared in its modules.json, for sentence-transformers: first, max side by side, "
        "then a dense layer to 3 numbers, then the length set to 1, then the first 2 numbers kept. "
        "The pooling “declared” gives that vector, of 2 numbers."
    ) in plain(said(Declaration(("first", "max"), 4, (dense, Normalize(), Cut(2)))))
    assert "sentence-transformers: mean. The" in plain(said(Declaration(("mean",), 4, ())))
    hostile = said(Sentence("refusals.declared_module", file="modules.json", name="<b>"))
    assert "cannot be read: its modules.json names a module that is not known here: &lt;b&gt;" in hostile


def test_random_weights_are_named() -> None:
    said = plain(html(SENTENCE, anatomy("untrained")))
    assert "90 parameters: 18 of them drawn at random." in said
    assert "classifier.weight and classifier.bias are not in the checkpoint: they were drawn" in said
    assert "random" not in html(SENTENCE, anatomy())


def test_a_constant_is_not_called_random() -> None:
    given = anatomy("untrained")
    weights = tuple(
        replace(one, origin="constant") if one.name.endswith("bias") else one for one in given.weights
    )
    said = plain(html(SENTENCE, replace(given, weights=weights)))
    assert "90 parameters: 16 of them drawn at random, 10 set to one and the same number." in said
    assert "body.pooler.dense.bias and classifier.bias: not in the checkpoint" in said
    assert "classifier.weight is not in the checkpoint: it was drawn at random" in said
    table = html(WEIGHTS, replace(given, weights=weights))
    assert table.count("newly initialised: one and the same number throughout</td>") == 2
    assert table.count('<strong class="random">') == 1


def test_random_weights_of_the_body_are_said_before_those_of_the_head() -> None:
    given = anatomy()
    body = replace(given, analysis=replace(given.analysis, body_trained=False))
    assert "Weights of the body are not in the checkpoint" in plain(html(SENTENCE, body))
    assert first_untrained(body) == -1
    assert first_untrained(given) == len(given.steps)


def test_weights_with_their_origin() -> None:
    trained, untrained = html(WEIGHTS, anatomy()), html(WEIGHTS, anatomy("untrained"))
    assert trained.count("read from the checkpoint</td>") == 4
    assert "random" not in trained
    assert "The checkpoint holds nothing that this model does not use." in plain(trained)
    assert untrained.count('<strong class="random">newly initialised: random</strong>') == 2
    assert "one tensor:lm_head.weight 30 × 8" in plain(untrained)


def test_lines_that_ran_and_the_one_that_picks_are_marked() -> None:
    shown = html(SOURCES, anatomy())
    lines = dict(re.findall(r'<span class="line([^"]*)"><span class="number">(\d+)', shown))
    assert {number: marks for marks, number in lines.items()} == {"40": "", "41": " ran picks", "42": " ran"}
    assert shown.count("picks the position") == 1
    assert "transformers/models/body/modeling_body.py, lines 40 to 42" in shown
    assert html(SOURCES, replace(anatomy(), sources=())) == '<p class="hint">No source of it is at hand.</p>'


def drawn(given: Anatomy) -> go.Figure:
    return checked(STRIPS.show(given, {}, SAY).figure)


def test_a_strip_for_the_hidden_state_and_one_after_each_step() -> None:
    given = anatomy()
    rows = strips(given, SAY)
    assert [row.name for row in rows] == [
        "final hidden state of [CLS]",
        "1. takes one position",
        "2. dense",
        "3. tanh",
        "4. dropout",
        "5. classifier",
    ]
    np.testing.assert_array_equal(rows[0].values, given.steps[0].taken[0])
    np.testing.assert_array_equal(rows[-1].values, given.analysis.logits)


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


def test_each_strip_has_a_scale_of_its_own_that_is_printed() -> None:
    given = anatomy()
    figure = drawn(given)
    cells = [one for one in figure.data if one.type == "heatmap"]
    for strip, trace in zip(strips(given, SAY), cells, strict=True):
        assert trace.zmax == -trace.zmin == pytest.approx(float(np.abs(strip.values).max()))
        np.testing.assert_allclose(np.asarray(trace.z)[0], strip.values, rtol=1e-3)
    printed = [text for one in figure.data if one.type == "scatter" for text in one.text]
    assert f"±{np.abs(given.analysis.logits).max():.3g}" in printed


def test_a_vector_of_zeros_has_a_scale() -> None:
    given = anatomy()
    zero = replace(given.steps[-1], given=np.zeros(2, dtype=np.float32))
    assert drawn(replace(given, steps=(zero,))).data[-4].zmax == 1
