"""What the menus offer: examples, backbones by place, and what fits each other."""

from dataclasses import replace
from html import escape
from typing import Any

import pytest
from hypothesis import given, strategies as st

from components.analyst import first_of
from components.menus import GROUPS, BackboneMenu, Choices, Example, full_size, suited
from components.model import pooling
from components.texts import Sentence, in_bytes, load_texts
from components.types import BackboneSpec, Declaration, PoolingSpec, Query
from tests.ui.fake import KINDS, POOLINGS, TASKS, FakeAnalyst

SAY = load_texts()
SPEC = BackboneSpec("key", "Title", "task", "a note", "hub", "org/name", available=False, size=1)
BUNDLED = replace(SPEC, key="b", source="bundled", available=True)
BACKBONES = FakeAnalyst().backbones()
CHOICES = Choices.of(FakeAnalyst())
PROBE = Query("first", "good", head="probe")


def test_the_chosen_backbone_stays_if_it_takes_as_many_texts() -> None:
    assert suited(Example("", "a"), "untrained", BACKBONES) == "untrained"
    assert suited(Example("", "a", "b"), "untrained", BACKBONES) == "pair"
    assert suited(Example("", "a"), "pair", BACKBONES) == "first"


@pytest.mark.parametrize(
    ("spec", "place", "title"),
    [
        (BUNDLED, "bundled", "Title"),
        (replace(SPEC, source="local", available=True), "here", "Title"),
        (replace(SPEC, source="local"), "here", "Title (not on this machine)"),
        (replace(SPEC, size=268_064_743), "hub", "Title · 268 MB to download"),
        (replace(SPEC, size=None), "hub", "Title · to download"),
    ],
)
def test_where_a_backbone_comes_from_and_what_it_takes(spec: BackboneSpec, place: str, title: str) -> None:
    models = BackboneMenu((BUNDLED, replace(spec, key="asked")), True, SAY)
    assert models.place("asked") == place
    assert (title, "asked") in models.within(place)


def test_the_largest_that_is_here_quick_and_has_a_head_is_first() -> None:
    def known(key: str, weights: int, texts: int | None = 1, available: bool = True) -> BackboneSpec:
        return replace(SPEC, key=key, weights=weights, texts=texts, available=available)

    minis = known("mini", 4_000_000), known("pair", 4_000_000, 2), known("other", 3_000_000)
    for largest, first in (
        (known("hub", 268_000_000), ["hub", "pair"]),
        (known("hub", 268_000_000, available=False), ["mini", "pair"]),
        (known("slow", 438_000_000), ["mini", "pair"]),
        (known("new", 91_000_000, None), ["mini", "pair"]),  # no head of it is known to be trained
        (known("cross", 57_000_000, 2), ["mini", "cross"]),
    ):
        models = (*minis, largest)
        assert [suited(Example("", "a", pair), "gone", models) for pair in ("", "b")] == first
        assert BackboneMenu(models, True, SAY).first.key == first[0]
        assert suited(Example("", "a", backbone="mini"), "hub", models) == "mini"  # what it was written for
    new = known("one", 4, None), known("two", 9, None)  # of which the order decides
    assert [first_of(some) for some in (new, new[1:], ())] == [new[0], new[1], None]


def test_a_full_size_model_is_named_where_it_can_be_had_and_is_asked_the_same() -> None:
    query = Query("mini", "so <good>", "& bad", "mean", head="probe")
    asked = "?lang=en&text=so+%3Cgood%3E&pair=%26+bad&backbone=key&pooling=native&head=own"
    absent, here = replace(SPEC, size=268_064_743), replace(SPEC, available=True)
    for spec, online, told in ((here, False, "Title"), (absent, True, "Title · 268 MB to download")):
        assert full_size(query, spec, online, SAY) == f' Full size: <a href="{escape(asked)}">{told}</a>'
    assert full_size(query, absent, False, SAY) == ""
    assert full_size(replace(query, text="long " * 1000), here, True, SAY) == ""  # no link holds it


def test_another_backbone_is_asked_with_the_head_that_it_has() -> None:
    specs = {spec.key: spec for spec in BACKBONES}
    specs["new"] = replace(specs["first"], key="new", texts=None)  # its own head is random
    choices = replace(CHOICES, probed={**CHOICES.probed, "new": ("sentiment",)})
    changed = "first own new probe", "new probe first own"
    kept = "new own first own", "first probe last probe", "new own new own", "gone own new own"  # by a link
    for before, given_, after, head in map(str.split, (*changed, *kept, "first mine new mine")):
        query = Query(after, "good", head=given_)
        assert choices.headed(query, specs.get(before), specs[after]).head == head
        pair = choices.headed(replace(query, text_pair="bad"), specs["first"], specs["new"])
        assert pair.head == given_  # there is no probe for pairs


def test_offline_no_size_is_promised() -> None:
    models = BackboneMenu((SPEC,), False, SAY)
    assert models.within("hub") == [("Title · not available offline", "key")]
    assert models.places == [("Hub · offline (1)", "hub")]  # before anybody goes there
    sizes = {131_632: "132 kB", 999_500: "1.0 MB", 9_950_000: "10 MB", 2 * 10**9: "2.0 GB"}
    assert {size: in_bytes(size).said(SAY) for size in sizes} == sizes


@pytest.mark.parametrize("declared", [Declaration(("mean",), 4, ()), Sentence("refusals.damaged", file="x")])
@pytest.mark.parametrize(("backbone", "learned"), [("first", True), ("untrained", False)])
def test_poolings_are_offered_where_they_can_be_had(backbone: str, learned: bool, declared: Any) -> None:
    """Learned ones where there is a probe, and what is declared where something is."""
    choices = replace(CHOICES, pooled=(*POOLINGS, PoolingSpec("declared", "declared", "", declared=True)))
    query = Query(backbone, "good", pooling="declared")
    here = [spec.key for spec in POOLINGS if learned or not spec.learned]
    for spec, more in ((None, []), (BUNDLED, []), (replace(BUNDLED, declared=declared), ["declared"])):
        assert [key for _, key in choices.poolings(query, spec, SAY)] == here + more
        assert choices.fitted(query, spec).pooling == ("declared" if more else "native")


def test_poolings_stand_in_groups_whose_names_stand_for_the_first_in_them() -> None:
    learned = PoolingSpec("flatten", "Flatten", "", learned=True, group="learned")
    pooled = (learned, PoolingSpec("mean", "Mean", ""), PoolingSpec("native", "Native", "", group="own"))
    choices, query = replace(CHOICES, pooled=pooled), Query("first", "good")
    menu = choices.poolings(query, None, SAY)
    assert [key for _, key in menu] == ["native", "average", "mean", "learned", "flatten"]
    assert menu[-1][0] == "Flatten (with the probe)"
    assert choices.fitted(replace(query, pooling="learned"), None) == replace(PROBE, pooling="flatten")
    assert {one.spec.group for one in pooling.POOLINGS.values()} == set(GROUPS)


@given(
    st.builds(
        Query,
        st.sampled_from([kind.spec.key for kind in KINDS]),
        st.just("good"),
        st.sampled_from(["", " ", "bad"]),
        st.sampled_from([spec.key for spec in POOLINGS if spec.key != "pooler"]),
        st.sampled_from(["own", "probe"]),
        task=st.sampled_from(["", "nonsense", *(task.key for task in TASKS)]),
    )
)
def test_what_fits_is_never_refused(query: Query) -> None:
    fitted = CHOICES.fitted(replace(query, text_pair=query.text_pair.strip()), None)
    FakeAnalyst().ask("analyze", fitted)
    assert CHOICES.fitted(fitted, None) == fitted
