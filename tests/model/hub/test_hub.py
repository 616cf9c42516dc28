"""A model of the hub: what is decided before a download, and what is found stays found, at its commit."""

import json
import shutil
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import HfApi, constants
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForSequenceClassification

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model import hub
from components.model.hub import KNOWN, Hub, checked_id, listed
from components.model.loading import load
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.hub import Hub as Server
from tests.model.hub.conftest import CLASSIFIES, MODEL, PATIENT
from tests.tiny import alter, change
from tests.vectors import features

TABLES = tomllib.loads(Path(__file__).with_name("hub.toml").read_text(encoding="utf-8"))
LIMIT = 10_000_000
NEEDED = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")


def refused(there: Server, message: str, limit: int = LIMIT) -> PoolscopeError:
    """The refusal of org/tiny, which asked for no weights and says no more than a visitor reads."""
    with pytest.raises(PoolscopeError, match=message) as caught:
        listed(MODEL, None, limit, CLASSIFIES)
    assert caught.value.field == "backbone"
    assert len(str(caught.value)) < 300
    assert there.asked("elsewhere") == []
    return caught.value


def test_a_model_is_listed_as_on_the_hub(there: Server, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    there.said[MODEL] = {"cardData": {"license": "mit"}}
    found = listed(MODEL, None, LIMIT, CLASSIFIES)
    assert {request.token for request in there.requests} == {"Bearer hf_secret"}
    assert (found.model, found.licence, found.private) == (MODEL, "mit", False)
    said = HfApi(endpoint=there.address).model_info(MODEL, files_metadata=True)  # another reader of the same
    siblings = {each.rfilename: each for each in said.siblings or ()}
    assert found.commit == said.sha
    assert found.files == tuple(siblings[name] for name in NEEDED)  # its weights last
    assert found.size == sum((model / name).stat().st_size for name in NEEDED)


def test_what_is_read_is_listed_but_no_pickle_and_nothing_elsewhere(model: Path) -> None:
    named = ["", "1_Pooling", "2_Dense", "../outside", "/etc", "a/b", 3]
    (model / "modules.json").write_text(json.dumps([{"type": "x", "path": path} for path in named]))
    wanted = ["modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"]
    wanted += ["1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors", "a/b/config.json"]
    others = ("2_Dense/pytorch_model.bin", "c/config.json", "model.fp16.safetensors", "onnx/tokenizer.json")
    for other in (*wanted[1:], *others, "modeling_own.py"):
        (model / other).parent.mkdir(exist_ok=True, parents=True)
        (model / other).write_bytes(b"other")
    found = listed(MODEL, None, LIMIT, CLASSIFIES).files
    assert {file.rfilename for file in found} == {*NEEDED, *wanted}
    assert found[-1].rfilename == "model.safetensors"
    for none in ("{", "{}", "[[], 1]", "[" * 100_000):
        (model / "modules.json").write_text(none)
        found = listed(MODEL, None, LIMIT, CLASSIFIES).files
        assert {file.rfilename for file in found} == {*NEEDED, "modules.json", *wanted[1:3]}


def test_a_model_in_a_folder_of_its_own(there: Server, model: Path) -> None:
    (model / "0_BERT").mkdir()
    for name in NEEDED:
        (model / name).rename(model / "0_BERT" / name)
    (model / "modules.json").write_text(json.dumps([{"type": "x", "path": "0_BERT"}]))
    files = [file.rfilename for file in listed(MODEL, None, LIMIT, CLASSIFIES).files]
    assert sorted(files) == sorted(["modules.json", *(f"0_BERT/{name}" for name in NEEDED)])
    assert files[-1] == "0_BERT/model.safetensors"
    (model / "modules.json").write_text("[]")
    refused(there, "has no config.json")


def test_a_checkpoint_in_parts(there: Server, model: Path) -> None:
    parts = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    (model / "model.safetensors").rename(model / parts[0])
    shutil.copy(model / parts[0], model / parts[1])
    index = {"weight_map": {"a": parts[1], "b": parts[0], "c": parts[0]}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    names = tuple(file.rfilename for file in listed(MODEL, None, LIMIT, CLASSIFIES).files)
    assert names[-3:] == ("model.safetensors.index.json", *parts)
    for part in ("absent.safetensors", "../model.safetensors", "a/b.safetensors", "pytorch_model.bin", 3):
        (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": part}}))
        refused(there, "names files that it does not have")


DEEP = {"texts": {"config.json": "[" * 100_000}, "says": "model_type"}
LONG = {"texts": {"config.json": " " * 5_000_000}, "says": "over 4,000,000 bytes"}


@pytest.mark.parametrize("case", [*TABLES["refused"], DEEP, LONG])
def test_what_cannot_be_had_is_refused_before_its_weights(
    there: Server, model: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    monkeypatch.setattr(hub, "SECONDS", 0.3 if "in time" in case["says"] else hub.SECONDS)
    for name, value in case.get("constants", {}).items():
        monkeypatch.setattr(constants, name, value)
    alter(model, case)
    there.said[MODEL] = case.get("said", {})
    if "fault" in case:
        there.fault(**case["fault"])
    passing = case.get("passing", False)  # which says nothing of the model
    assert (refused(there, case["says"]).key in KNOWN["passing"]) == passing
    assert len(there.requests) <= 1 or not passing  # a visitor waits: no second try behind the scenes


def test_too_large_a_download_names_both_figures(there: Server) -> None:
    refused(there, r"it takes 1\d\d kB to download, and at most 100 kB are allowed here: choose", 100_000)
    assert listed(MODEL, None, 200_000, CLASSIFIES).size < 200_000


def test_what_is_found_stays_at_its_commit_and_is_enough_without_a_network(
    there: Server, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.said[MODEL] = {"cardData": {"license": ["mit", "other"]}}
    finder = Hub(LIMIT, CLASSIFIES)
    assert finder.known(MODEL) is None
    spec = finder.find(MODEL)
    assert finder.known(MODEL) == spec
    assert (spec.key, spec.title, spec.source, spec.location) == (MODEL, MODEL, "hub", MODEL)
    assert (spec.revision, spec.licence, spec.available) == (there.commit(MODEL), "mit, other", False)
    change(model / "config.json", more=1)  # the branch moves on
    there.requests.clear()
    assert list(finder.fetch(spec))[-1].done == spec.size
    paths = [request.path for request in there.requests if "/elsewhere/" not in request.path]
    assert all(str(spec.revision) in path for path in paths)
    there.requests.clear()
    assert finder.find(MODEL) == spec  # what is here stays as it is
    assert list(finder.fetch(spec)) == []  # and is not fetched again
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    again = Hub(LIMIT, CLASSIFIES)  # as after a restart
    assert again.find(MODEL).revision == spec.revision
    with pytest.raises(PoolscopeError, match="cannot be reached"):
        again.find("org/never-fetched")
    assert there.requests == []


def test_the_owner_s_token_opens_nothing_private_to_visitors(there: Server) -> None:
    there.said[MODEL] = {"private": True}
    finder = Hub(LIMIT, CLASSIFIES)
    with pytest.raises(PoolscopeError, match="private"):
        finder.find(MODEL)
    assert finder.known(MODEL) is None


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # of peft's own
def test_an_adapter_of_the_hub_needs_its_base_here_and_open_to_visitors(there: Server) -> None:
    base = AutoModelForSequenceClassification.from_pretrained(there.folder / MODEL)
    adapter = get_peft_model(base, LoraConfig(r=2, target_modules=["query"], init_lora_weights=False))
    adapter.save_pretrained(there.folder / "org" / "adapter")
    change(there.folder / "org" / "adapter" / "adapter_config.json", base_model_name_or_path=MODEL)
    finder = Hub(LIMIT, CLASSIFIES)
    with pytest.raises(PoolscopeError, match="is an adapter of the model org/tiny: open"):
        finder.find("org/adapter")
    for model in (MODEL, "org/adapter"):
        *_, done = finder.fetch(spec := finder.find(model))
        assert done.done == done.total
    inputs = load(spec).tokenizer("the film", return_tensors="pt")
    ours, theirs = load(spec).model(**inputs).logits, adapter.eval()(**inputs).logits.detach()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    there.said[MODEL] = {"private": True}
    assert listed("org/adapter", None, LIMIT, CLASSIFIES).private


GOOD = ["org/name", "bert-base-uncased", "a/b", "Org_1/name.v1.5-x_y", "_a/b_", "0x/1.5B"]
HOSTILE: tuple[object, ...] = (
    *("", "..", "../../etc/passwd", "/etc/passwd", "a/b/c", "a/b@evil", "a/b%2e%2e", "a\\b", "a--b/c"),
    *("file:///etc/passwd", "org/name\n", "org\x00/name", "оrg/name", "org/名", "-org/name", "org/.name"),
    *("org/name\u202e", "<script>", "a" * 97, "a/" + "b" * 10_000, None, 3, ["org/name"], b"org/name"),
)


def test_an_id_passes_and_anything_else_is_told_the_form_and_never_reaches_the_hub(there: Server) -> None:
    assert [checked_id(each) for each in GOOD] == GOOD
    for given in HOSTILE:
        with pytest.raises(PoolscopeError, match="org/name") as refused:
            Hub(LIMIT, CLASSIFIES).find(given)
        assert len(str(refused.value)) < 300
    assert there.requests == []


def test_a_pasted_address_is_refused_with_the_id_to_type() -> None:
    for path in ("", "/", "/tree/main", "?library=transformers#top"):
        with pytest.raises(PoolscopeError, match=r"type its id instead: org/name\.$"):
            checked_id(f"https://huggingface.co/org/name{path}")
    for address in ("https://huggingface.co", "https://huggingface.co/../..", "https://[::1", "http://"):
        with pytest.raises(PoolscopeError, match="an id of a model on the hub is expected"):
            checked_id(address)


@pytest.fixture
def catalogue(there: Server, tiny: Path, tmp_path: Path) -> Path:
    """A folder, and a model of the hub."""
    shutil.copytree(there.folder / MODEL, there.folder / "org" / "listed")
    file = tmp_path / "backbones.toml"
    listing = TABLES["catalogue"].replace("TINY", str(tiny))
    file.write_text(listing.replace("COMMIT", there.commit("org/listed")))
    return file


def engine(catalogue: Path, sources: str) -> Engine:
    return Engine(Settings.model_validate({"catalogue": catalogue, "sources": sources}))


@pytest.mark.parametrize(("sources", "keys", "takes_ids"), TABLES["sources"])
def test_the_owner_decides_which_sources(
    there: Server, catalogue: Path, sources: str, keys: list[str], takes_ids: bool
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


def test_nothing_is_downloaded_on_the_way(there: Server, catalogue: Path) -> None:
    made = engine(catalogue, "any")
    theirs = made.find("theirs")
    assert (theirs.available, theirs.size, theirs.licence, theirs.labels) == (False, 268_000_000, "mit", ())
    assert made.find("org/listed") == theirs  # its id is another name of it
    assert list(made.fetch("mine")) == []
    assert there.requests == []
    made.find(MODEL)
    there.requests.clear()
    for key, size in (("theirs", r"268 MB"), (MODEL, r"1\d\d kB")):
        with pytest.raises(PoolscopeError, match=rf"not on this machine yet: fetch it first \({size}\)"):
            made.ask("analyze", Query(key, "good"))
    with pytest.raises(PoolscopeError, match="allowed are mine, theirs") as caught:
        made.ask("analyze", Query("org/never-found", "good"))
    assert MODEL not in str(caught.value)  # what others found is theirs
    assert there.requests == []


@pytest.mark.parametrize("key", ["theirs", MODEL])
def test_what_was_fetched_is_analysed_as_the_folder_is(there: Server, catalogue: Path, key: str) -> None:
    made = engine(catalogue, "any")
    assert list(made.fetch(key))[-1].total > 130_000  # which finds it first
    spec = made.find(key)
    assert (spec.available, spec.architecture) == (True, "BertForSequenceClassification")
    assert spec.labels == ("bad", "good")
    there.requests.clear()
    answer, same = (made.ask("anatomy", Query(each, "the film is good")) for each in (key, "mine"))
    np.testing.assert_array_equal(answer.analysis.logits, same.analysis.logits)
    assert answer.weights == same.weights
    assert answer.unused == same.unused
    assert str(constants.HF_HUB_CACHE) not in answer.program + answer.module + repr(answer.analysis.backbone)
    vectors = features(made, key, ["good", "bad"], ["cls"])
    np.testing.assert_array_equal(vectors["cls"], features(made, "mine", ["good", "bad"], ["cls"])["cls"])
    assert there.requests == []


def test_a_folder_that_is_called_like_an_id_is_not_read(
    there: Server, catalogue: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """from_pretrained, given org/secret, would rather take the server's folder of that name."""
    shutil.copytree(tiny, tmp_path / "org" / "secret")
    monkeypatch.chdir(tmp_path)
    made = engine(catalogue, "any")
    with pytest.raises(PoolscopeError, match="no public model"):
        made.find("org/secret")
    for sneaky in ("0" * 40, "../../../org/secret", "", "main"):
        spec = BackboneSpec("a", "a", "", "", "hub", "org/secret", revision=sneaky)
        with pytest.raises(PoolscopeError, match="not on this machine"):
            load(spec)

    shutil.copytree(tmp_path / "org" / "secret", there.folder / "org" / "secret")
    (there.folder / "org" / "secret" / "model.safetensors").write_bytes(b"no weights at all")
    made.find("org/secret")
    list(made.fetch("org/secret"))
    with pytest.raises(PoolscopeError, match="cannot be loaded"):  # what came from the hub is what is read
        made.ask("analyze", Query("org/secret", "good"))


def test_questions_are_answered_while_others_wait_for_the_hub(
    there: Server, catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "SECONDS", 600)
    made = engine(catalogue, "any")
    there.fault("/api/", times=2, after=0)
    with ThreadPoolExecutor(2) as visitors:
        waiting = [visitors.submit(made.find, MODEL), visitors.submit(lambda: [*made.fetch("theirs")])]
        assert made.ask("analyze", Query("mine", "good")).labels == ("bad", "good")
        assert not any(visitor.done() for visitor in waiting)
        there.closing.set()  # ends the stall
        for visitor in waiting:
            with pytest.raises(PoolscopeError, match="hub"):
                visitor.result(PATIENT)


@pytest.mark.parametrize(("given", "sources"), TABLES["environments"])
def test_on_a_space_any_id_may_be_asked_where_workers_have_limits(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], sources: str
) -> None:
    for name in ("SPACE_ID", "POOLSCOPE_SOURCES", "POOLSCOPE_WORKERS", "POOLSCOPE_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert Settings().sources == sources
