"""Loading: what a checkpoint is, what it lacks, and what is refused."""

import json
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.loading import Checkpoints, load, size
from components.types import BackboneSpec, Query
from tests.tiny import checkpoint

QUESTION = Query("x", "the film is not good at all")


def test_a_whole_checkpoint_is_trained(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "whole"))
    assert backbone.architecture == "BertForSequenceClassification"
    assert backbone.head_trained
    assert backbone.provenance.unexpected == ()
    assert backbone.labels == ("LABEL_0", "LABEL_1")
    assert backbone.limit == 24
    assert next(backbone.model.parameters()).dtype == torch.float32


def test_half_precision_is_loaded_as_single(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "half")
    file = tmp_path / "half" / "model.safetensors"
    halves = {name: tensor.half() for name, tensor in load_file(file).items()}
    save_file(halves, file, {"format": "pt"})
    assert next(load(spec).model.parameters()).dtype == torch.float32


def test_a_missing_head_is_named_and_drawn_alike_every_time(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "headless", headless=True)
    first, second = load(spec), load(spec)
    assert first.provenance.missing == ("classifier.bias", "classifier.weight")
    assert not first.head_trained
    one, other = (analyse(examine(each, QUESTION)) for each in (first, second))
    assert not one.head_trained
    assert "classifier.weight" in str(one.warnings[0])
    assert "random" in str(one.warnings[0])
    np.testing.assert_array_equal(one.logits, other.logits)


def test_a_head_of_another_shape_is_untrained(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "three", num_labels=3)
    file = tmp_path / "three" / "config.json"
    config = json.loads(file.read_text())
    config |= {
        "id2label": {str(k): f"label {k}" for k in range(5)},
        "label2id": {f"label {k}": k for k in range(5)},
    }
    file.write_text(json.dumps(config))
    backbone = load(spec)
    assert backbone.provenance.mismatched == ("classifier.bias", "classifier.weight")
    assert not backbone.head_trained
    assert len(analyse(examine(backbone, QUESTION)).logits) == 5


@pytest.mark.parametrize(
    ("config", "problem_type"),
    [
        ({"num_labels": 3}, "single_label"),
        ({"num_labels": 1}, "regression"),
        ({"num_labels": 4, "problem_type": "multi_label_classification"}, "multi_label"),
        ({"num_labels": 2, "problem_type": "regression"}, "regression"),
    ],
)
def test_probabilities_follow_the_problem_type(
    tmp_path: Path, config: dict[str, object], problem_type: str
) -> None:
    analysis = analyse(examine(load(checkpoint(tmp_path / "odd", **config)), QUESTION))
    logits = analysis.logits.astype(float)
    expected = {
        "single_label": np.exp(logits) / np.exp(logits).sum(),
        "multi_label": 1 / (1 + np.exp(-logits)),
        "regression": logits,
    }[problem_type]
    assert analysis.problem_type == problem_type
    np.testing.assert_allclose(analysis.probabilities, expected, atol=1e-6)
    chosen = {
        "single_label": (analysis.labels[int(logits.argmax())],),
        "multi_label": tuple(
            label for label, logit in zip(analysis.labels, logits, strict=True) if logit > 0
        ),
        "regression": (),
    }[problem_type]
    assert analysis.predicted == chosen


def test_an_absent_folder_is_said_to_be_absent(tmp_path: Path) -> None:
    spec = BackboneSpec("gone", "Gone", "t", "", "local", str(tmp_path / "gone"), available=False)
    with pytest.raises(
        PoolscopeError, match=r"backbone: 'gone' was given; its files are not on this machine"
    ):
        load(spec)


def test_the_least_recently_used_leaves_first(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "one")
    a, b, c = (replace(spec, key=key) for key in "abc")
    checkpoints = Checkpoints(2 * size(load(spec).model))
    first = checkpoints.get(a)
    second = checkpoints.get(b)
    assert checkpoints.get(a) is first  # now b is the one that was used longest ago
    checkpoints.get(c)
    assert checkpoints.get(a) is first
    assert checkpoints.get(b) is not second


def test_the_size_is_known_before_loading_and_counts_what_is_tied_once(tmp_path: Path) -> None:
    told: list[int] = []
    spec = checkpoint(tmp_path / "decoder", "gpt2", "gpt2")
    backbone = load(spec, told.append)
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in (*backbone.model.parameters(), *backbone.model.buffers())
    }
    assert told == [size(backbone.model)] == [sum(storages.values())]


def test_weights_that_the_checkpoint_lacks_take_room_too(tmp_path: Path) -> None:
    told: list[int] = []
    load(checkpoint(tmp_path / "headless", headless=True), told.append)
    load(checkpoint(tmp_path / "whole"), told.append)
    assert told[0] == told[1]


def test_one_too_large_is_refused_with_both_figures_and_nothing_leaves(tmp_path: Path) -> None:
    small = checkpoint(tmp_path / "small")
    large = checkpoint(tmp_path / "large", max_position_embeddings=40_000)  # 32 numbers of 4 bytes each: 5 MB
    checkpoints = Checkpoints(4_000_000)
    kept = checkpoints.get(small)
    with pytest.raises(PoolscopeError, match=r"'large' .* needs 6 MB of memory and 4 MB are set aside"):
        checkpoints.get(large)
    assert checkpoints.get(small) is kept


def test_there_is_room_before_the_next_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = checkpoint(tmp_path / "one")
    alive: list[bool] = []

    def watched(spec: BackboneSpec, make_room: Callable[[int], None]) -> Backbone:
        def watch(needed: int) -> None:
            make_room(needed)
            alive.append(former() is not None)

        return load(spec, watch)

    checkpoints = Checkpoints(size(load(spec).model))
    former = weakref.ref(checkpoints.get(spec).model)
    analyse(examine(checkpoints.get(spec), QUESTION))
    monkeypatch.setattr("components.model.loading.load", watched)
    checkpoints.get(replace(spec, key="other"))
    assert alive == [False]


def test_one_that_is_refused_leaves_the_others(tmp_path: Path) -> None:
    good = checkpoint(tmp_path / "good")
    bad = checkpoint(tmp_path / "bad")
    (tmp_path / "bad" / "model.safetensors").write_bytes(b"")
    checkpoints = Checkpoints(10_000_000)
    kept = checkpoints.get(good)
    for _again in range(2):
        with pytest.raises(PoolscopeError, match="damaged"):
            checkpoints.get(bad)
    assert checkpoints.get(good) is kept
