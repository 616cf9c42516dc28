"""What a checkpoint declares stands beside the way that made a vector."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling

from components.analyses.detect import Detected, dense_of, normalises
from components.analyses.measuring.detect import found, tried
from components.analyses.ways import Way
from components.model.backbone import Backbone, batch_states
from components.model.files import ENCODING
from components.model.loading import load
from components.types import Query
from tests.analyses.test_detect import TEXT, planted
from tests.model.test_declared import saved
from tests.plain import SPECS


@pytest.fixture(scope="module")
def declaring(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    """A checkpoint that declares the mean, a dense layer, length 1, a prompt and where texts are cut."""
    torch.manual_seed(0)
    modules = Pooling(128, "mean"), Dense(128, 24), Normalize()
    folder: Path = saved(tmp_path_factory.mktemp("detect") / "checkpoint", *modules)
    (folder / ENCODING).write_text('{"prompts": {"query": "find: ", "none": "", "odd": 3}}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20}')
    return load(replace(SPECS["bert-sentiment"], location=str(folder)))


def asked(backbone: Backbone, vector: np.ndarray) -> Detected:
    return found([tried(backbone, Query("bert-sentiment", TEXT), "")], [vector.tolist()])


def test_what_is_declared_stands_beside_what_is_found(declaring: Backbone) -> None:
    assert declaring.declared is not None
    vector = declaring.declared(batch_states(declaring, [TEXT]))[0].double().numpy()
    found = asked(declaring, vector)
    assert found.match is not None
    assert replace(found.match.way, pooling="mean") == Way("mean", 4, normalised=True, dense=True)
    assert found.declared is not None
    assert (found.declared.poolings, dense_of(found.declared), normalises(found.declared)) == (
        ("mean",),
        1,
        True,
    )
    assert (found.prompts, found.declared.longest) == ((("query", "find: "),), 20)
    assert str(found.says[-1]).startswith("The checkpoint declares the same")


def test_a_wrong_pooling_is_told_from_the_declared_one(declaring: Backbone) -> None:
    found = asked(declaring, planted("bert-sentiment", Way("first", 4, normalised=True)))
    assert Way("first", 4, normalised=True) in found.ways
    assert str(found.says[-1]).startswith(
        "The checkpoint declares another way: mean, through the dense layers"
    )


def test_a_declared_prompt_and_a_declared_length_are_tried(declaring: Backbone) -> None:
    way = Way("mean", 4, truncated=20, prefix="find: ")
    assert asked(declaring, planted("bert-sentiment", way)).ways == (way,)


def test_poolings_that_are_declared_side_by_side_are_tried(tmp_path: Path) -> None:
    torch.manual_seed(0)
    folder = saved(tmp_path / "checkpoint", Pooling(128, ("mean", "max")), Dense(256, 24))
    backbone = load(replace(SPECS["bert-sentiment"], location=str(folder)))
    library = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    found = asked(backbone, library.encode(TEXT).astype(np.float64))
    assert set(found.ways) == {Way("mean_max", 4, dense=True), Way("declared", 4)}
    assert str(found.says[-1]).startswith(
        "The checkpoint declares the same: mean, max, through the dense layers"
    )


def test_a_declaration_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("{")
    for file in Path(SPECS["bert-sentiment"].location).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    spoilt = load(replace(SPECS["bert-sentiment"], location=str(tmp_path)))
    found = asked(spoilt, planted("bert-sentiment", Way("mean", 4)))
    assert found.declared is None
    assert found.ways == (Way("mean", 4),)
    assert "cannot be read" in str(found.warnings[0])
