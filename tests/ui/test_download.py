"""Offers, downloads and look-ups, without a browser and without torch."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.types import Progress
from components.ui.places import NOTHING, Updates
from tests.exhibits.showing import plain
from tests.ui.fake import FakeHub
from tests.ui.page import Counting, Page


@pytest.fixture
def page(page: Page) -> Page:
    """A visitor's page, on which the first question is answered."""
    page.arrive()
    return page


def rows(page: Page, updates: Updates) -> tuple[object, object]:
    """Whether an update shows or hides the offer, and what is on its way; None if it leaves them."""
    parts = page.tab.download.facts, page.tab.download.bar.status
    offer, loading = (bool(updates[part]) if part in updates else None for part in parts)
    return offer, loading


def words(page: Page, updates: Updates) -> str:
    return plain(updates[page.tab.download.facts])


def test_the_menu_offers_the_backbones_of_one_place(page: Page) -> None:
    question = page.tab.question
    updates = page.go_to("hub")
    offered = [key for _, key in updates[question.backbone]["choices"]]
    assert (offered, updates[question.backbone]["value"]) == (["far", "broken", "markup"], "far")
    assert updates[question.place]["choices"] == [("On this machine (9)", "here"), ("On the hub (3)", "hub")]
    back = page.go_to("here")
    assert back[question.backbone]["value"] == "first"
    assert "near" in [key for _, key in back[question.backbone]["choices"]]


def test_what_is_not_here_is_offered_and_the_last_answer_stays(page: Page, analyst: Counting) -> None:
    asked = len(analyst.asked)
    updates = page.set(backbone="far")
    assert len(analyst.asked) == asked
    assert not set(page.tab.answer.all) & set(updates)
    assert rows(page, updates) == (True, None)
    said = ("Far away", "org/far", "268 MB", "Apache-2.0", "still the answer of First token · sentiment")
    assert [fact for fact in said if fact not in words(page, updates)] == []
    assert updates[page.tab.download.start]["value"] == "Download 268 MB"
    assert updates[page.tab.question.place]["info"] == "made-up numbers · licence: Apache-2.0"


def test_a_download_says_how_far_it_is_and_ends_in_the_answer(page: Page, analyst: Counting) -> None:
    page.set(backbone="far")
    news, download = list(page.download()), page.tab.download
    assert (rows(page, news[0]), rows(page, news[-1])) == ((False, True), (None, False))
    lines = [plain(update[download.bar.status]) for update in news if download.bar.status in update]
    assert lines[0].startswith("Downloading Far away · sentiment: asking the hub …")
    assert "54 MB of 268 MB (19 %)" in lines[2]
    assert "268 MB of 268 MB (100 %)" in lines[-2]
    assert page.values[download.coming] is None
    answer = page.arrive()
    assert analyst.asked[-1].backbone == "far"
    assert rows(page, answer) == (False, None)
    assert ("Far away · sentiment", "far") in answer[page.tab.question.backbone]["choices"]
    assert answer[page.tab.question.place]["value"] == "here"


def test_who_leaves_closes_the_download_and_may_go_on(page: Page, analyst: Counting) -> None:
    page.set(backbone="far")
    news = page.download()
    for _ in range(3):
        next(news)
    news.close()  # type: ignore[attr-defined]  # it is a generator
    assert analyst.hub.left == 1
    updates = page.take(page.tab.download.stop(page.values))
    assert rows(page, updates) == (True, False)
    assert "Stopped." in words(page, updates)
    assert page.values[page.tab.download.coming] is None
    list(page.download())
    assert "far" in analyst.hub.here


def test_other_backbones_answer_while_one_is_coming(page: Page, analyst: Counting) -> None:
    page.set(backbone="far")
    news = page.download()
    next(news)
    here = page.set(backbone="untrained")
    assert analyst.asked[-1].backbone == "untrained"
    assert page.tab.download.bar.status not in here
    other = page.set(backbone="broken")
    assert "Far away · sentiment is being downloaded" in words(page, other)
    assert other[page.tab.download.start]["visible"] is False
    stopped = page.tab.download.stop(page.values)  # offers what is chosen by now
    assert "Half-way" in words(page, stopped)
    assert "Stopped" not in words(page, stopped)
    assert rows(page, page.set(backbone="far")) == (False, None)
    page.set(backbone="broken")
    list(news)
    assert page.arrive()[page.tab.download.start]["visible"] is True
    assert analyst.asked[-1].backbone == "untrained"
    page.set(backbone="first")
    assert page.tab.download.facts not in page.tab.download.stop(page.values)


def test_a_failure_is_said_and_the_offer_is_back(page: Page, analyst: Counting) -> None:
    page.set(backbone="broken")
    last = list(page.download())[-1]
    assert rows(page, last) == (True, False)
    assert "the hub does not answer in time" in words(page, last)
    assert page.tab.download.arrived not in last
    assert page.tab.download.arrived in list(page.download())[-1]
    assert page.arrive() is not NOTHING
    assert analyst.asked[-1].backbone == "broken"


def test_a_bug_leaves_an_offer_and_comes_through(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: FakeHub, key: str) -> Iterator[Progress]:
        raise RuntimeError(key)

    assert list(page.download()) == []  # nothing is offered
    page.set(backbone="far")
    monkeypatch.setattr(FakeHub, "fetch", fails)
    with pytest.raises(RuntimeError, match="far"):
        list(page.download())
    assert page.values[page.tab.download.coming] is None


def test_offline_nothing_can_be_downloaded_and_where_no_ids_are_taken_there_is_no_box() -> None:
    page = Page(Counting(hub=FakeHub(online=False), takes_ids=False))
    updates = page.set(backbone="far")
    assert updates[page.tab.download.start]["visible"] is False
    assert "Not available offline" in words(page, updates)
    assert page.tab.question.lookup is None


def test_a_found_model_joins_the_menu_and_is_offered(page: Page, analyst: Counting) -> None:
    backbone = page.tab.question.backbone
    updates = page.look_up(" org/found ")
    assert page.values[backbone] == "org/found"
    assert ("org/found · to download", "org/found") in updates[backbone]["choices"]
    assert "size: known when the download begins" in words(page, updates)
    assert "licence: not stated on the hub" in words(page, updates)
    list(page.download())
    answer = page.arrive()
    assert analyst.asked[-1].backbone == "org/found"
    assert ("org/found", "org/found") in answer[backbone]["choices"]
    assert page.go_to("hub")[backbone]["value"] == "far"
    assert ("org/found", "org/found") in page.go_to("here")[backbone]["choices"]
    page.look_up("org/near")  # which is here, and is asked at once
    assert analyst.asked[-1].backbone == "near"


@pytest.mark.parametrize("given", ["", None, "nobody/nothing", 5])
def test_a_refusal_is_said_and_changes_nothing(page: Page, given: Any) -> None:
    assert page.tab.question.lookup
    updates = page.look_up(given)
    assert list(updates) == [page.tab.question.lookup.refusal]
    assert "check its spelling" in updates[page.tab.question.lookup.refusal]
