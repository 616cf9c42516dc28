"""What the Markdown files name exists: links, files, modules, make targets, environment variables."""

import re
from functools import cache
from pathlib import Path

import gradio
import huggingface_hub
import pytest

from components.settings import Settings
from tests.serving import ROOT

FOLDERS = ("assets", "components", "docs", "recipe", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"[\w./-]*\w\.(?:py|toml|md|json|js|css|txt|png|cff|safetensors)")
MADE = {
    "report.html",
    "classify.py",
    "head.safetensors",
    "fit.json",
    "results.csv",
    "predictions.csv",
    "reviews.csv",
}  # in the lab
FOREIGN = {"modules.json", *MADE}  # of checkpoints that are not bundled, and of what a command makes
SCREEN = 30  # lines


def text_of(page: Path) -> str:
    """A page without the front matter of a Space or a model card."""
    text = page.read_text(encoding="utf-8")
    return text.split("\n---\n", 1)[1] if text.startswith("---\n") else text


def code_of(page: Path) -> list[str]:
    """The inline code of a page, and its commands, layouts and addresses; programs are run elsewhere."""
    text = text_of(page)
    blocks = [code for language, code in FENCED.findall(text) if language in ("", "bash")]
    lines = [line.partition(" # ")[0] for block in blocks for line in block.splitlines()]
    return [*lines, *re.findall(r"`([^`\n]+)`", FENCED.sub("", text))]


def words_of(page: Path) -> list[str]:
    return [word for code in code_of(page) for word in code.split()]


@cache
def files() -> frozenset[str]:
    """Every file of the project, from its root."""
    inside = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*"))
    return frozenset(f"/{file.relative_to(ROOT).as_posix()}" for file in (*ROOT.glob("*"), *inside))


@cache
def targets() -> frozenset[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    variables = dict(re.findall(r"^(\w+)\s*[:?]?=\s*(.*)$", makefile, re.MULTILINE))
    lines = re.findall(r"^([^\s:#=.][^:=\n]*):(?!=)", makefile, re.MULTILINE)
    names = [name for line in lines for name in line.split()]
    return frozenset(re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], name) for name in names)


@cache
def library_sources() -> str:
    """The code of the libraries that read environment variables of their own."""
    folders = [Path(str(library.__file__)).parent for library in (gradio, huggingface_hub)]
    return "".join(file.read_text(encoding="utf-8") for folder in folders for file in folder.rglob("*.py"))


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the hub make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text_of(page))
    for target in (link or source for link, source in links):
        if re.match(r"https?://|\?", target):  # or to a state of the app, in a talk
            continue
        file, _, anchor = target.partition("#")
        place = page.parent / file if file else page
        assert place.exists(), target
        headings = re.findall(r"^#+ (.*)$", FENCED.sub("", place.read_text("utf-8")), re.M) if anchor else []
        assert not anchor or anchor in map(slug, headings), target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_file_that_is_named_exists(page: Path) -> None:
    for word in words_of(page):
        named = word.strip("(),;:").rstrip("/")
        if FILE.fullmatch(named) and named not in FOREIGN:
            assert any(file.endswith(f"/{named}") for file in files()), named
        elif named.startswith(tuple(f"{folder}/" for folder in FOLDERS)):
            assert (ROOT / named).exists(), named


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_module_that_is_run_exists(page: Path) -> None:
    for name in re.findall(r"-m ((?:components|recipe|tests)[\w.]*)", "\n".join(code_of(page))):
        place = ROOT / name.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), name


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_make_target_exists(page: Path) -> None:
    named = {target for code in code_of(page) for target in re.findall(r"(?:^|`)make ([\w./-]+)", code)}
    assert named <= targets()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_environment_variable_is_read(page: Path) -> None:
    own = {f"POOLSCOPE_{name.upper()}" for name in Settings.model_fields}
    for name in set(re.findall(r"\b(?:POOLSCOPE|GRADIO|HF)_[A-Z_]+\b", text_of(page))):
        assert name in own or f'"{name}"' in library_sources(), name


def test_every_setting_stands_in_the_table() -> None:
    table = (ROOT / "docs" / "hosting.md").read_text("utf-8").split("## Settings")[1].split("##")[0]
    named = set(re.findall(r"^\| `POOLSCOPE_(\w+)` \|", table, re.MULTILINE))
    assert named == {name.upper() for name in Settings.model_fields}


def test_the_readme_leads_to_the_demo_on_one_screen_and_to_every_page() -> None:
    readme = ROOT / "README.md"
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 150
    assert "make run" in "\n".join(text_of(readme).splitlines()[:SCREEN])
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages | {"CONTRIBUTING.md", "LICENSE", "CITATION.cff"} <= set(
        re.findall(r"\]\(([^)]+)\)", text_of(readme))
    )
