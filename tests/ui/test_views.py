"""The views of an answer: asked once somebody looks at them, and never with each question."""

import pytest

from components.analyses.importance import Importance
from components.analyses.padding import Padding
from components.errors import PoolscopeError
from components.exhibits.control import to_link
from components.exhibits.importance import HEAD, INTEGRATED
from components.exhibits.view import LABEL
from components.types import Query
from components.ui.classify.views import HeadView, ImportanceView, PaddingView, Seen
from components.ui.places import NOTHING, Updates
from tests.exhibits.showing import plain
from tests.ui.fake_importance import HEADS
from tests.ui.page import SAY, Counting, Page, drawn, place_of


class Looked(Counting):
    """Remembers what else was asked of it; of a text with "refused" in it there is none."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "looked", [])

    looked: list[tuple[Query, *tuple[object, ...]]]

    def padding(self, query: Query) -> Padding:
        self._note(query)
        return super().padding(query)

    def importance(self, query: Query, label: str, integrated: bool) -> Importance:
        self._note(query, label, integrated)
        return super().importance(query, label, integrated)

    def _note(self, query: Query, *rest: object) -> None:
        self.looked.append((query, *rest))
        if "refused" in query.text:
            raise PoolscopeError("backbone", query.backbone, "errors.died")


@pytest.fixture(scope="module")
def laid_out() -> Page:
    return Page(Looked())


@pytest.fixture
def page(laid_out: Page) -> Page:
    """A page with an answer, of which nothing else was asked so far."""
    page = laid_out.anew()
    page.set(text="so good", backbone="first")
    return page


@pytest.fixture
def looked(page: Page) -> list[tuple[Query, *tuple[object, ...]]]:
    assert isinstance(page.tab.analyst, Looked)
    page.tab.analyst.looked.clear()
    return page.tab.analyst.looked


@pytest.fixture
def head(page: Page) -> HeadView:
    """The head of a model of four labels, which is looked at."""
    view = page.tab.answer.head
    page.values[view.opened] = True
    page.set(text="not good", backbone="emotions")
    return view


@pytest.fixture
def serving(page: Page) -> PaddingView:
    return page.tab.answer.padding


@pytest.fixture
def matters(page: Page) -> ImportanceView:
    return page.tab.answer.importance


def audited(page: Page) -> str:
    """What the card says once padding is looked at."""
    view = page.tab.answer.padding
    updates = page.take(view.audit(page.values))
    return "" if updates is NOTHING else plain(updates[view.view.places.places[0].above])


def detected(page: Page, vector: object, prefix: object = "") -> str:
    """What the card says of a vector."""
    view = page.tab.answer.padding
    updates = page.take(view.detect_vector({**page.values, view.vector: vector, view.prefix: prefix}))
    return "" if updates is NOTHING else plain(updates[view.found.places[0].above])


def opened(page: Page, **controls: object) -> list[Updates]:
    """Look at what matters with its controls set so; every update in turn."""
    view = page.tab.answer.importance
    by_key = {control.key: part for control, part in view.controls.items()}
    page.values |= {by_key[key]: value for key, value in controls.items()}
    return [page.take(updates) for updates in view.ask_importance(page.values)]


def chosen(page: Page, label: str, place: str = "lens") -> Updates:
    """Choose a label in one of the menus."""
    menus = page.tab.answer.head.label, page.tab.answer.importance.controls[LABEL]
    menu, other = menus if place == "lens" else reversed(menus)
    page.values[menu] = label
    return page.take(page.tab.answer.head.choose(menu, other, page.values))


def test_nothing_is_asked_with_the_question_and_nothing_stays_of_the_answer_before(
    page: Page, looked: list[Query]
) -> None:
    audited(page), opened(page)
    assert len(looked) == 2
    updates = page.set(text="another")
    for view in page.tab.answer.asked[1:]:
        assert {updates[part] for part in view.places.parts} == {""}
        assert page.values[view.stored] is None
    assert len(looked) == 2


def test_padding_is_asked_once_of_the_checkpoint_s_own_head(page: Page, looked: list[Query]) -> None:
    page.set(pooling="mean")
    assert "Safe in a batch" in audited(page)
    assert audited(page) == ""
    assert looked == [(Query("first", "so good"),)]


@pytest.mark.usefixtures("looked")
def test_a_refusal_is_said_and_nothing_is_drawn(page: Page, matters: ImportanceView) -> None:
    page.set(text="refused")
    assert SAY("errors.died") in audited(page)
    (updates,) = opened(page)
    assert SAY("errors.died") in plain(updates[place_of([matters.view.places], "importance").above])
    assert updates[place_of([matters.view.places], "matters").plot] == ""


def test_the_report_and_the_talk_ask_once_for_what_they_show(page: Page, looked: list[Query]) -> None:
    link = {"text": "so good", "backbone": "first", "label": "positive", "integrated": True}
    answer = page.tab.answer_to({one.control.key: one.control.default for one in page.tab.linked} | link)
    assert looked == []
    shown = {panel.key: panel for panel in page.tab.panels}
    for key in ("padding", "importance", "padding", "importance"):
        assert shown[key].subject(answer) is shown[key].subject(answer)
    query = Query("first", "so good")
    assert looked == [(query,), (query, "positive", True)]


def test_what_made_a_vector_is_said_of_the_text_on_the_screen(page: Page, serving: PaddingView) -> None:
    found = page.tab.analyst.ask("detect", Query("first", "so good"), vector="1 2", prefix="query: ")
    said = detected(page, "1 2", "query: ")
    assert str(found.says[0]) in said
    assert "behind the prefix “query: ”" in said
    updates = page.set(text="another")
    assert updates[serving.found.places[0].above] == ""
    assert serving.vector not in updates


@pytest.mark.parametrize("vector", ["", "a film", "1 nan", "[[1, 2], [3, 4]]", None, 7, {"a": 1}])
def test_a_vector_that_is_none_is_refused_in_a_sentence(page: Page, vector: object) -> None:
    said = detected(page, vector)
    assert SAY("detective.none") in said
    assert "vector: " in said


def test_importance_is_asked_once_beside_similarity_to_cls(
    page: Page, looked: list[tuple[Query, str, bool]], matters: ImportanceView
) -> None:
    page.set(reference="pooled")
    (updates,) = opened(page)
    assert looked == [(Query("first", "so good"), "", False)]
    assert len(drawn(updates[place_of([matters.view.places], "matters").plot]).data) == 5
    assert opened(page) == [NOTHING]
    assert len(looked) == 1


def test_what_is_quick_comes_before_integrated_gradients(
    page: Page, looked: list[tuple[Query, str, bool]], matters: ImportanceView
) -> None:
    quick, busy, later, whole = opened(page, integrated=True)
    plots = [one[place_of([matters.view.places], "matters").plot] for one in (quick, whole)]
    assert [len(drawn(plot).data) for plot in plots] == [5, 6]
    for step, done in ((busy, 0), (later, 25)):
        assert SAY("matters.integrating", done=done, total=50) in step[matters.bar.status]
    assert busy[matters.bar.cancel]["interactive"]
    assert whole[matters.bar.status] == ""
    assert not whole[matters.bar.cancel]["interactive"]
    assert [integrated for *_, integrated in looked] == [False, True]
    assert opened(page, integrated=True) == [NOTHING]


def test_integrated_gradients_that_were_given_up_are_no_longer_asked_for(matters: ImportanceView) -> None:
    updates = matters.stopped()
    assert updates[matters.controls[INTEGRATED]] is False
    assert SAY("matters.stopped") in updates[matters.bar.status]


def test_another_head_of_attention_is_drawn_of_what_came(
    page: Page, looked: list[Query], matters: ImportanceView
) -> None:
    (updates,) = opened(page, attention_head=HEADS + 3)
    slider = updates[matters.controls[HEAD]]
    assert (slider["maximum"], slider["value"], slider["visible"]) == (HEADS, 0, True)
    page.values[matters.controls[HEAD]] = 2
    shown, place = matters.look(page.values), place_of([matters.view.places], "attention")
    assert set(shown) == set(place.parts)
    seen: Seen = page.values[matters.view.stored]
    assert seen.importance.attention is not None
    expected = seen.importance.attention[:, 1].ravel()
    assert [cell for row in drawn(shown[place.plot]).data[0].z for cell in row] == pytest.approx(
        expected, abs=1e-4
    )
    assert len(looked) == 1


def test_the_lens_is_drawn_anew_and_no_model_is_asked(page: Page, head: HeadView) -> None:
    analyst = page.tab.analyst
    assert isinstance(analyst, Counting)
    analyst.forget()
    plot = place_of([head.view.places], "lens").plot
    first, second = (drawn(chosen(page, label)[plot]) for label in ("fear", "trust"))
    assert first.data[0].z != second.data[0].z
    assert analyst.asked == []


@pytest.mark.parametrize("place", ["lens", "matters"])
def test_both_menus_and_a_link_have_the_label_that_is_chosen_in_one(
    page: Page, head: HeadView, matters: ImportanceView, place: str
) -> None:
    chosen(page, "fear", place)
    both = head.label, matters.controls[LABEL]
    assert [page.values[menu] for menu in both] == ["fear", "fear"]
    state = {one.control.key: page.values[one.part] for one in page.tab.linked if one.control == LABEL}
    assert to_link(state, [LABEL]) == "label=fear"
    assert chosen(page, "fear", place) is NOTHING
    updates = page.set(text="so good")
    assert [updates[menu]["value"] for menu in both] == ["fear", "fear"]
    assert [value for _, value in updates[both[1]]["choices"]] == ["", "joy", "anger", "trust", "fear"]
    updates = page.set(backbone="first")  # which has no such label
    assert [updates[menu]["value"] for menu in both] == ["", ""]
    updates = page.set(backbone="score")
    assert not any(updates[menu]["visible"] for menu in both)


def test_where_nothing_can_be_pointed_there_is_nothing_to_choose(page: Page, head: HeadView) -> None:
    updates = page.set(pooling="attention", head="probe", backbone="first")
    assert not updates[head.label]["visible"]
    assert chosen(page, "positive", "matters") is NOTHING
