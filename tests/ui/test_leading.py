"""Where a question leads: to the state of the page in which its answer was measured."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from components.results import write_results
from components.texts import load_texts
from components.types import Query
from components.ui.classify import build_classify
from components.ui.evidence import build_evidence
from components.ui.leading import Leading
from components.ui.questions import build_questions
from tests.serving import built
from tests.ui.asking import FILE, KEYS, RESULTS, shipped

SAY = load_texts()


@pytest.fixture
def leading(tmp_path: Path) -> Leading:
    path, made = tmp_path / "results.json", SimpleNamespace()
    write_results(RESULTS, path)

    def page() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as blocks:
            banner, tabs = gr.HTML(""), gr.Tabs()
            classify = build_classify(shipped(), banner, SAY)
            evidence, questions = build_evidence(shipped(), path, SAY), build_questions(shipped(), path, SAY)
            assert questions is not None
            made.leading = Leading(questions, classify, evidence, tabs, banner)
            made.leading.connect()
        made.page = blocks
        return blocks

    built(page)
    found: Leading = made.leading
    return found


def led(leading: Leading, key: str) -> dict[Any, Any]:
    return leading.lead(key)


@pytest.mark.parametrize("asked", FILE.questions, ids=KEYS)
def test_a_click_shows_the_state_that_was_measured(leading: Leading, asked: Any) -> None:
    updates = led(leading, asked.key)
    answer = updates[leading.questions.cards[asked.key].answer]
    assert 'class="said"' in answer
    assert 'class="banner"' in updates[leading.banner]
    if asked.view == "evidence":
        assert updates[leading.tabs]["selected"] == "evidence"
        assert leading.evidence is not None
        assert updates[leading.evidence.task] == asked.task
        assert set(leading.evidence.outputs) <= set(updates)
        return
    assert updates[leading.tabs]["selected"] == "classify"
    assert updates[leading.classify.answer.views]["selected"] == asked.view
    query = Query(asked.backbones[0], asked.text, asked.text_pair, asked.pooling, reference=asked.reference)
    assert updates[leading.classify.answer.shown].analysis.query == query
    question = leading.classify.question
    assert updates[question.text] == asked.text
    assert updates[question.backbone]["value"] == asked.backbones[0]
    assert updates[leading.classify.answer.head.program] == shipped().anatomy(query).program


def test_every_update_has_its_place_among_the_outputs(leading: Leading) -> None:
    assert leading.banner.parent is not None
    events = list(leading.banner.parent.fns.values())
    for key in KEYS:
        updates = led(leading, key)
        button = leading.questions.cards[key].button
        (event,) = (event for event in events if (button._id, "click") in event.targets)
        assert set(updates) <= set(event.outputs)


def test_asking_anew_clears_the_banner(leading: Leading) -> None:
    classify = leading.classify
    question, answer = classify.question, classify.answer
    given = dict.fromkeys(classify.inputs)
    given |= {question.text: "good", question.pair: "", question.backbone: "bert-sentiment"}
    given |= {question.pooling: "native", question.head: "own", question.found: (), answer.reference: "cls"}
    assert classify.ask(given)[leading.banner] == ""
