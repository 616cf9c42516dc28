"""What the Markdown files name exists: links, modules, make targets, settings."""

import re

import pytest

from components.settings import Settings
from tests.serving import ROOT

FOLDERS = ("assets", "components", "docs", "recipe", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
TEXTS = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in PAGES}
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the hub make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


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
        assert not anchor or anchor in map(slug, headings), target


def test_every_module_that_is_run_and_every_target_exists() -> None:
    whole = "\n".join(TEXTS.values())
    for name in re.findall(r"-m ((?:components|recipe|tests)[\w.]*)", whole):
        place = ROOT / name.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), name
    targets = re.findall(r"^(?:([\w -]+)):(?!=)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"(?:^|`)make ([\w-]+)", whole, re.MULTILINE)
    assert set(named) <= {target for line in targets for target in line.split()}


def test_every_setting_stands_in_the_table_and_no_other_is_named() -> None:
    own = {name.upper() for name in Settings.model_fields}
    table = TEXTS["docs/hosting.md"].split("## Settings")[1].split("##")[0]
    assert set(re.findall(r"^\| `POOLSCOPE_(\w+)` \|", table, re.MULTILINE)) == own
    assert set(re.findall(r"\bPOOLSCOPE_([A-Z_]+)\b", "\n".join(TEXTS.values()))) <= own


def test_the_readme_leads_to_the_demo_and_to_every_page() -> None:
    assert "make run" in TEXTS["README.md"]
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages | {"CONTRIBUTING.md", "LICENSE", "CITATION.cff"} <= set(
        re.findall(r"\]\(([^)]+)\)", TEXTS["README.md"])
    )
