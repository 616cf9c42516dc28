"""The registry gives the price and the name by itself."""

import pytest

from components.analyses import registry
from components.analyses.registry import analyses, steps
from components.inference import jobs
from components.inference.engine import Engine
from components.types import Query
from tests.readme import run_block


def test_a_price_grows_with_what_is_asked() -> None:
    trace, detect, padding = (analyses()[name].cost for name in ("trace", "detect", "padding"))
    assert trace.of(10) == 1
    assert (trace.of(180), trace.of(1500)) == (6, 300)
    assert detect.of(900, texts=3) == 3 * detect.of(900)
    assert padding.of(900, texts=3) == padding.of(0) > 1


def test_what_waits_behind_all_others() -> None:
    last = {"embed", "divide", "fold", "words", "conclude"}
    assert {name for name, one in steps().items() if one.last} == last


def test_an_analysis_of_ones_own_is_asked_by_name(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    norms = run_block("CONTRIBUTING.md", "class Norms").norms
    known = {**steps(), "norms": norms}
    for module in (registry, jobs):
        monkeypatch.setattr(module, "steps", lambda: known)
    found = engine.ask("norms", Query("bert-sentiment", "not good")).to_json()
    assert [len(layer) for layer in found["norms"]] == [len(found["tokens"])] * 5
    assert list(norms.signature.parameters) == ["backbone", "text", "text_pair"]
