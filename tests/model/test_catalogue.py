"""The catalogue file, as owners write it."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from components.errors import PoolscopeError
from components.model.catalogue import Configs, read_catalogue, read_tasks
from components.model.files import folder as folder_of
from components.model.files import is_complete
from components.model.hub import Hub
from components.model.probes import Probe, write_probes
from components.settings import ASSETS, Settings


def written(folder: Path, text: str) -> Path:
    file = folder / "backbones.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_folder_and_a_hub_entry(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    config = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {"1": "yes", "0": "no", "10": "?"},
    }
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config))
    local, hub = read_catalogue(
        written(
            tmp_path,
            """
            [mine]
            title = "Mine"
            path = "mine"
            task = "spam"
            texts = 1
            note = "our own"

            [theirs]
            title = "Theirs"
            hub = "org/name"
            revision = "0123456789012345678901234567890123456789"
            task = "topic"
            licence = "apache-2.0"
            size = 268000000
            preload = true
            """,
        )
    )
    assert (local.key, local.source, local.location) == ("mine", "local", str(tmp_path / "mine"))
    assert (local.architecture, local.labels) == ("BertForSequenceClassification", ("no", "yes", "?"))
    assert (local.texts, local.note, local.available) == (1, "our own", True)
    assert (hub.source, hub.location, hub.revision) == ("hub", "org/name", "0123456789" * 4)
    assert (hub.texts, hub.licence, hub.size, hub.available) == (None, "apache-2.0", 268_000_000, False)
    assert (local.licence, local.size) == ("", None)


def test_a_hub_entry_is_there_when_all_of_its_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789" * 4
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    entry = f'[a]\ntitle = "A"\nhub = "org/name"\nrevision = "{commit}"\ntask = "t"'
    (listed,) = read_catalogue(written(tmp_path, entry))
    refreshed = Configs().refreshed
    folder = tmp_path / "models--org--name" / "snapshots" / commit
    folder.mkdir(parents=True)
    config = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "no", "1": "yes"}}
    for name, text in (
        ("config.json", json.dumps(config)),
        ("model.safetensors", ""),
        ("tokenizer.json", "{}"),
    ):
        assert not refreshed(listed).available
        assert refreshed(listed).labels == ()
        (folder / name).write_text(text)
    assert refreshed(listed).available
    assert refreshed(listed).labels == ("no", "yes")
    assert refreshed(listed).architecture == "BertForSequenceClassification"
    (folder / "model.safetensors").unlink()
    assert refreshed(refreshed(listed)) == listed


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a checkpoint in a Python package that cannot be imported, but for its config."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    folder = tmp_path / "site" / "carrying_a_checkpoint" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise AssertionError('nobody needs this code')")
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}")
    return folder


CARRIED = f"""
    [a]
    title = "A"
    hub = "org/name"
    revision = "{"0123456789" * 4}"
    package = "carrying_a_checkpoint"
    task = "t"
"""


def test_a_hub_entry_is_there_when_a_package_carries_it(tmp_path: Path, package: Path) -> None:
    (spec,) = read_catalogue(written(tmp_path, CARRIED))
    assert (spec.source, spec.package, spec.available) == ("hub", "carrying_a_checkpoint", False)
    assert folder_of(spec) is None  # the package is there, but not the whole checkpoint
    (package / "config.json").write_text('{"architectures": ["BertModel"]}')
    known = Configs().refreshed(spec)
    assert (known.available, known.architecture) == (True, "BertModel")
    assert folder_of(spec) == package
    assert list(Hub(0).fetch(spec)) == []  # nothing is downloaded


def test_a_hub_entry_whose_package_is_not_installed_is_looked_up_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    (spec,) = read_catalogue(written(tmp_path, CARRIED))
    assert (spec.available, folder_of(spec)) == (False, None)
    folder = tmp_path / "models--org--name" / "snapshots" / str(spec.revision)
    folder.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}")
    assert folder_of(spec) == folder


@pytest.mark.parametrize(
    ("text", "architecture", "labels"),
    [
        ('{"architectures": null, "id2label": null}', "", ()),
        ('{"architectures": "Bert", "id2label": ["a"]}', "", ()),
        ('{"architectures": [3], "id2label": {"x": "a", "0": "b"}}', "3", ()),
        ('{"architectures": [], "id2label": {"1": 5, "0": null}}', "", ("None", "5")),
        ('{"architectures"', "", ()),
        ("[]", "", ()),
        ("[" * 100_000, "", ()),
    ],
)
def test_a_config_of_nonsense_is_read_as_far_as_it_goes(
    tmp_path: Path, text: str, architecture: str, labels: tuple[str, ...]
) -> None:
    (tmp_path / "config.json").write_text(text)
    (spec,) = read_catalogue(written(tmp_path, '[a]\ntitle = "A"\npath = "."\ntask = "t"'))
    assert (spec.architecture, spec.labels) == (architecture, labels)


def test_a_config_that_was_written_anew_is_read_again(tmp_path: Path) -> None:
    file, configs = tmp_path / "config.json", Configs()
    (spec,) = read_catalogue(written(tmp_path, '[a]\ntitle = "A"\npath = "."\ntask = "t"'), configs)
    assert not spec.available
    for name in ("One", "Another"):
        file.write_text(json.dumps({"architectures": [name]}))
        assert configs.refreshed(spec).architecture == name
    file.unlink()
    assert configs.refreshed(spec) == spec


def test_a_config_that_the_disk_does_not_give_is_no_absent_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: Path) -> bytes:
        raise OSError(errno.EIO, "the disk is broken")

    (tmp_path / "config.json").touch()
    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(OSError, match="the disk is broken"):
        read_catalogue(written(tmp_path, '[a]\ntitle = "A"\npath = "."\ntask = "t"'))


@pytest.mark.parametrize(
    "put", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to("/dev/zero"), lambda file: large(file)]
)
def test_a_config_that_is_no_plain_file_or_never_ends_is_not_read(
    tmp_path: Path, put: Callable[[Path], object]
) -> None:
    put(tmp_path / "config.json")
    (spec,) = read_catalogue(written(tmp_path, '[a]\ntitle = "A"\npath = "."\ntask = "t"'))
    assert not spec.available


def large(file: Path) -> None:
    file.write_text(json.dumps({"architectures": ["A"], "more": "x" * 4_000_000}))


@pytest.mark.parametrize("names", [{"1" * 5_000: "x"}, {"0": "x" * 3_800_000}])
def test_labels_that_would_be_refused_are_not_listed(tmp_path: Path, names: dict[str, str]) -> None:
    config = {"architectures": ["A" * 5_000], "id2label": names}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (spec,) = read_catalogue(written(tmp_path, '[a]\ntitle = "A"\npath = "."\ntask = "t"'))
    assert (spec.architecture, spec.labels) == ("", ())


def test_an_index_that_names_a_part_of_thousands_of_characters_is_no_checkpoint(tmp_path: Path) -> None:
    index = {"weight_map": {"a": "x" * 5_000 + ".safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in ("config.json", "vocab.txt"):
        (tmp_path / name).write_text("{}")
    assert not is_complete(tmp_path)


def test_a_folder_that_is_not_there_is_listed_as_absent(tmp_path: Path) -> None:
    (spec,) = read_catalogue(written(tmp_path, '[a]\ntitle = "A"\npath = "nowhere"\ntask = "t"'))
    assert not spec.available


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one backbone"),
        ("[a", "readable TOML"),
        ('[a]\ntitle = "A"\ntask = "t"', "either path or hub"),
        ('[a]\ntitle = "A"\ntask = "t"\npath = "x"\nhub = "y/z"', "either path or hub"),
        ('[a]\ntitle = "A"\ntask = "t"\nhub = "y/z"', "revision"),
        ('[a]\ntitle = "A"\ntask = "t"\nhub = "y/z"\nrevision = "main"', "40 characters"),
        (f'[a]\ntitle = "A"\ntask = "t"\nhub = "../z"\nrevision = "{"0" * 40}"', "an id of a model"),
        ('[a]\ntitle = "A"\ntask = "t"\npath = "x"\nsize = 3', "for hub entries"),
        ('[a]\ntitle = "A"\ntask = "t"\npath = "x"\npreload = true', "for hub entries"),
        ('[a]\ntitle = "A"\ntask = "t"\npath = "x"\npackage = "y"', "for hub entries"),
        (CARRIED.replace("carrying_", "carrying."), "a Python package, without dots"),
        ('[a]\ntask = "t"\npath = "x"', "title"),
        ('[a]\ntitle = "A"\ntask = "t"\npath = "x"\ncolour = "red"', "colour"),
        ('[a]\ntitle = "A"\ntask = "t"\npath = "x"\ntexts = 3', "texts is 1 or 2"),
        (
            '[a]\ntitle = "A"\ntask = "t"\npath = "x"\nprobes = "none.safetensors"',
            r"\[a\].*readable safetensors",
        ),
        (
            '[a]\ntitle = "A"\ntask = "t"\npath = "x"\nprobes = "backbones.toml"',
            r"\[a\].*readable safetensors",
        ),
        ("a = 1", r"\[a\]"),
    ],
)
def test_a_mistake_names_the_entry_and_the_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PoolscopeError, match=message):
        read_catalogue(written(tmp_path, text))


def test_probes_stand_beside_the_catalogue(tmp_path: Path) -> None:
    numbers = np.zeros((2, 4), dtype=np.float32)
    write_probes({("topic", "cls"): Probe(numbers, numbers[:, 0])}, tmp_path / "probes" / "a.safetensors")
    entry = '[a]\ntitle = "A"\npath = "x"\ntask = "t"\nprobes = "probes/a.safetensors"\n'
    with_probes, without = read_catalogue(
        written(tmp_path, entry + '[b]\ntitle = "B"\npath = "x"\ntask = "t"')
    )
    assert with_probes.probes == str(tmp_path / "probes" / "a.safetensors")
    assert (with_probes.probed, without.probes, without.probed) == (("topic",), None, ())


def test_the_tasks_of_probes_are_whole() -> None:
    tasks = read_tasks(ASSETS / "tasks.toml")
    assert [task.key for task in tasks] == ["sentiment", "subjectivity", "topic", "paraphrase"]
    assert all(task.title and len(task.labels) >= 2 and task.texts in (1, 2) for task in tasks)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PoolscopeError, match="readable TOML"):
        read_catalogue(tmp_path / "none.toml")


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
