"""The catalogue file, as owners write it."""

import json
from pathlib import Path

import numpy as np
import pytest

from components.engine.catalogue import read_catalogue, read_tasks
from components.engine.probes import Probe, write_probes
from components.errors import PoolscopeError
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
            revision = "0123abc"
            task = "topic"
            """,
        )
    )
    assert (local.key, local.source, local.location) == ("mine", "local", str(tmp_path / "mine"))
    assert (local.architecture, local.labels) == ("BertForSequenceClassification", ("no", "yes", "?"))
    assert (local.texts, local.note, local.available) == (1, "our own", True)
    assert (hub.source, hub.location, hub.revision, hub.texts) == ("hub", "org/name", "0123abc", None)


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
    specs = read_catalogue(Settings().catalogue)
    assert len(specs) == 15
    assert all(spec.source == "bundled" and spec.available and spec.note for spec in specs)
    folders = {path.name for path in (ASSETS / "models").iterdir() if path.is_dir()}
    assert folders == {Path(spec.location).name for spec in specs}
    assert len({spec.architecture for spec in specs if spec.texts}) == 5
    assert {spec.task: spec.texts for spec in specs} == {
        "sentiment": 1,
        "paraphrase": 2,
        "pre-training": None,
    }
