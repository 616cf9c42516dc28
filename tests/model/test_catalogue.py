"""The catalogue file, as owners write it."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from components.errors import PoolscopeError
from components.model.catalogue import read_catalogue, refreshed
from components.model.files import folder as folder_of, is_complete
from components.model.hub import Hub
from components.model.probes import Probe, write_probes
from components.settings import ASSETS, Settings


def written(folder: Path, text: str) -> Path:
    file = folder / "backbones.toml"
    file.write_text(text.replace("COMMIT", COMMIT), encoding="utf-8")
    return file


COMMIT = "0123456789" * 4
CONFIG = {"architectures": ["BertForSequenceClassification"], "id2label": {"1": "yes", "0": "no", "10": "?"}}
TABLES = tomllib.loads(Path(__file__).with_name("catalogues.toml").read_text(encoding="utf-8"))
CARRIED: str = TABLES["carried"]
PLAIN: str = TABLES["plain"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of org/name in an empty cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "models--org--name" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    return folder


def test_a_folder_and_a_hub_entry(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(CONFIG))
    local, hub = read_catalogue(written(tmp_path, TABLES["two"]))
    assert (local.key, local.source, local.location) == ("mine", "local", str(tmp_path / "mine"))
    assert (local.architecture, local.labels) == ("BertForSequenceClassification", ("no", "yes", "LABEL_2"))
    assert (local.texts, local.note, local.available) == (1, "our own", True)
    assert (hub.source, hub.location, hub.revision) == ("hub", "org/name", COMMIT)
    assert (hub.texts, hub.licence, hub.size, hub.available) == (None, "apache-2.0", 268_000_000, False)
    assert (local.licence, local.size) == ("", None)
    whole = {"config.json": json.dumps(CONFIG), "model.safetensors": "weights", "tokenizer.json": "{}"}
    for name, text in whole.items():  # it is there when all of its files are
        assert not refreshed(hub).available
        assert refreshed(hub).labels == ()
        (cache / name).write_text(text)
    known = refreshed(hub)
    assert (known.available, known.architecture, known.labels) == (True, local.architecture, local.labels)
    assert [spec.weights for spec in (local, hub, known)] == [0, 0, len("weights")]
    (cache / "model.safetensors").unlink()
    assert refreshed(known) == hub


def test_a_hub_entry_is_there_when_a_package_carries_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    (spec,) = read_catalogue(written(tmp_path, CARRIED))
    assert (spec.available, folder_of(spec)) == (False, None)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    package = tmp_path / "site" / "carrying" / "model"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("raise AssertionError('nobody needs this code')")
    for folder in (cache, package):  # what the package carries comes before the cache
        for name in ("model.safetensors", "tokenizer.json", "config.json"):
            assert folder_of(spec) == (None if folder is cache else cache)
            (folder / name).write_text("{}")
    (package / "config.json").write_text('{"architectures": ["BertModel"]}')
    known = refreshed(spec)
    assert (known.available, known.architecture) == (True, "BertModel")
    assert folder_of(spec) == package
    assert list(Hub(0, bool).fetch(spec)) == []  # nothing is downloaded


ENDLESS = (
    json.dumps({"architectures": ["A" * 5_000], "id2label": {"1" * 5_000: "x"}}),
    json.dumps({"id2label": {"0": "x" * 3_800_000}}),
    "[" * 100_000,
)


@pytest.mark.parametrize(
    ("text", "architecture", "labels"), [*TABLES["nonsense"], *((text, "", []) for text in ENDLESS)]
)
def test_a_config_of_nonsense_is_read_as_far_as_it_goes(
    tmp_path: Path, text: str, architecture: str, labels: list[str]
) -> None:
    (tmp_path / "config.json").write_text(text)
    (spec,) = read_catalogue(written(tmp_path, PLAIN))
    assert (spec.architecture, spec.labels) == (architecture, tuple(labels))


def test_a_config_that_was_written_anew_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    (spec,) = read_catalogue(written(tmp_path, PLAIN))
    assert not spec.available
    for name in ("One", "Another"):
        file.write_text(json.dumps({"architectures": [name]}))
        assert refreshed(spec).architecture == name
    file.unlink()
    assert refreshed(spec) == spec


LARGE = json.dumps({"architectures": ["A"], "more": "x" * 4_000_000})


@pytest.mark.parametrize(
    "put", [Path.mkdir, os.mkfifo, lambda at: at.symlink_to("/dev/zero"), lambda at: at.write_text(LARGE)]
)
def test_a_config_that_is_no_plain_file_or_never_ends_is_not_read(
    tmp_path: Path, put: Callable[[Path], object]
) -> None:
    put(tmp_path / "config.json")
    (spec,) = read_catalogue(written(tmp_path, PLAIN))
    assert not spec.available


def test_an_index_that_names_a_part_of_thousands_of_characters_is_no_checkpoint(tmp_path: Path) -> None:
    index = {"weight_map": {"a": "x" * 5_000 + ".safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in ("config.json", "vocab.txt"):
        (tmp_path / name).write_text("{}")
    assert not is_complete(tmp_path)


@pytest.mark.parametrize("case", TABLES["mistakes"])
def test_a_mistake_names_the_entry_and_the_field(tmp_path: Path, case: dict[str, str]) -> None:
    text = case.get("text", PLAIN + case.get("adds", ""))
    if "part" in case:
        text = CARRIED.replace(case["part"], case["instead"])
    with pytest.raises(PoolscopeError, match=case["says"]):
        read_catalogue(written(tmp_path, text))


def test_a_catalogue_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(PoolscopeError, match="readable TOML"):
        read_catalogue(tmp_path / "none.toml")


def test_probes_stand_beside_the_catalogue(tmp_path: Path) -> None:
    numbers = np.zeros((2, 4), dtype=np.float32)
    write_probes({("topic", "cls"): Probe(numbers, numbers[:, 0])}, tmp_path / "probes" / "a.safetensors")
    with_probes, without = read_catalogue(written(tmp_path, TABLES["probed"]))
    assert with_probes.probes == str(tmp_path / "probes" / "a.safetensors")
    assert (with_probes.probed, without.probes, without.probed) == (("topic",), None, ())


def test_the_bundled_catalogue_is_whole() -> None:
    listed = read_catalogue(Settings().catalogue)
    assert all(spec.note for spec in listed)
    specs = [spec for spec in listed if spec.source == "bundled"]
    assert len(specs) == 15
    assert all(spec.available for spec in specs)
    folders = {path.name for path in (ASSETS / "models").iterdir() if path.is_dir()}
    assert folders == {Path(spec.location).name for spec in specs}
    assert len({spec.architecture for spec in specs if spec.texts}) == 5
    assert {spec.task: spec.texts for spec in specs} == {
        "sentiment": 1,
        "paraphrase": 2,
        "pre-training": None,
    }
