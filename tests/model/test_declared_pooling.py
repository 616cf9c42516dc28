"""The pooling ``declared`` on its way through the engine: what a checkpoint's own files say, and no other."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import nn

from components.declaration import Declaration
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.files import folder as folder_of
from components.model.files import version
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.analyses.export.test_families import printed
from tests.model.test_declared import POOLING, TEXTS, saved, spoil
from tests.plain import SPECS

WIDTH = 128  # of the bundled bodies
OWN = ("own", "narrow", "spoilt", "plain")
MODULES: dict[str, tuple[nn.Module, ...]] = {
    "own": (Pooling(WIDTH, "mean"), Normalize()),
    "narrow": (Pooling(WIDTH, ["cls", "max"]), Dense(2 * WIDTH, 8), Normalize()),
    "spoilt": (Pooling(WIDTH, "mean"),),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of one body: with steps as wide as a hidden state, narrower ones, unreadable ones, none."""
    folder, spec = tmp_path_factory.mktemp("declaring"), SPECS["bert-sentiment"]
    for key, modules in MODULES.items():
        saved(folder / key, *modules)
    shutil.copytree(spec.location, folder / "plain")
    spoil(folder / "spoilt", f"{POOLING}/config.json", pooling_mode="mode")
    entries = [f'[{key}]\ntitle = "{key}"\npath = "{key}"\ntask = ""\n' for key in OWN]
    (folder / "backbones.toml").write_text("\n".join(entries))
    return folder


@pytest.fixture(scope="module")
def declaring(folder: Path) -> Engine:
    return Engine(Settings(catalogue=folder / "backbones.toml"))


def encode(folder: Path, text: str) -> np.ndarray:
    """By sentence-transformers alone: (D',)."""
    theirs = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    return np.asarray(theirs.encode(text))


@pytest.mark.parametrize("key", ["bert", "distilbert", "roberta", "xlnet", "gpt2"])
def test_every_bundled_body_gives_what_encode_gives(tmp_path: Path, key: str) -> None:
    spec = SPECS[f"{key}-sentiment"]
    modules = (Pooling(WIDTH, ["lasttoken", "mean"]), Dense(2 * WIDTH, 16), Normalize())
    saved(tmp_path / "checkpoint", *modules, body=spec)
    catalogue = tmp_path / "backbones.toml"
    catalogue.write_text('[it]\ntitle = "it"\npath = "checkpoint"\ntask = ""\n')
    found = Engine(Settings(catalogue=catalogue)).features("it", TEXTS, ["declared"])["declared"]
    theirs = [encode(tmp_path / "checkpoint", text) for text in TEXTS]
    np.testing.assert_allclose(found, theirs, atol=1e-6)


def test_a_checkpoint_that_people_use_gives_what_encode_gives(engine: Engine) -> None:
    spec = next(one for one in engine.backbones() if one.key == "all-minilm-l6-v2")
    place = folder_of(spec)
    if place is None:
        pytest.skip("the package that carries it is not installed")
    found = engine.features(spec.key, TEXTS, ["declared"])["declared"]
    np.testing.assert_allclose(found, [encode(place, text) for text in TEXTS], atol=1e-6)


@pytest.mark.parametrize("task", ["sentiment", "topic"])
def test_a_probe_answers_on_what_encode_gives(engine: Engine, task: str) -> None:
    spec = next(one for one in engine.backbones() if one.key == "all-minilm-l6-v2")
    place = folder_of(spec)
    if place is None:
        pytest.skip("the package that carries it is not installed")
    with safe_open(str(spec.probes), "np") as stored:
        weight, bias = (
            stored.get_tensor(f"{task}/declared/{name}").astype(np.float32) for name in ("weight", "bias")
        )
    for text in TEXTS:
        logits = weight @ encode(place, text) + bias
        answer = engine.ask("analyze", Query(spec.key, text, pooling="declared", head="probe", task=task))
        np.testing.assert_allclose(np.diff(answer.logits), np.diff(_both(logits)), atol=2e-4)
        assert not answer.swapped


def _both(logits: np.ndarray) -> np.ndarray:
    """A binary classifier's single output, z, as two logits that are z apart."""
    return logits if len(logits) > 1 else np.array([0, logits[0]])


def test_an_answer_pools_as_encode_does(declaring: Engine, folder: Path) -> None:
    for text in TEXTS:
        analysis = declaring.ask("analyze", Query("own", text, pooling="declared"))
        np.testing.assert_allclose(analysis.pooled, encode(folder / "own", text), atol=1e-6)
        assert analysis.reads.positions.all()
        assert analysis.swapped


def test_what_is_read_is_that_of_the_vector_put_in_by_hand(declaring: Engine, folder: Path) -> None:
    analysis = declaring.ask("analyze", Query("own", TEXTS[0], pooling="declared"))
    backbone = declaring._process.measurer.checkpoints.get(
        declaring.backbones()[0], version(declaring.backbones()[0])
    )
    vector = torch.from_numpy(encode(folder / "own", TEXTS[0]))[None]
    with torch.no_grad():
        said = backbone.model.classifier(torch.tanh(backbone.model.bert.pooler.dense(vector)))[0]
    np.testing.assert_allclose(analysis.logits, said, atol=1e-5)


def test_an_own_head_of_another_width_says_so(declaring: Engine) -> None:
    with pytest.raises(PoolscopeError, match=f"gives 8 numbers and the own head takes {WIDTH}"):
        declaring.ask("analyze", Query("narrow", "good", pooling="declared"))


def test_a_checkpoint_that_declares_none_says_so(declaring: Engine) -> None:
    with pytest.raises(PoolscopeError, match="declares no pooling"):
        declaring.ask("analyze", Query("plain", "good", pooling="declared"))
    assert declaring.ask("analyze", Query("plain", "good", pooling="mean")).backbone.declared is None


def test_one_that_cannot_be_read_says_why_and_keeps_its_other_poolings(declaring: Engine) -> None:
    with pytest.raises(PoolscopeError, match=r"cannot be read: its 1_Pooling/config\.json has no"):
        declaring.ask("analyze", Query("spoilt", "good", pooling="declared"))
    assert declaring.ask("analyze", Query("spoilt", "good", pooling="mean")).logits.shape == (2,)


def test_a_comparison_has_a_cell_for_each(declaring: Engine) -> None:
    asked = [Query(key, "good", pooling="declared") for key in OWN]
    found = {one.backbone.key: one.cells[0] for one in declaring.compare(asked)}
    assert [key for key in OWN if found[key].analysis] == ["own"]
    assert all(found[key].refusal for key in OWN[1:])


def test_backbones_tell_what_they_declare(declaring: Engine) -> None:
    own, narrow, spoilt, plain = (spec.declared for spec in declaring.backbones())
    assert isinstance(own, Declaration)
    assert isinstance(narrow, Declaration)
    assert (own.poolings, own.size, own.prompt) == (("mean",), WIDTH, "")
    assert (narrow.poolings, narrow.size) == (("first", "max"), 8)
    assert "1_Pooling/config.json" in str(spoilt)
    assert plain is None


def test_what_is_declared_anew_is_read_anew(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "own", tmp_path / "own")
    (tmp_path / "backbones.toml").write_text('[own]\ntitle = "own"\npath = "own"\ntask = ""\n')
    engine = Engine(Settings(catalogue=tmp_path / "backbones.toml"))
    asked = Query("own", TEXTS[0], pooling="declared")
    before, known = engine.ask("analyze", asked).pooled, version(engine.backbones()[0])
    spoil(tmp_path / "own", f"{POOLING}/config.json", pooling_mode="max")
    assert version(engine.backbones()[0]) != known
    after = engine.ask("analyze", asked)
    np.testing.assert_allclose(after.pooled, encode(tmp_path / "own", TEXTS[0]), atol=1e-6)
    assert np.abs(after.pooled - before).max() > 0.01
    assert isinstance(after.backbone.declared, Declaration)
    assert after.backbone.declared.poolings == ("max",)


def settings_of(at: Path, **values: object) -> None:
    (at / "sentence_bert_config.json").write_text(json.dumps(values))


def encoding_of(at: Path, **values: object) -> None:
    spoil(at, "config_sentence_transformers.json", **values)


def alone(folder: Path, at: Path, change: Callable[[Path], None]) -> Engine:
    """The checkpoint "own" with a change to its files."""
    shutil.copytree(folder / "own", at / "own")
    change(at / "own")
    (at / "backbones.toml").write_text('[own]\ntitle = "own"\npath = "own"\ntask = ""\n')
    return Engine(Settings(catalogue=at / "backbones.toml"))


def test_numbers_that_encode_leaves_out_are_left_out(folder: Path, tmp_path: Path) -> None:
    engine = alone(folder, tmp_path, lambda at: encoding_of(at, truncate_dim=9))
    found = engine.features("own", TEXTS, ["declared"])["declared"]
    assert found.shape == (3, 9)
    np.testing.assert_allclose(found, [encode(tmp_path / "own", text) for text in TEXTS], atol=1e-6)


PROMPT = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
SETTINGS: dict[str, tuple[Callable[[Path], None], str, str]] = {  # what is said, and what encode then reads
    "prompt": (lambda at: encoding_of(at, **PROMPT), "puts its prompt, “query: ”", "query: {}"),
    "length": (lambda at: settings_of(at, max_seq_length=6), "reads the first 6 tokens", "{}"),
    "case": (lambda at: settings_of(at, do_lower_case=True), "makes every text lower case", "{}"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_what_encode_does_to_the_text_is_said(folder: Path, tmp_path: Path, name: str) -> None:
    change, says, _ = SETTINGS[name]
    spec = SPECS["roberta-sentiment"] if name == "case" else SPECS["bert-sentiment"]
    if name == "case":  # a tokenizer that tells capitals from small letters
        saved(tmp_path / "own", Pooling(WIDTH, "mean"), body=spec)
        change(tmp_path / "own")
        (tmp_path / "backbones.toml").write_text('[own]\ntitle = "own"\npath = "own"\ntask = ""\n')
        engine = Engine(Settings(catalogue=tmp_path / "backbones.toml"))
    else:
        engine = alone(folder, tmp_path, change)
    analysis = engine.ask("analyze", Query("own", TEXTS[1], pooling="declared"))
    assert [one for one in analysis.warnings if says in str(one)]
    assert np.abs(analysis.pooled - encode(tmp_path / "own", TEXTS[1])).max() > 1e-4
    others = engine.ask("analyze", Query("own", TEXTS[1], pooling="mean")).warnings
    assert not [one for one in others if says in str(one)]


def test_a_prompt_that_is_typed_gives_the_vector_of_encode(folder: Path, tmp_path: Path) -> None:
    engine = alone(folder, tmp_path, lambda at: encoding_of(at, **PROMPT))
    typed = engine.ask("analyze", Query("own", f"query: {TEXTS[1]}", pooling="declared")).pooled
    np.testing.assert_allclose(typed, encode(tmp_path / "own", TEXTS[1]), atol=1e-6)


def test_the_lens_makes_of_each_state_what_is_declared(declaring: Engine) -> None:
    looked = declaring.ask("lens", Query("own", "good", pooling="declared"))
    backbone = declaring._process.measurer.checkpoints.get(
        declaring.backbones()[0], version(declaring.backbones()[0])
    )
    inputs = backbone.tokenizer("good", return_tensors="pt")
    with torch.no_grad():
        last = backbone.model(**inputs, output_hidden_states=True).hidden_states[-1][0]
        unit = last / last.norm(dim=1, keepdim=True)
        said = backbone.model.classifier(torch.tanh(backbone.model.bert.pooler.dense(unit)))
    np.testing.assert_allclose(looked.lens.logits[-1], said, atol=1e-5)
    pooled = declaring.ask("analyze", Query("own", "good", pooling="declared")).logits
    np.testing.assert_allclose(looked.lens.pooled[-1], pooled, atol=1e-5)


def test_what_is_exported_gives_the_same(declaring: Engine, folder: Path) -> None:
    anatomy = declaring.ask("anatomy", Query("own", TEXTS[0], pooling="declared"))
    spec: BackboneSpec = replace(anatomy.analysis.backbone, location=str(folder / "own"))
    np.testing.assert_allclose(printed(anatomy.program, spec), anatomy.analysis.probabilities, atol=1e-6)
    before, after = printed(anatomy.module, spec)
    assert after < before


def test_padding_is_measured_of_it_too(declaring: Engine) -> None:
    found = {key: declaring.ask("padding", Query(key, "good")).cases for key in OWN}
    assert {key for key, cases in found.items() if all("declared" in case.pooled for case in cases)} == {
        "own",
        "narrow",
    }
    assert all(case.pooled["declared"] < 1e-5 for case in found["own"] if case.name in ("batch", "right"))
