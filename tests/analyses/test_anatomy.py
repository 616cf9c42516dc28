"""A head taken apart: its steps, weights, print(model) and source are those of the files and the library."""

import json
import linecache
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors import safe_open

from components.analyses.anatomy import Anatomy
from components.analyses.measuring.anatomy import dissect, head_calls
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.model.probes import Probe, write_probes
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.plain import INPUTS, KEYS, SPECS, load_plain, rerun
from tests.tiny import checkpoint

FAMILIES = [key for key in KEYS if key.endswith("-sentiment")]
LIBRARY = Path(transformers.__file__).parents[1]


def anatomy(backbone: Backbone, pooling: str = "native", text: str = INPUTS[0][0]) -> Anatomy:
    return dissect(examine(backbone, Query(backbone.spec.key, text, pooling=pooling)))


def held(key: str) -> Iterator[str]:
    with safe_open(Path(SPECS[key].location) / "model.safetensors", framework="numpy") as file:
        yield from file.keys()


@pytest.mark.parametrize("key", FAMILIES)
@pytest.mark.parametrize("pooling", ["native", "mean"])
def test_running_the_steps_again_gives_the_logits(
    key: str, pooling: str, loaded: Callable[[str], Backbone]
) -> None:
    """And each step takes what the one before gave."""
    examined = examine(loaded(key), Query(key, *INPUTS[0], pooling=pooling))
    calls, start = head_calls(examined), examined.states.hidden
    torch.testing.assert_close(rerun(calls, start, start), examined.outputs.logits, rtol=0, atol=1e-6)
    found = anatomy(loaded(key), pooling)
    for one, two in pairwise(found.steps):
        np.testing.assert_array_equal(one.given, two.taken)
    np.testing.assert_allclose(found.steps[-1].given, found.analysis.logits, rtol=0, atol=1e-6)
    plain = load_plain(SPECS[key].location)
    count = sum(weight.numel() for name, weight in plain.model.named_parameters() if name in names(found))
    assert sum(step.parameters for step in found.steps) == count


def names(found: Anatomy) -> set[str]:
    return {weight.name for weight in found.weights}


@pytest.mark.parametrize("key", [key for key in KEYS if not key.endswith("-paraphrase")])
def test_weights_and_print_are_those_of_the_file(key: str, loaded: Callable[[str], Backbone]) -> None:
    found = anatomy(loaded(key))
    file = set(held(key))
    assert {weight.name for weight in found.weights if weight.origin == "checkpoint"} == names(found) & file
    new = {weight.name: weight.origin for weight in found.weights if weight.name not in file}
    assert new == {name: "constant" if name.endswith("bias") else "new" for name in new}
    model = {name for name, _ in load_plain(SPECS[key].location).model.named_parameters()}
    assert {weight.name for weight in found.unused} == file - model
    printed = iter(repr(load_plain(SPECS[key].location).model).splitlines())
    for line in found.declared:
        whole = "  " * line.depth + line.text.removesuffix(" … )")
        assert any(other == whole for other in printed), line


def test_the_weights_of_a_bare_body_are_found_without_its_prefix(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "x", headless=True))
    found = anatomy(backbone, text="the film is good")
    assert {weight.name: weight.origin for weight in found.weights} == {
        "bert.pooler.dense.bias": "checkpoint",
        "bert.pooler.dense.weight": "checkpoint",
        "classifier.bias": "constant",
        "classifier.weight": "new",
    }
    assert not found.unused


def test_a_weight_of_another_shape_is_called_reshaped(tmp_path: Path) -> None:
    checkpoint(tmp_path / "x", num_labels=3)
    config = tmp_path / "x/config.json"
    stated = json.loads(config.read_text(encoding="utf-8"))
    stated |= {"id2label": {"0": "a", "1": "b"}, "label2id": {"a": 0, "b": 1}}
    config.write_text(json.dumps(stated), encoding="utf-8")
    found = anatomy(load(BackboneSpec("x", "x", "", "", "local", str(config.parent))), text="the film")
    origins = {weight.name: weight.origin for weight in found.weights}
    assert (origins["classifier.weight"], origins["classifier.bias"]) == ("reshaped", "constant")
    assert found.steps[-1].origin == "reshaped"


def test_the_order_of_declaration_is_not_that_of_execution(loaded: Callable[[str], Backbone]) -> None:
    found = anatomy(loaded("distilbert-sentiment"))
    executed = [step.path for step in found.steps if step.path]
    declared = [line.path for line in found.declared if line.path in executed]
    assert declared == ["pre_classifier", "classifier", "dropout"]
    assert executed == ["pre_classifier", "dropout", "classifier"]


@pytest.mark.parametrize("key", FAMILIES)
def test_the_source_is_that_of_the_installation(key: str, loaded: Callable[[str], Backbone]) -> None:
    found = anatomy(loaded(key))
    assert found.sources
    for source in found.sources:
        file = str(LIBRARY / source.file)
        for offset, line in enumerate(source.lines):
            assert linecache.getline(file, source.first + offset).strip() == line.strip()
        assert set(source.picks) <= set(source.ran)
        assert set(source.ran) <= set(range(source.first, source.first + len(source.lines)))
    (pick,) = (source.lines[number - source.first] for source in found.sources for number in source.picks)
    assert "[" in pick


def test_the_source_of_a_swap_begins_with_the_pooling(loaded: Callable[[str], Backbone]) -> None:
    first, *rest = anatomy(loaded("bert-sentiment"), "mean").sources
    assert first.title == "mean"
    assert "def mean(states: States) -> Tensor:" in first.lines
    assert [source.title for source in rest] == [
        "BertForSequenceClassification.forward",
        "BertModel.forward",
        "BertPooler.forward",
    ]


def test_the_analysis_is_that_of_analyze(engine: Engine) -> None:
    query = Query(KEYS[0], *INPUTS[0], pooling="mean")
    one, other = engine.ask("analyze", query), engine.ask("anatomy", query).analysis
    for field in ("similarity", "centred", "standardised", "pooled", "logits", "probabilities"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert (one.labels, one.warnings, one.backbone) == (other.labels, other.warnings, other.backbone)
    with pytest.raises(PoolscopeError, match="width"):
        engine.ask("anatomy", Query(KEYS[0], "good", pooling="concat_last4_cls"))


@pytest.mark.parametrize("pooling", ["mean", "attention", "flatten"])
def test_a_probe_has_two_steps(tmp_path: Path, pooling: str) -> None:
    checkpoint(tmp_path / "x")
    width = 64 * 32 if pooling == "flatten" else 32
    random = np.random.default_rng(0)
    weight, bias, query = (random.normal(size=size).astype(np.float32) for size in ((2, width), 2, 32))
    probe = Probe(weight, bias, query if pooling == "attention" else None)
    write_probes({("sentiment", pooling): probe}, tmp_path / "x.safetensors")
    catalogue = tmp_path / "backbones.toml"
    entry = '[x]\ntitle = "x"\npath = "x"\ntask = "sentiment"\nprobes = "x.safetensors"\n'
    catalogue.write_text(entry, encoding="utf-8")
    engine = Engine(Settings(catalogue=catalogue))
    found = engine.ask("anatomy", Query("x", "the film is good", pooling=pooling, head="probe"))
    assert [step.kind for step in found.steps] == ["pooling", "linear"]
    learned = {"query"} if pooling == "attention" else set()
    assert names(found) == {"weight", "bias"} | learned
    assert {weight.origin for weight in found.weights} == {"probe"}
    assert found.steps[1].parameters == 2 * width + 2
    np.testing.assert_array_equal(found.steps[-1].given, found.analysis.logits)
    np.testing.assert_array_equal(found.steps[0].given, found.analysis.pooled)
    assert found.sources[0].title == POOLINGS[pooling].spec.key
