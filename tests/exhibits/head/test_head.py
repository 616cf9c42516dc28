"""What the Head tab says in HTML, and that nothing of a checkpoint becomes markup."""

import re
from dataclasses import replace

from components.analyses.anatomy import Anatomy
from components.declaration import Cut, Declaration, Dense, Normalize
from components.exhibits.exhibit import Exhibit, heading_html
from components.exhibits.head.steps import SENTENCE, SOURCES, WEIGHTS, first_untrained
from components.exhibits.panels import HEAD
from components.texts import Sentence, load_texts
from components.types import Query
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def anatomy(backbone: str = "first", text: str = "not good", **query: str) -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(backbone, text, **query))


def html(exhibit: Exhibit[Anatomy], given: Anatomy) -> str:
    """All that is no figure."""
    shown = exhibit.shown(given, {}, SAY)
    return heading_html(shown, exhibit.name, SAY) + shown.html + shown.legend


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
