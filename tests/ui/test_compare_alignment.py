"""The words of a comparison on the page: looking asks nothing."""

from components.inference.engine import Engine
from components.ui.places import NOTHING
from tests.analyses.test_compare import counting
from tests.exhibits.comparison.test_alignment import FAMILIES, HOSTILE
from tests.ui.compare_page import Page, Watched

EVERY = [f"{family}-sentiment" for family in FAMILIES]


def test_another_look_asks_nothing() -> None:
    analyst = Watched()
    page = Page(analyst)
    assert page.look("words") is NOTHING
    left, place = page.ask(), page.place("words")
    log = list(analyst.log)
    assert page.look("words") == {part: left[part] for part in place.parts}
    seen = {left[place.below]}
    for depth, centred in ((0, "plain"), (50, "plain"), (50, "centred")):
        page.set(depth=depth, words_centred=centred)
        seen.add(page.look("words")[place.below])
    assert len(seen) == 4
    assert analyst.log == log


def test_no_backbone_runs_for_another_depth(engine: Engine) -> None:
    page = Page(engine)
    page.set(backbones=EVERY, poolings=["native", "mean"], text=HOSTILE["emoji"], pair=HOSTILE["Arabic"])
    with counting(engine, EVERY) as ran:
        page.ask()
        assert ran == EVERY
        for depth in range(0, 101, 5):
            page.set(depth=depth, words_centred="centred" if depth % 2 == 0 else "plain")
            drawn = page.look("words")[page.place("words").below]
            assert drawn.count('class="word') > 0
            assert drawn.count("cell absent") == 0
        assert ran == EVERY
