"""What the docs name exists, and the front matter fits the requirements, the licence and the catalogue."""

import itertools
import os
import re
import shlex
import subprocess
import tomllib
from typing import Any

import pytest
import torch
import yaml
from huggingface_hub.utils import filter_repo_objects

from components import VERSION
from components.settings import ASSETS, Settings, ValidationError, refused, unknown
from tests.serving import ROOT, python

FOLDERS = ("assets", "components", "docs", "recipe", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
TEXTS = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in PAGES}
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


FRONT = yaml.safe_load(read("README.md").split("---")[1])
CATALOGUE: dict[str, dict[str, Any]] = tomllib.loads((ASSETS / "backbones.toml").read_text(encoding="utf-8"))
HUB = {key: entry for key, entry in CATALOGUE.items() if "hub" in entry}
VOCABULARIES = ({"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"})  # one of these is enough
SMALL = {"tokenizer_config.json", "special_tokens_map.json"}
NEEDED = {"config.json", "model.safetensors"}
PRELOADED = 1_500_000_000  # bytes that a build may fetch


def sentences(text: str) -> list[str]:
    """Those of a page's prose and of the cells of its tables; keys that follow each other are one word."""
    text = re.sub(r"\A---\n.*?^---$", "", FENCED.sub("\n\n", text), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]+`(?:(?:,| and| or|, and|, or)\s+`[^`]+`)*", "key", text)
    text = re.sub(r"\]\([^)]*\)|</?[a-z][^>]*>", "", text)
    parts = re.split(r"\n\s*\n|^ *(?:[-#]+|\d+\.) |\|", text, flags=re.MULTILINE)
    return [one for part in parts for one in re.split(r"(?<!\bal\.)(?<=[.!?])\W*\s", " ".join(part.split()))]


@pytest.mark.parametrize("page", TEXTS)
def test_every_link_leads_to_a_file(page: str) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", TEXTS[page])
    for target in (link or source for link, source in links):
        if re.match(r"https?://|\?", target):  # or to a state of the app, in a talk
            continue
        file, _, anchor = target.partition("#")
        place = (ROOT / page).parent / file if file else ROOT / page
        assert place.exists(), target
        headings = re.findall(r"^#+ (.*)$", FENCED.sub("", place.read_text("utf-8")), re.M) if anchor else []
        anchors = [re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings]  # as GitHub's
        assert not anchor or anchor in anchors, target


@pytest.mark.parametrize("page", [page for page in TEXTS if page.startswith("docs/") or "/" not in page])
def test_no_sentence_has_more_than_25_words(page: str) -> None:
    assert [one for one in sentences(TEXTS[page]) if len(re.findall(r"\S*\w\S*", one)) > 25] == []


def test_every_module_that_is_run_and_every_target_exists() -> None:
    whole = "\n".join(TEXTS.values())
    for name in re.findall(r"-m ((?:components|poolscope|recipe|tests)[\w.]*)", whole):
        place = ROOT / name.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), name
    targets = re.findall(r"^(?:([\w -]+)):(?!=)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"(?:^|`)make ([\w-]+)", whole, re.MULTILINE)
    assert set(named) <= {target for line in targets for target in line.split()}


def test_an_owner_reads_how_to_ask_for_advisories_and_no_test_asks() -> None:
    commands = read("Makefile").split("\naudit:")[1].split("\n\n")[0]
    assert "pip-audit --path" in commands
    assert "make audit" in TEXTS["docs/hosting.md"]
    assert not re.findall(r"^(?:test|check|static):.*audit", read("Makefile"), re.MULTILINE)


def test_every_setting_stands_in_the_table_and_no_other_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {name.upper() for name in Settings.model_fields}
    table = TEXTS["docs/hosting.md"].split("## Settings")[1].split("##")[0]
    assert set(re.findall(r"^\| `POOLSCOPE_(\w+)` \|", table, re.MULTILINE)) == own
    assert set(re.findall(r"\bPOOLSCOPE_([A-Z_]+)\b", "\n".join(TEXTS.values()))) <= own
    for name in ("WORKER", "RAY", *own):
        monkeypatch.setenv(f"POOLSCOPE_{name}", "")
    assert unknown() == ["POOLSCOPE_RAY", "POOLSCOPE_WORKER"]


def test_a_setting_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, given in (("RATE", "0"), ("DEVICE", "tpu"), ("METRICS_TOKEN", "secret")):
        monkeypatch.setenv(f"POOLSCOPE_{name}", given)
    with pytest.raises(ValidationError) as caught:
        Settings()
    rate, device, token = refused(caught.value).splitlines()  # sources follow others, and are no fault
    assert rate == "POOLSCOPE_RATE=0: Input should be greater than 0"
    assert device.startswith("POOLSCOPE_DEVICE=tpu: Input should be 'auto', 'cpu'")
    assert token.startswith("POOLSCOPE_METRICS_TOKEN: Value should have at least 8")
    assert "secret" not in token


def test_a_device_that_is_not_here_is_named_without_a_traceback() -> None:
    missing = "mps" if torch.cuda.is_available() else "cuda"
    done = python("app.py", env={**os.environ, "POOLSCOPE_DEVICE": missing})
    assert done.returncode == 1
    assert done.stderr.startswith(f"POOLSCOPE_DEVICE: '{missing}' was given; torch finds no such device")


def test_the_readme_leads_to_the_demo_and_to_every_page() -> None:
    assert "make run" in TEXTS["README.md"]
    pages = {"CONTRIBUTING.md", "LICENSE", "CITATION.cff", *(one for one in TEXTS if one.startswith("docs/"))}
    assert pages <= set(re.findall(r"\]\(([^)]+)\)", TEXTS["README.md"]))


def test_the_front_matter_fits_the_requirements_and_the_licence() -> None:
    assert FRONT["sdk_version"].rsplit(".", 1)[0] in read("requirements.txt")
    assert (ROOT / FRONT["app_file"]).is_file()
    citation = yaml.safe_load(read("CITATION.cff"))
    assert "Apache License" in read("LICENSE")
    assert (FRONT["license"], citation["license"]) == ("apache-2.0", "Apache-2.0")
    assert (citation["cff-version"], citation["title"]) == ("1.2.0", FRONT["title"])
    assert citation["version"] == VERSION


def test_what_is_preloaded_is_what_the_catalogue_marks_and_small_enough() -> None:
    marked = [(entry["hub"], entry["revision"]) for entry in HUB.values() if entry.get("preload")]
    lines = [line.split(" ") for line in FRONT["preload_from_hub"]]
    assert [(model, commit) for model, _, commit in lines] == marked
    assert {model for model, _ in marked} <= set(FRONT["models"]) <= {entry["hub"] for entry in HUB.values()}
    for _, names, _ in lines:
        files = set(names.split(","))
        assert NEEDED <= files <= NEEDED.union(SMALL, *VOCABULARIES), names
        assert any(vocabulary <= files for vocabulary in VOCABULARIES), names
    assert sum(entry["size"] for entry in HUB.values() if entry.get("preload")) <= PRELOADED


def test_the_pythons_that_the_readme_states_are_those_of_all_else() -> None:
    stated = re.findall(r"Python 3\.(\d+) to 3\.(\d+)", read("README.md") + read("docs/hosting.md"))
    assert len(set(stated)) == 1
    least, most = map(int, stated[0])
    checked = re.findall(r"\(3, (\d+)\) <= sys.version_info < \(3, (\d+)\)", read("Makefile"))
    assert checked == [(str(least), str(most + 1))]
    (image,) = re.findall(r"^FROM python:3.(\d+)-slim$", read("Dockerfile"), re.MULTILINE)
    for minor in (FRONT["python_version"].partition(".")[2], image):
        assert least <= int(minor) <= most
    whole = tomllib.loads(read("pyproject.toml"))
    assert whole["project"]["requires-python"] == f">=3.{least},<3.{most + 1}"
    tools = whole["tool"]
    assert (tools["ruff"]["target-version"], tools["mypy"]["python_version"]) == (f"py3{least}", f"3.{least}")


# A push to the hub


def git(*command: str) -> list[str]:
    """Give what git prints, in the parts between its zeros."""
    ran = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.split("\0")[:-1]


def test_all_that_is_no_text_is_kept_in_the_large_storage_of_the_hub() -> None:
    names = git("ls-files", "-z")
    binary = {name for name in names if b"\0" in (ROOT / name).read_bytes()}
    assert len(binary) > 40
    assert "\nhf upload OWNER/NAME docs/space.gitattributes .gitattributes" in TEXTS["docs/hosting.md"]
    assert set(git("check-attr", "-z", "filter", *names)[2::3]) == {"unspecified"}  # in a clone, none changes
    stored = git("-c", "core.attributesFile=docs/space.gitattributes", "check-attr", "-z", "filter", *names)
    assert {name for name, value in zip(stored[::3], stored[2::3], strict=True) if value == "lfs"} == binary


def test_the_command_sends_every_file_of_the_repository_and_none_that_git_ignores() -> None:
    (command,) = re.findall(r"^hf upload OWNER/NAME \. .*$", TEXTS["docs/hosting.md"], re.MULTILINE)
    words = shlex.split(command)
    excluded = [word for before, word in itertools.pairwise(words) if before == "--exclude"]
    names = git("ls-files", "-z")
    made = [".venv/bin/python", "components/ui/__pycache__/tab.pyc", ".mypy_cache/a", "tests/.ruff_cache/b"]
    made += ["build/lib/poolscope/app.py", "poolscope.egg-info/PKG-INFO"]
    assert [*filter_repo_objects([*names, *made], ignore_patterns=excluded)] == names
