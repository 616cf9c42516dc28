"""What scripts and styles look for in gradio's page: each test says what no longer holds.

Those that are on the page on arrival are looked for in tests/browser/test_internals.py.
"""

import re
import tomllib
from pathlib import Path

import pytest

from components.ui import gradio_internals
from tests.serving import ROOT
from tests.ui.test_gradio_internals import FRONTEND

SELECTORS = tomllib.loads(
    Path(gradio_internals.__file__).with_name("gradio_selectors.toml").read_text("utf-8")
)


def is_shipped(name: str) -> bool:
    """Whether a script or style of gradio's page has a class of this name."""
    whole = re.compile(rf"[\"'`. ]{name}(?![\w-])")
    assets = (path for path in (FRONTEND / "assets").iterdir() if path.suffix in (".js", ".css"))
    return any(whole.search(path.read_text("utf-8")) for path in assets)


@pytest.mark.parametrize("name", SELECTORS["at_times"])
def test_gradio_ships_the_classes_that_elements_have_at_times(name: str) -> None:
    assert is_shipped(name), (
        f'nothing in gradio\'s page has the class "{name}" any more: {SELECTORS["at_times"][name]}'
    )


def test_every_class_that_is_not_this_app_s_own_is_listed() -> None:
    styles = "".join(path.read_text("utf-8") for path in (ROOT / "assets").glob("*.css"))
    rules = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL))
    used = set(re.findall(r"\.([a-z][\w-]*)", " ".join(rules)))
    ui, exhibits = ROOT / "components" / "ui", ROOT / "components" / "exhibits"
    code = [path for folder in (ui, exhibits) for path in folder.rglob("*.[pj][ys]")]
    code += (ROOT / "assets" / "templates").glob("*.html")
    own = {word for path in code for word in re.findall(r"[\w-]+", path.read_text("utf-8"))}
    listed = SELECTORS["at_times"].keys() | {
        name
        for place in ("on_arrival", "head_view")
        for name in re.findall(r"\.([a-z][\w-]*)", " ".join(SELECTORS[place]))
    }
    assert [name for name in sorted(used - own - listed) if is_shipped(name)] == []
