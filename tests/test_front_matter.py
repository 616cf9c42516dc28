"""The Space: its front matter, its licence and its citation; what it fetches is what the catalogue marks."""

import hashlib
import re
import tomllib
from typing import Any

import yaml
from huggingface_hub.utils import validate_repo_id

from components.settings import ASSETS, Settings
from tests.serving import ROOT

FRONT = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---")[1])
CATALOGUE: dict[str, dict[str, Any]] = tomllib.loads((ASSETS / "backbones.toml").read_text(encoding="utf-8"))
HUB = {key: entry for key, entry in CATALOGUE.items() if "hub" in entry}

VOCABULARIES = ({"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"})  # one of these is enough
SMALL = {"tokenizer_config.json", "special_tokens_map.json"}
NEEDED = {"config.json", "model.safetensors"}
PRELOADED = 1_500_000_000  # bytes that a build may fetch
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # of apache.org's own text
KEYS = {  # of the hub's reference of a Space's configuration, and of every repository there: license
    *("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version", "app_file", "pinned"),
    *("license", "short_description", "thumbnail", "tags", "models", "preload_from_hub"),
}


def test_the_front_matter_fits_the_requirements() -> None:
    requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert set(FRONT) == KEYS
    assert FRONT["sdk_version"].rsplit(".", 1)[0] in requirements
    assert (ROOT / FRONT["app_file"]).is_file()
    assert len(FRONT["short_description"]) <= 60


def test_the_models_of_the_space_are_in_the_catalogue() -> None:
    assert set(FRONT["models"]) <= {entry["hub"] for entry in HUB.values()}
    assert {line.split(" ")[0] for line in FRONT["preload_from_hub"]} <= set(FRONT["models"])
    assert len(set(FRONT["models"])) == len(FRONT["models"])
    assert all(re.fullmatch(r"[a-z-]+", tag) for tag in FRONT["tags"])


def test_the_licence_is_whole_and_the_same_everywhere() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert FRONT["license"] == "apache-2.0"
    assert citation()["license"] == "Apache-2.0"


def test_the_citation_is_a_citation_file_1_2() -> None:
    allowed = {"cff-version", "type", "title", "abstract", "message", "authors", "license", "keywords"}
    assert set(citation()) == allowed
    assert (citation()["cff-version"], citation()["type"]) == ("1.2.0", "software")
    assert citation()["title"] == FRONT["title"]
    assert citation()["authors"] == [{"name": "The Poolscope developers"}]


def citation() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return read


def test_the_front_matter_preloads_what_the_catalogue_marks() -> None:
    marked = [(entry["hub"], entry["revision"]) for entry in HUB.values() if entry.get("preload")]
    lines = [line.split(" ") for line in FRONT["preload_from_hub"]]
    assert [(model, commit) for model, _, commit in lines] == marked
    assert 1 <= len(marked) <= 5


def test_only_files_that_are_needed_are_preloaded() -> None:
    for line in FRONT["preload_from_hub"]:
        files = line.split(" ")[1].split(",")
        assert len(files) == len(set(files)), line
        assert set(files) >= NEEDED, line
        assert any(vocabulary <= set(files) for vocabulary in VOCABULARIES), line
        assert set(files) <= NEEDED.union(SMALL, *VOCABULARIES), line


def test_what_is_preloaded_is_on_the_hub_and_small_enough() -> None:
    assert not [key for key, entry in CATALOGUE.items() if entry.get("preload") and key not in HUB]
    assert sum(entry["size"] for entry in HUB.values() if entry.get("preload")) <= PRELOADED


def test_every_hub_entry_says_where_it_stands() -> None:
    for key, entry in HUB.items():
        validate_repo_id(entry["hub"])  # raises where the id is malformed
        assert entry["hub"].count("/") == 1, key
        assert re.fullmatch(r"[0-9a-f]{40}", entry["revision"]), key
    assert len({entry["hub"].lower() for entry in HUB.values()}) == len(HUB) >= 20


def test_every_hub_entry_has_a_size_within_the_limit_and_a_licence() -> None:
    limit = Settings.model_fields["download"].default
    for key, entry in HUB.items():
        assert isinstance(entry["size"], int), key
        assert 1_000_000 < entry["size"] <= limit, key
        assert re.fullmatch(r"[A-Za-z0-9.+-]+", entry["licence"]), key  # an SPDX identifier
