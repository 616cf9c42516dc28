"""What a checkpoint of sentence-transformers declares gives the vector that its own library gives."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from torch import nn

from components.model.backbone import Backbone
from components.model.declaration import ACTIVATIONS, METHODS, OLDER
from components.model.declared import read_declared
from components.model.loading import load
from components.model.safety import RefusalError
from components.model.states import batch_states
from components.types import BackboneSpec
from tests.plain import SPECS

KEY = "bert-sentiment"
TEXTS = ("good", "The plot is thin, but the actors are a delight.", "not good, not good at all")
POOLING, DENSE = "1_Pooling", "2_Dense"


@pytest.fixture(scope="module")
def width(loaded: Callable[[str], Backbone]) -> int:
    return int(loaded(KEY).model.config.hidden_size)


def saved(folder: Path, *modules: nn.Module, body: BackboneSpec = SPECS[KEY]) -> Path:
    """A checkpoint of theirs behind a bundled body, whose own files stay a classifier's."""
    first = Transformer(body.location)
    SentenceTransformer(modules=[first, *modules], device="cpu").save(str(folder), create_model_card=False)
    for file in Path(body.location).iterdir():
        shutil.copy(file, folder / file.name)
    return folder


def in_older_schema(folder: Path, modes: list[str]) -> None:
    file = folder / POOLING / "config.json"
    said = json.loads(file.read_text())
    older = {key: method in modes for key, method in OLDER.items()}
    file.write_text(json.dumps({"word_embedding_dimension": said["embedding_dimension"], **older}))


def equals_encode(folder: Path) -> None:
    backbone = load(replace(SPECS[KEY], location=str(folder)))
    theirs = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    assert backbone.declared is not None
    for text in TEXTS:
        ours = backbone.declared(batch_states(backbone, [text]))[0].numpy()
        np.testing.assert_allclose(ours, theirs.encode(text), atol=1e-6)


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("modes", [*([mode] for mode in METHODS), ["cls", "max", "mean"]])
def test_poolings_of_both_schemas(tmp_path: Path, width: int, modes: list[str], older: bool) -> None:
    folder = saved(tmp_path / "checkpoint", Pooling(width, modes))
    if older:
        in_older_schema(folder, modes)
    equals_encode(folder)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_dense_layers_and_a_length_of_one(tmp_path: Path, width: int, name: str) -> None:
    torch.manual_seed(0)
    activation = getattr(nn, ACTIVATIONS[name])()
    first = Dense(width, 24, activation_function=activation, use_residual=True)
    second = Dense(24, 24, bias=False, activation_function=activation, use_residual=True)
    equals_encode(saved(tmp_path / "checkpoint", Pooling(width, "mean"), first, second, Normalize()))


def test_a_checkpoint_without_modules_declares_nothing(loaded: Callable[[str], Backbone]) -> None:
    assert loaded(KEY).declared is None


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, width: int) -> Path:
    folder = tmp_path_factory.mktemp("declared") / "checkpoint"
    return saved(folder, Pooling(width, "mean"), Dense(width, 8), Normalize())


def spoil(folder: Path, name: str, **values: object) -> None:
    file = folder / name
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def modules(folder: Path, **values: object) -> None:
    file = folder / "modules.json"
    listed = json.loads(file.read_text())
    file.write_text(json.dumps([*listed[:-1], {**listed[-1], **values}]))


def infinite(folder: Path) -> None:
    file = folder / DENSE / "model.safetensors"
    save_file({name: tensor * float("nan") for name, tensor in load_file(file).items()}, file)


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "no JSON": (lambda at: (at / "modules.json").write_text("{"), "cannot be read as JSON"),
    "too deep": (lambda at: (at / "modules.json").write_text("[" * 100_000), "cannot be read as JSON"),
    "no list": (lambda at: (at / "modules.json").write_text("{}"), "not a list"),
    "too many": (lambda at: (at / "modules.json").write_text(json.dumps([{}] * 99)), "not a list"),
    "too long": (lambda at: (at / "modules.json").write_text(" " * 4_000_001), "at most 4 MB"),
    "no names": (lambda at: (at / "modules.json").write_text("[1, null]"), "module that is not known"),
    "foreign": (lambda at: modules(at, type="os.system"), "not known here: os.system"),
    "unknown": (lambda at: modules(at, type="sentence_transformers.models.CNN"), "CNN"),
    "outside": (lambda at: modules(at, path="../.."), "not in the folder"),
    "twice": (lambda at: modules(at, type="sentence_transformers.models.Pooling"), "names other steps"),
    "no folder": (lambda at: shutil.rmtree(at / POOLING), "1_Pooling/config.json is no plain file"),
    "no mode": (lambda at: spoil(at, f"{POOLING}/config.json", pooling_mode=["mode"]), "pooling_mode"),
    "no modes": (lambda at: spoil(at, f"{POOLING}/config.json", pooling_mode=[]), "pooling_mode"),
    "mode of objects": (lambda at: spoil(at, f"{POOLING}/config.json", pooling_mode=[{}]), "pooling_mode"),
    "width": (lambda at: spoil(at, f"{POOLING}/config.json", embedding_dimension=5), "states vectors of"),
    "no width": (lambda at: spoil(at, f"{POOLING}/config.json", embedding_dimension=-1), "embedding_dim"),
    "activation": (lambda at: spoil(at, f"{DENSE}/config.json", activation_function="os.system"), "activ"),
    "list": (lambda at: spoil(at, f"{DENSE}/config.json", activation_function=[]), "activation_function"),
    "shape": (lambda at: spoil(at, f"{DENSE}/config.json", out_features=9), "linear.weight of the shape"),
    "route": (lambda at: spoil(at, f"{DENSE}/config.json", module_input_name="x"), "module_input_name"),
    "pickle": (
        lambda at: (at / DENSE / "model.safetensors").rename(at / DENSE / "pytorch_model.bin"),
        "2_Dense/pytorch_model.bin is a pickle",
    ),
    "no weights": (
        lambda at: (at / DENSE / "model.safetensors").unlink(),
        "2_Dense/model.safetensors is no plain file",
    ),
    "damaged": (lambda at: (at / DENSE / "model.safetensors").write_bytes(b"\xff" * 9), "is damaged"),
    "NaN": (infinite, "not all finite"),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_what_cannot_be_read_is_said(tmp_path: Path, whole: Path, fault: str) -> None:
    folder = tmp_path / "checkpoint"
    shutil.copytree(whole, folder)
    spoilt, said = SPOILT[fault]
    spoilt(folder)
    with pytest.raises(RefusalError, match=said):
        read_declared(folder)


def test_hidden_states_of_another_width_are_refused(
    loaded: Callable[[str], Backbone], tmp_path: Path, width: int
) -> None:
    declared = read_declared(saved(tmp_path / "checkpoint", Pooling(width + 1, "mean")))
    assert declared is not None
    with pytest.raises(RefusalError, match=f"states vectors of {width + 1} numbers"):
        declared(batch_states(loaded(KEY), ["good"]))
