"""What is decided before a download."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants

from components.errors import PoolscopeError
from components.model import listing
from components.model.listing import HubUnreachableError, listed
from tests.hub import Hub
from tests.model.hub.conftest import MODEL, edited

LIMIT = 10_000_000
NEEDED = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")


def refused(there: Hub, message: str, limit: int = LIMIT) -> PoolscopeError:
    """The refusal of org/tiny, which asked for no weights and says no more than a visitor reads."""
    with pytest.raises(PoolscopeError, match=message) as caught:
        listed(MODEL, None, limit)
    assert caught.value.field == "backbone"
    assert len(str(caught.value)) < 300
    assert there.asked("elsewhere") == []
    return caught.value


def test_a_model_is_listed_as_the_hub_has_it(there: Hub, model: Path) -> None:
    there.said[MODEL] = {"cardData": {"license": "mit"}}
    found = listed(MODEL, None, LIMIT)
    assert tuple(file.name for file in found.files) == NEEDED  # its weights last
    assert {file.name: file.size for file in found.files} == {
        name: (model / name).stat().st_size for name in NEEDED
    }
    assert found.size == sum((model / name).stat().st_size for name in NEEDED)
    assert (found.model, found.licence, found.private) == (MODEL, "mit", False)
    said = HfApi(endpoint=there.address).model_info(MODEL, files_metadata=True)  # another reader of the same
    assert found.commit == said.sha
    hashes = {each.rfilename: each.lfs.sha256 if each.lfs else None for each in said.siblings or ()}
    assert {file.name: file.sha256 for file in found.files} == {name: hashes[name] for name in NEEDED}


def test_only_what_is_read_is_listed(model: Path) -> None:
    for other in (
        "pytorch_model.bin",
        "model.fp16.safetensors",
        "adapter_model.safetensors",
        "onnx/model.onnx",
        "onnx/tokenizer.json",
        "backup/model.safetensors",
        "tf_model.h5",
        "README.md",
        "modeling_own.py",
        "vocab.txt",
    ):
        (model / other).parent.mkdir(exist_ok=True)
        (model / other).write_bytes(b"other")
    names = {file.name for file in listed(MODEL, None, LIMIT).files}
    assert names == {*NEEDED, "vocab.txt"}


def test_what_sentence_transformers_reads_is_listed_but_no_pickle_and_nothing_elsewhere(model: Path) -> None:
    named = ["", "1_Pooling", "2_Dense", "../outside", "/etc", "a/b", 3]
    (model / "modules.json").write_text(json.dumps([{"type": "x", "path": path} for path in named]))
    wanted = (
        "modules.json",
        "sentence_bert_config.json",
        "config_sentence_transformers.json",
        "1_Pooling/config.json",
        "2_Dense/config.json",
        "2_Dense/model.safetensors",
    )
    for other in (*wanted[1:], "2_Dense/pytorch_model.bin", "a/b/config.json", "3_Dense/config.json"):
        (model / other).parent.mkdir(exist_ok=True, parents=True)
        (model / other).write_bytes(b"other")
    found = listed(MODEL, None, LIMIT).files
    assert {file.name for file in found} == {*NEEDED, *wanted}
    assert found[-1].name == "model.safetensors"


@pytest.mark.parametrize("listing", ["{", "{}", "[[], 1]", "[" * 100_000])
def test_a_list_of_modules_that_is_none_brings_nothing(model: Path, listing: str) -> None:
    (model / "modules.json").write_text(listing)
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling" / "config.json").write_text("{}")
    assert {file.name for file in listed(MODEL, None, LIMIT).files} == {*NEEDED, "modules.json"}


def test_a_checkpoint_in_parts(model: Path) -> None:
    parts = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    (model / "model.safetensors").rename(model / parts[0])
    shutil.copy(model / parts[0], model / parts[1])
    index = {"weight_map": {"a": parts[1], "b": parts[0], "c": parts[0]}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    names = tuple(file.name for file in listed(MODEL, None, LIMIT).files)
    assert names[-3:] == ("model.safetensors.index.json", *parts)


@pytest.mark.parametrize(
    "part", ["absent.safetensors", "../model.safetensors", "a/b.safetensors", "pytorch_model.bin", 3]
)
def test_an_index_that_names_anything_else(there: Hub, model: Path, part: object) -> None:
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": part}}))
    refused(there, "names files that it does not have")


def with_config(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        edited(folder / "config.json", lambda text: json.dumps(json.loads(text) | changes))

    return change


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def own_tokenizer(folder: Path) -> None:
    own = {"auto_map": {"AutoTokenizer": ["own.Own", None]}}
    edited(folder / "tokenizer_config.json", lambda text: json.dumps(json.loads(text) | own))


def no_vocabulary(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def sentencepiece(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "spm.model")


def config_of(text: str) -> Callable[[Path], None]:
    return lambda folder: edited(folder / "config.json", lambda _: text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pickled, "no weights in safetensors.*save_pretrained"),
        (with_config(auto_map={"AutoModel": "own.Own"}), "code of its own.*auto_map"),
        (with_config(model_type="vit"), "no text classification for models of type 'vit'.*choose"),
        (with_config(model_type="<img src=x onerror=alert(1)>" * 9), "no text classification"),
        (with_config(model_type=None), "model_type"),
        (with_config(model_type=["bert"]), "model_type"),
        (with_config(quantization_config={"bits": 4}), "quantised"),
        (with_config(num_hidden_layers=10**9), "num_hidden_layers"),
        (with_config(transformers_weights="adapter_model.bin"), "other files"),
        (config_of("[1]"), "model_type"),
        (config_of("{"), "model_type"),
        (config_of("[" * 100_000), "model_type"),
        (config_of(" " * 5_000_000), "over 4,000,000 bytes"),
        (own_tokenizer, "code of its own.*auto_map"),
        (no_vocabulary, "tokenizer.json"),
        (sentencepiece, "spm.model.*choose one with a tokenizer.json"),
    ],
)
def test_what_cannot_work_is_refused_before_its_weights(
    there: Hub, model: Path, change: Callable[[Path], None], message: str
) -> None:
    change(model)
    refused(there, message)


def test_a_model_without_a_config(there: Hub) -> None:
    there.said[MODEL] = {"siblings": [{"rfilename": "model.gguf", "size": 3, "blobId": "0" * 40}]}
    refused(there, r"it has no config\.json: choose")


def test_too_large_a_download_names_both_figures(there: Hub) -> None:
    refused(there, r"it takes 1\d\d kB to download, and at most 100 kB are allowed here: choose", 100_000)
    assert listed(MODEL, None, 200_000).size < 200_000


@pytest.mark.parametrize(
    ("match", "status", "code", "message"),
    [
        ("/api/", 401, "RepoNotFound", "no public model of that name: check its spelling"),
        ("/api/", 401, "", "no public model of that name"),
        ("/api/", 404, "", "no public model of that name"),
        ("/api/", 404, "RevisionNotFound", "pinned revision"),
        ("/api/", 403, "", "does not hand it out.*choose"),
        ("config.json", 401, "GatedRepo", "gated.*choose one that is open"),
        ("config.json", 403, "GatedRepo", "gated.*choose one that is open"),
        ("config.json", 404, "EntryNotFound", "not on the hub any more"),
    ],
)
def test_the_hub_says_no(there: Hub, match: str, status: int, code: str, message: str) -> None:
    there.refuse(match, status, code)
    assert not isinstance(refused(there, message), HubUnreachableError)


@pytest.mark.parametrize(("status", "message"), [(429, "too many requests"), (500, "500"), (503, "503")])
def test_the_hub_has_a_bad_day(there: Hub, status: int, message: str) -> None:
    there.refuse("/api/", status)
    assert isinstance(refused(there, f"{message}.*try again in a few minutes"), HubUnreachableError)
    assert len(there.requests) == 1  # a visitor waits: no second try behind the scenes


@pytest.mark.parametrize("late", [True, False])
def test_a_slow_hub_is_not_waited_for(there: Hub, monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    monkeypatch.setattr(listing, "SECONDS", 0.3)
    if late:
        there.hold("/api/", seconds=60)
    else:
        there.stall("/api/", after=100)
    assert isinstance(refused(there, "does not answer in time"), HubUnreachableError)


def test_no_network(there: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert isinstance(refused(there, "cannot be reached.*on this machine"), HubUnreachableError)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens
    assert isinstance(refused(there, "cannot be reached.*on this machine"), HubUnreachableError)


@pytest.mark.parametrize(
    "said",
    [
        {"sha": "main"},
        {"sha": None},
        {"siblings": [{"rfilename": "config.json", "blobId": "0" * 40}]},
        {"siblings": [{"size": 9}]},
        {"siblings": 3},
    ],
)
def test_an_answer_that_is_none(there: Hub, said: dict[str, object]) -> None:
    there.said[MODEL] = said
    refused(there, "cannot be read")


def test_the_token_goes_to_the_hub(there: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    listed(MODEL, None, LIMIT)
    assert {request.token for request in there.requests} == {"Bearer hf_secret"}
