"""What the engine makes of the hub."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import save_file

from components.analyses.measuring.anatomy.provenance import held
from components.declaration import Declaration, Dense, Normalize
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model import listing
from components.model.loading import load
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.hub import Hub
from tests.model.hub.conftest import MODEL, PATIENT
from tests.serving import ROOT


@pytest.fixture
def catalogue(there: Hub, tiny: Path, tmp_path: Path) -> Path:
    """A folder, and a model of the hub."""
    shutil.copytree(there.folder / MODEL, there.folder / "org" / "listed")
    file = tmp_path / "backbones.toml"
    file.write_text(
        f"""
        [mine]
        title = "Mine"
        path = "{tiny}"
        task = "test"

        [theirs]
        title = "Theirs"
        hub = "org/listed"
        revision = "{there.commit("org/listed")}"
        task = "test"
        licence = "mit"
        size = 268000000
        """
    )
    return file


def engine(catalogue: Path, sources: str) -> Engine:
    return Engine(Settings.model_validate({"catalogue": catalogue, "sources": sources}))


def test_what_a_model_of_the_hub_declares_comes_with_it(catalogue: Path, model: Path) -> None:
    width = json.loads((model / "config.json").read_text())["hidden_size"]
    steps = [
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        ("Dense", "2_Dense"),
        ("Normalize", "3_Normalize"),
    ]
    library = "sentence_transformers.models"
    listed = [{"type": f"{library}.{kind}", "path": path} for kind, path in steps]
    (model / "modules.json").write_text(json.dumps(listed))
    for folder, config in {
        "1_Pooling": {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True},
        "2_Dense": {"in_features": width, "out_features": 3, "bias": False},
    }.items():
        (model / folder).mkdir()
        (model / folder / "config.json").write_text(json.dumps(config))
    weight = torch.randn(3, width, generator=torch.Generator().manual_seed(0))
    save_file({"linear.weight": weight}, model / "2_Dense" / "model.safetensors")
    made = engine(catalogue, "any")
    made.find(MODEL)
    list(made.fetch(MODEL))
    assert made.find(MODEL).declared == Declaration(
        ("mean",), width, (Dense("2_Dense", width, 3, "Tanh", bias=False, residual=False), Normalize())
    )
    found = made.features(MODEL, ["a b c"], ["declared", "mean"])
    vector = np.tanh(found["mean"][0] @ weight.numpy().T)
    np.testing.assert_allclose(found["declared"][0], vector / np.linalg.norm(vector), atol=1e-6)


@pytest.mark.parametrize(
    ("sources", "keys", "takes_ids"),
    [("bundled", ["mine"], False), ("listed", ["mine", "theirs"], False), ("any", ["mine", "theirs"], True)],
)
def test_the_owner_decides_which_sources(
    there: Hub, catalogue: Path, sources: str, keys: list[str], takes_ids: bool
) -> None:
    made = engine(catalogue, sources)
    assert [spec.key for spec in made.backbones()] == keys
    assert made.takes_ids is takes_ids
    if not takes_ids:
        for ask in (made.find, lambda given: list(made.fetch(given))):
            with pytest.raises(PoolscopeError, match="allowed are mine"):
                ask(MODEL)
        with pytest.raises(PoolscopeError, match="allowed are mine"):
            made.ask("analyze", Query(MODEL, "good"))
        assert there.requests == []
    if "theirs" not in keys:
        with pytest.raises(PoolscopeError, match=r"allowed are mine\."):
            made.find("theirs")


def test_keys_are_found_without_the_hub(there: Hub, catalogue: Path) -> None:
    made = engine(catalogue, "any")
    assert made.find("mine").available
    theirs = made.find("theirs")
    assert (theirs.available, theirs.size, theirs.licence) == (False, 268_000_000, "mit")
    assert (theirs.architecture, theirs.labels) == ("", ())
    assert made.find("org/listed") == theirs  # its id is another name of it
    assert list(made.fetch("mine")) == []
    assert there.requests == []


def test_nothing_is_downloaded_on_the_way(there: Hub, catalogue: Path) -> None:
    made = engine(catalogue, "any")
    made.find(MODEL)
    there.requests.clear()
    for key, size in (("theirs", r"268 MB"), (MODEL, r"1\d\d kB")):
        for name in ("analyze", "anatomy"):
            with pytest.raises(PoolscopeError, match=rf"not on this machine yet: fetch it first \({size}\)"):
                made.ask(name, Query(key, "good"))
        with pytest.raises(PoolscopeError, match="fetch it first"):
            made.features(key, ["good"], ["cls"])
    with pytest.raises(PoolscopeError, match="allowed are mine, theirs") as caught:
        made.ask("analyze", Query("org/never-found", "good"))
    assert MODEL not in str(caught.value)  # what others found is theirs
    assert there.requests == []


@pytest.mark.parametrize("key", ["theirs", MODEL])
def test_what_was_fetched_is_analysed_as_the_folder_is(there: Hub, catalogue: Path, key: str) -> None:
    made = engine(catalogue, "any")
    made.find(key)
    assert list(made.fetch(key))[-1].total > 130_000
    spec = made.find(key)
    assert (spec.available, spec.architecture) == (True, "BertForSequenceClassification")
    assert spec.labels == ("bad", "good")
    there.requests.clear()
    answer, same = (made.ask("anatomy", Query(each, "the film is good")) for each in (key, "mine"))
    np.testing.assert_array_equal(answer.analysis.logits, same.analysis.logits)
    assert answer.weights == same.weights
    assert answer.unused == same.unused
    assert str(constants.HF_HUB_CACHE) not in answer.program + answer.module + repr(answer.analysis.backbone)
    vectors = made.features(key, ["good", "bad"], ["cls"])
    np.testing.assert_array_equal(vectors["cls"], made.features("mine", ["good", "bad"], ["cls"])["cls"])
    assert there.requests == []


def test_a_folder_that_is_called_like_an_id_is_not_read(
    there: Hub, catalogue: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """from_pretrained, given org/secret, would rather take the server's folder of that name."""
    shutil.copytree(tiny, tmp_path / "org" / "secret")
    monkeypatch.chdir(tmp_path)
    made = engine(catalogue, "any")
    with pytest.raises(PoolscopeError, match="no public model"):
        made.find("org/secret")
    spec = BackboneSpec("a", "a", "", "", "hub", "org/secret", revision="0" * 40)
    for sneaky in ("0" * 40, "../../../org/secret", "", "main"):
        spec = BackboneSpec("a", "a", "", "", "hub", "org/secret", revision=sneaky)
        with pytest.raises(PoolscopeError, match="not on this machine"):
            load(spec)
        assert held(spec) == {}

    shutil.copytree(tmp_path / "org" / "secret", there.folder / "org" / "secret")
    (there.folder / "org" / "secret" / "model.safetensors").write_bytes(b"no weights at all")
    made.find("org/secret")
    list(made.fetch("org/secret"))
    with pytest.raises(PoolscopeError, match="cannot be loaded"):  # what came from the hub is what is read
        made.ask("analyze", Query("org/secret", "good"))


def test_a_fetch_without_a_find_looks_first(there: Hub, catalogue: Path) -> None:
    made = engine(catalogue, "any")
    with pytest.raises(PoolscopeError, match="id of a model on the hub"):
        list(made.fetch("../../etc"))
    assert there.requests == []
    assert list(made.fetch(MODEL))[-1].done > 130_000
    assert made.ask("analyze", Query(MODEL, "good")).labels == ("bad", "good")


@pytest.mark.parametrize("given", [None, 3, ["org/tiny"], {"a": 1}])
def test_what_is_no_text_is_refused(catalogue: Path, given: str) -> None:
    for sources in ("listed", "any"):
        made = engine(catalogue, sources)
        for ask in (made.find, lambda key, made=made: list(made.fetch(key))):
            with pytest.raises(PoolscopeError):
                ask(given)


def test_the_limit_holds_for_listed_models_too(catalogue: Path) -> None:
    limited = {"catalogue": catalogue, "sources": "any", "download": "100kB"}
    made = Engine(Settings.model_validate(limited))
    for ask in (made.find, lambda key: list(made.fetch(key))):
        with pytest.raises(PoolscopeError, match=r"at most 100 kB are allowed"):
            ask(MODEL)
    with pytest.raises(PoolscopeError, match=r"at most 100 kB are allowed"):
        list(made.fetch("theirs"))


def test_questions_are_answered_while_others_wait_for_the_hub(
    there: Hub, catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "SECONDS", 600)
    made = engine(catalogue, "any")
    there.stall("/api/", times=2)
    with ThreadPoolExecutor(2) as visitors:
        waiting = [
            visitors.submit(made.find, MODEL),
            visitors.submit(lambda: list(made.fetch("theirs"))),
        ]
        assert made.ask("analyze", Query("mine", "good")).labels == ("bad", "good")
        assert not any(visitor.done() for visitor in waiting)
        there.closing.set()  # ends the stall
        for visitor in waiting:
            with pytest.raises(PoolscopeError, match="hub"):
                visitor.result(PATIENT)


OWNER = """
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
import sys
engine = Engine(Settings())
assert not {"torch", "transformers"} & set(sys.modules), "the page has to wait for them"
engine.find("org/tiny")
print(list(engine.fetch("org/tiny"))[-1].done)
print(engine.ask("analyze", Query("org/tiny", "the film is good")).labels)
"""


def test_huggingface_hub_s_own_variables_lead_to_the_hub(there: Hub, tmp_path: Path) -> None:
    environment = os.environ | there.environment(tmp_path / "home") | {"POOLSCOPE_SOURCES": "any"}
    done = subprocess.run(
        [sys.executable, "-c", OWNER], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "('bad', 'good')"
    assert (tmp_path / "home" / "hub" / "models--org--tiny" / "snapshots").is_dir()
    assert len(there.asked("/elsewhere/")) == 1
