"""Any two choices in any order, each reported twice, as browsers do: the second time with stale menus."""

import asyncio
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from components.exhibits.control import State
from components.exhibits.panels import ANSWER
from components.results import table
from components.ui.classify.tab import build_classify
from components.ui.gradio_internals import hand_over
from components.ui.places import NOTHING, Places, Updates
from components.ui.tab import Surroundings
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.page import SAY, Page, functions_of

BACKBONES = ("first", "last", "pair", "untrained")
POOLINGS = ("native", "mean", "attention", "pooler")
CHOICES = [
    *(("backbone", key) for key in BACKBONES),
    *(("pooling", key) for key in POOLINGS),
    *(("head", key) for key in ("own", "probe")),
    *(("task", key) for key in ("sentiment", "topic")),
]
STARTS = {"own": {}, "probe": {"head": "probe"}, "learned": {"head": "probe", "pooling": "attention"}}
MENUS = ("backbone", "pooling", "head", "task")


class Twice(Page):
    """A page that reports every choice twice."""

    def again(self) -> "Twice":
        """Another visitor's page."""
        other = self.anew()
        assert isinstance(other, Twice)
        return other

    def choose(self, **chosen: str) -> str:
        """Choose in menus; gives the verdict, as the first report was answered."""
        parts = vars(self.tab.question)
        self.values |= {parts[menu]: key for menu, key in chosen.items()}
        sent = dict(self.values)
        first = self._take(self.tab.ask(sent))
        stale = {**sent, self.tab.answer.shown: self.values[self.tab.answer.shown]}  # kept by the server
        self._take(self.tab.ask(stale))
        return str(first.get(self.tab.answer.verdict, ""))

    def value(self, menu: str) -> Any:
        return self.values[getattr(self.tab.question, menu)]

    def _take(self, updates: Updates) -> Updates:
        return {} if self.take(updates) is NOTHING else updates


@pytest.fixture(scope="module")
def twice() -> Twice:
    return Twice(FakeAnalyst())


@pytest.fixture(autouse=True)
def verdict_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the plots out, which take most of the time and whose place is in other tests."""
    whole = Places.show

    def show(self: Places, subject: Any, state: State, _only: object = None) -> Updates:
        return whole(self, subject, state, [*self.places] if self.panel is ANSWER else [])

    monkeypatch.setattr(Places, "show", show)


@pytest.mark.parametrize("start", STARTS)
def test_no_order_of_two_choices_ends_in_an_error(twice: Twice, start: str) -> None:
    given: Mapping[str, str] = STARTS[start]
    for (menu, key), (second, other) in permutations(CHOICES, 2):
        order = (start, menu, key, second, other)
        page = twice.again()
        page.choose(**given)
        verdicts = [page.choose(**{menu: key}), page.choose(**{second: other})]
        if page.value("pooling") == "pooler":  # none of these has one
            assert "this checkpoint has no pooler" in (verdicts[1] or verdicts[0]), order
        else:
            assert page.values[page.tab.answer.shown] is not None, order
            assert page.values[page.tab.answer.shown].analysis.query.pooling == page.value("pooling"), order
        assert page.value("head") == "probe" or page.value("pooling") != "attention", order


def test_giving_up_the_probe_under_a_learned_pooling_is_no_error_to_gradio_either() -> None:
    """In gradio's own server, which keeps for each visitor what their menus offer."""
    page = built(_classify)
    (ask,) = (one for one in functions_of(page) if one.name == "ask")
    hand_over(ask)  # as it is served
    named = {part.elem_id: part._id for part in ask.inputs if getattr(part, "elem_id", None)}
    values, server = {part._id: getattr(part, "value", None) for part in ask.inputs}, SessionState(page)

    async def report() -> str:
        sent = [values[part._id] for part in ask.inputs]
        told = (await page.process_api(ask, sent, state=server))["data"]
        return next(
            str(said) for said, part in zip(told, ask.outputs, strict=True) if part.elem_id == "verdict"
        )

    verdicts = []
    for choice in ({}, {"head": "probe"}, {"pooling": "attention"}, {"head": "own"}, {}):
        values |= {named[menu]: key for menu, key in choice.items()}
        verdicts.append(asyncio.run(report()))
    assert "attention</strong> vector" in verdicts[2]
    assert "reads" in verdicts[3]
    assert "attention" not in verdicts[3]
    assert "mistake" not in "".join(verdicts)


def _classify() -> gr.Blocks:
    with gr.Blocks(analytics_enabled=False) as page, gr.Tabs() as tabs, gr.Tab("tab") as tab:
        build_classify(Surroundings(FakeAnalyst(), table(), SAY, gr.HTML(""), tab, tabs, {}))
    return page
