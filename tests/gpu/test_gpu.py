"""Every analysis with the model on a GPU, or on a stand-in where there is none, is what it is on the CPU."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.analyses.registry import analyses
from components.errors import PoolscopeError
from components.inference.engine import Desk
from components.inference.measurer import Measurer
from components.settings import Settings
from components.types import Query
from tests.gpu.elsewhere import ELSEWHERE, Elsewhere
from tests.tiny import catalogue, checkpoint

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else ELSEWHERE.type
TEXT, OTHER = "the film is not good", {"other": "the film is not bad"}
MORE: list[tuple[str, dict[str, Any]]] = [("anatomy", {"pooling": "pooler"}), ("analyze", {"pool_layer": 1})]
# on the stand-in, which is slow: no passport, made of others; of other models what runs otherwise
NAMES = [name for name, kind in analyses().items() if not kind.times and (CUDA or name != "passport")]
ASKED = {"bert": NAMES, "gpt2": NAMES if CUDA else ["trace", "lens"], "bart": NAMES if CUDA else ["sees"]}


def desk(device: str, settings: Settings, dtype: str = "float32") -> Desk:
    measurer = Measurer(None, device=device, dtype=dtype)

    def run(job: Any) -> Any:
        with Elsewhere() if device == ELSEWHERE.type else nullcontext():
            return measurer.run(job)

    return Desk(settings, SimpleNamespace(run=run))  # type: ignore[arg-type]  # what is asked of it here


def said(asked: Callable[..., Any], name: str, query: Query) -> tuple[list[str], list[float]]:
    """Words in the answer's JSON, without their numbers, and its numbers; of ways the best."""
    given: dict[str, Any] = {"detect_score": {"scores": [0.5]}, "trace": OTHER}
    if name == "detect":
        given[name] = {"vector": asked("analyze", replace(query, pooling="mean")).pooled.tolist()}
    try:
        found = asked(name, query, **given.get(name, {})).to_json()
    except PoolscopeError as error:
        found = {"refused": str(error)}
    leaves = tree_leaves({**found, "candidates": found.get("candidates", [])[:1], "milliseconds": ""})
    words = [re.sub(r"[-\d.e]+", "#", str(leaf)) for leaf in leaves if "rounding" not in str(leaf)]
    return words, [leaf for leaf in leaves if isinstance(leaf, float)]


@pytest.mark.parametrize("key", ASKED)
def test_it_is_what_it_is_on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    # tensors become others in their places, since their class is another one elsewhere
    monkeypatch.setattr(torch.__future__, "_swap_module_params_on_conversion", True)
    checkpoint(tmp_path / key, key, key)
    settings = Settings(catalogue=catalogue(tmp_path, {key: tmp_path / key}))
    desks = [desk(device, settings).ask for device in ("cpu", DEVICE)]
    assert [one("analyze", Query(key, TEXT)).device for one in desks] == ["cpu", DEVICE]
    for name, more in [*((name, {}) for name in ASKED[key]), *MORE]:
        (words, here), (others, there) = (said(one, name, Query(key, TEXT, **more)) for one in desks)
        assert words == others
        assert here == pytest.approx(there, abs=1e-4, rel=1e-4)


@pytest.mark.parametrize("key", ASKED)
def test_in_bfloat16_an_answer_is_that_of_transformers_and_says_so(tmp_path: Path, key: str) -> None:
    checkpoint(folder := tmp_path / key, key, key)
    settings = Settings(catalogue=catalogue(tmp_path, {key: folder}))
    ask = desk("cuda" if CUDA else "cpu", settings, "bfloat16").ask
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.bfloat16)
    inputs = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    answer, exact = ask("analyze", Query(key, TEXT)), ask("lens", Query(key, TEXT)).analysis
    assert answer.logits == pytest.approx(model(**inputs).logits[0].tolist(), abs=0.02 * CUDA)
    assert exact.logits == pytest.approx(answer.logits, abs=0.2)
    assert [[one.key for one in each.warnings] for each in (answer, exact)] == [["warnings.rounded"], []]
