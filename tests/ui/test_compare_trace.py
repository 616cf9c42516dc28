"""The trace in the Compare tab: of what is shown, once it is asked for."""

from collections.abc import Generator
from typing import Any

from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.types import Progress, Query
from components.ui.places import NOTHING
from components.ui.public.guard import QUESTION, price
from tests.exhibits.showing import plain
from tests.ui.compare_page import SAY, Page
from tests.ui.fake import FakeAnalyst


class Tracing(FakeAnalyst):
    """Notes down what is traced."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "asked", [])
        object.__setattr__(self, "closed", [])

    closed: list[bool]
    asked: list[tuple[Query, str, str]]

    def trace(self, query: Query, other: str, other_pair: str) -> Patched:
        self.asked.append((query, other, other_pair))
        if query.backbone == "last":
            raise PoolscopeError("backbone", "last", "errors.untraced", layer=1)
        return super().trace(query, other, other_pair)

    def trace_in_parts(self, query: Query, other: str, other_pair: str) -> Generator[Progress | Patched]:
        try:
            yield from super().trace_in_parts(query, other, other_pair)
        except GeneratorExit:
            self.closed.append(True)
            raise


def compared(**more: Any) -> tuple[Page, Tracing]:
    """A page with two versions of a pair, compared."""
    analyst = Tracing()
    page = Page(analyst)
    page.set(backbones=["first", "last", "many"], poolings=["mean"], head="own")
    page.set(text="not good", pair="a pair", version_text="good", version_pair="a fair")
    page.set(**more)
    return page, analyst


def test_nothing_is_traced_before_the_click_and_then_what_is_shown() -> None:
    page, analyst = compared()
    left = page.ask()
    card = page.tab.trace
    assert analyst.asked == []
    assert SAY("trace.lead") in plain(left[card.place.above])
    assert [key for _, key in left[card.backbone]["choices"]] == ["", "last", "many"]
    page.set(version_text="typed since", traced="many")
    *busy, drawn = page.trace()
    assert analyst.asked == [(Query("many", "not good", "a pair"), "good", "a fair")]
    assert analyst.find("many").title in plain(drawn[card.place.above])
    assert drawn[card.place.plot]
    assert [one[card.bar.cancel]["interactive"] for one in (*busy, drawn)] == [True, True, False]
    said = [SAY("trace.starting"), SAY("trace.progress", done=1, total=4), ""]
    assert [plain(one[card.bar.status]) for one in (*busy, drawn)] == said


def test_what_cannot_be_traced_says_why_where_the_trace_would_be() -> None:
    page, _ = compared(traced="last")
    page.ask()
    (*_, drawn), place = page.trace(), page.tab.trace.place
    assert SAY("errors.untraced", layer=1) in plain(drawn[place.above])
    assert not drawn[place.plot]


def test_of_one_version_there_is_none() -> None:
    page, analyst = compared(version_text="", version_pair="")
    left = page.ask()
    assert left[page.tab.trace.place.above] == ""
    assert page.trace() == [NOTHING]
    assert analyst.asked == []


def test_it_costs_what_the_endpoint_costs_and_nobody_has_it_for_less() -> None:
    """The browser sends the texts along: without them it would be one question, whatever it takes."""
    page, analyst = compared(version_text="good " * 30)
    texts = page.ask()[page.tab.trace.texts]
    assert texts == "not good" + "a pair" + "good " * 30 + "a fair"
    (event,) = (one for one in page.events if one.name == "trace_versions")
    sent = {"data": [texts if part is page.tab.trace.texts else None for part in event.inputs], "fn_index": 0}
    asked = ["not good", "good " * 30, "a pair", "a fair"]
    assert price(event.name, sent["data"]) == price("trace", asked) > 8 * QUESTION
    page.values[page.tab.trace.texts] = ""
    assert page.trace() == [NOTHING]
    assert analyst.asked == []


def test_who_gives_it_up_keeps_what_was_there_and_what_is_under_way_is_closed() -> None:
    page, analyst = compared()
    page.ask()
    steps = page.tab.trace.trace_versions({part: page.values[part] for part in page.values})
    next(steps), next(steps)
    steps.close()
    assert analyst.closed == [True]
    updates = page.tab.trace.stopped()
    assert SAY("trace.stopped") in plain(updates[page.tab.trace.bar.status])
    assert not set(updates) & set(page.tab.trace.place.parts)


def test_a_report_and_a_slide_ask_for_that_of_the_backbone_in_the_link() -> None:
    page, analyst = compared()
    state = {one.control.key: one.control.default for one in page.tab.linked} | {
        "backbones": ("first", "many"),
        "poolings": ("native",),
        "compare_text": "not good",
        "version_text": "good",
        "compare_head": "own",
        "traced": "many",
    }
    (panel,) = page.tab.panels[1:]
    answer = page.tab.answer_to(state)
    assert analyst.asked == []  # a slide of the grid needs none
    assert isinstance(panel.subject(answer), Patched)
    assert analyst.asked == [(Query("many", "not good"), "good", "")]


def test_the_layer_that_is_compared_is_the_one_that_is_traced() -> None:
    page, analyst = compared(pool_layer=-2)
    page.ask()
    page.trace()
    ((query, *_),) = analyst.asked
    assert query.pool_layer == -2
