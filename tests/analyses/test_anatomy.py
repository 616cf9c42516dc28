"""A head taken apart: its steps, weights, print(model) and source are those of the files and the library."""

import linecache
import shutil
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import load_file, save_file
from transformers import AutoModelForSequenceClassification

from components.analyses.anatomy import Anatomy
from components.analyses.measuring.anatomy import dissect, head_calls
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.loading import load
from components.types import Query
from tests.checkpoints import Loaded, Made
from tests.plain import INPUTS, SPECS, load_plain, rerun

LIBRARY = Path(transformers.__file__).parents[1]


def anatomy(backbone: Backbone, pooling: str = "native", text: str = INPUTS[0][0]) -> Anatomy:
    return dissect(examine(backbone, Query(backbone.spec.key, text, pooling=pooling)))


def names(found: Anatomy) -> set[str]:
    return {weight.name for weight in found.weights}


@pytest.mark.parametrize(
    ("key", "pooling"), [("xlnet-sentiment", "native"), ("distilbert-sentiment", "mean")]
)
def test_running_the_steps_again_gives_the_logits(key: str, pooling: str, loaded: Loaded) -> None:
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


@pytest.mark.parametrize(
    "key", ["bert-sentiment", "distilbert-pretrained", "xlnet-pretrained", "gpt2-pretrained"]
)
def test_weights_and_print_are_those_of_the_file(key: str, loaded: Loaded) -> None:
    found, plain = anatomy(loaded(key)), load_plain(SPECS[key].location).model
    file = set(load_file(Path(SPECS[key].location) / "model.safetensors"))
    assert {weight.name for weight in found.weights if weight.origin == "checkpoint"} == names(found) & file
    new = {weight.name: weight.origin for weight in found.weights if weight.name not in file}
    assert new == {name: "constant" if name.endswith("bias") else "new" for name in new}
    assert {weight.name for weight in found.unused} == file - {name for name, _ in plain.named_parameters()}
    printed = iter(repr(plain).splitlines())
    for line in found.declared:
        whole = "  " * line.depth + line.text.removesuffix(" … )")
        assert any(other == whole for other in printed), line


def test_the_order_of_declaration_is_not_that_of_execution(loaded: Loaded) -> None:
    found = anatomy(loaded("distilbert-sentiment"))
    executed = [step.path for step in found.steps if step.path]
    declared = [line.path for line in found.declared if line.path in executed]
    assert declared == ["pre_classifier", "classifier", "dropout"]
    assert executed == ["pre_classifier", "dropout", "classifier"]


@pytest.mark.parametrize("key", ["roberta-sentiment", "gpt2-sentiment"])
def test_the_source_is_that_of_the_installation(key: str, loaded: Loaded) -> None:
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


def test_the_source_of_a_swap_begins_with_the_pooling(loaded: Loaded) -> None:
    first, *rest = anatomy(loaded("bert-sentiment"), "mean").sources
    assert first.title == "mean"
    assert "def mean(states: States) -> Tensor:" in first.lines
    assert [source.title for source in rest] == [
        "BertForSequenceClassification.forward",
        "BertModel.forward",
        "BertPooler.forward",
    ]


@pytest.mark.parametrize("pooling", ["mean", "attention", "flatten"])
def test_a_probe_has_two_steps(engine: Engine, pooling: str) -> None:
    query = Query("bert-sentiment", "the film is good", pooling=pooling, head="probe")
    found = engine.ask("anatomy", query)
    assert [step.kind for step in found.steps] == ["pooling", "linear"]
    learned = {"query"} if pooling == "attention" else set()
    assert names(found) == {"weight", "bias"} | learned
    assert {weight.origin for weight in found.weights} == {"probe"}
    assert found.steps[1].parameters == 2 * len(found.analysis.pooled) + 2
    np.testing.assert_array_equal(found.steps[-1].given, found.analysis.logits)
    np.testing.assert_array_equal(found.steps[0].given, found.analysis.pooled)
    assert found.sources[0].title == pooling


MORE = tomllib.loads(Path(__file__).with_name("unused.toml").read_text("utf-8"))


@pytest.mark.parametrize("family", MORE)
def test_unused_is_what_loading_leaves_alone(family: str, tiny_family: Made, tmp_path: Path) -> None:
    """Each tensor of the file has a number of its own: those that are in transformers' model are used."""
    folder = tmp_path / family
    shutil.copytree(tiny_family(family).location, folder)
    written = load_file(folder / "model.safetensors")
    shapes = {name: tensor.shape for name, tensor in written.items()} | MORE[family]
    numbers = {name: (1 + index) / 4096 for index, name in enumerate(shapes)}
    tensors = {name: np.full(shapes[name], number, np.float32) for name, number in numbers.items()}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    plain = AutoModelForSequenceClassification.from_pretrained(folder, ignore_mismatched_sizes=True)
    there = {float(number) for tensor in plain.state_dict().values() for number in tensor.unique()}
    backbone = load(replace(tiny_family(family), location=str(folder)))
    called = backbone.provenance.unused
    assert called.keys() == {name for name, number in numbers.items() if number not in there}
    assert called == {name: tensors[name].shape for name in called}
