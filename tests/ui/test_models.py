from dataclasses import replace

import pytest

from components.texts import load_texts
from components.types import BackboneSpec
from components.ui.models import Models, in_bytes, unlinked
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_hub import FINDABLE, FakeHub

SAY = load_texts()
SPEC = BackboneSpec(
    "key", "Title", "task", "a note", "hub", "org/name", available=False, size=1, licence="MIT"
)
BUNDLED = replace(SPEC, key="b", source="bundled", available=True)


def _models(*specs: BackboneSpec, online: bool = True) -> Models:
    return Models(specs, online, SAY)


@pytest.mark.parametrize(
    ("spec", "place", "title"),
    [
        (BUNDLED, "bundled", "Title"),
        (replace(SPEC, source="local", available=True), "here", "Title"),
        (replace(SPEC, source="local"), "here", "Title (not on this machine)"),
        (replace(SPEC, available=True), "here", "Title"),
        (replace(SPEC, size=268_064_743), "hub", "Title · 268 MB to download"),
        (replace(SPEC, size=None), "hub", "Title · to download"),
    ],
)
def test_where_a_backbone_comes_from_and_what_it_takes(spec: BackboneSpec, place: str, title: str) -> None:
    models = _models(BUNDLED, replace(spec, key="asked"))
    assert models.place("asked") == place
    assert (title, "asked") in models.within(place)


def test_offline_no_size_is_promised() -> None:
    assert _models(SPEC, online=False).within("hub") == [("Title · not available offline", "key")]


def test_places_are_counted_and_empty_ones_are_none() -> None:
    assert _models(BUNDLED, SPEC).places == [("Bundled (1)", "bundled"), ("On the hub (1)", "hub")]


def test_what_was_found_follows_the_catalogue_and_never_twice() -> None:
    analyst = FakeAnalyst()
    listed = analyst.backbones()
    models = Models.of(analyst, (listed[0], FINDABLE[0]), SAY)
    assert models.specs == (*listed, FINDABLE[0])


def test_availability_is_read_anew() -> None:
    analyst = FakeAnalyst(hub=FakeHub())
    assert Models.of(analyst, (), SAY).place("far") == "hub"
    list(analyst.fetch("far"))
    assert Models.of(analyst, (), SAY).place("far") == "here"


@pytest.mark.parametrize(
    ("licence", "note"),
    [("MIT", "a note · licence: MIT"), ("", "a note · licence: not stated on the hub")],
)
def test_the_licence_of_a_model_of_the_hub_is_named(licence: str, note: str) -> None:
    assert _models(replace(SPEC, licence=licence)).note("key") == note
    assert _models(replace(SPEC, licence=licence, source="local")).note("key") == "a note"


@pytest.mark.parametrize("key", ["unknown", None, ["key"], 5])
def test_an_unknown_key_has_no_note_and_stands_among_the_first(key: object) -> None:
    assert _models(BUNDLED, SPEC).note(key) == ""
    assert _models(BUNDLED, SPEC).place(key) == "bundled"


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 kB"),
        (131_632, "132 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (9_949_999, "9.9 MB"),
        (9_950_000, "10 MB"),
        (268_064_743, "268 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.0 GB"),
        (1_450_000_000, "1.4 GB"),
        (2_000_000_000_000, "2,000.0 GB"),
    ],
)
def test_bytes_in_words(size: int, words: str) -> None:
    assert in_bytes(size, SAY) == words


def test_markdown_makes_no_links() -> None:
    assert "](" not in unlinked("[a](https://example.org)[b](c)")
