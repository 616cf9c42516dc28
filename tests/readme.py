"""The README and the pages of docs, and the code that stands in them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from tests.serving import ROOT

PAGES = {
    page.name: page.read_text(encoding="utf-8")
    for page in (*(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "README.md")
}
LOCAL = "http://127.0.0.1:7860"
TABLE = "text,label\n" + "\n".join(
    f"a {'good' if i % 2 else 'bad'} film of {i} hours,{i % 2}" for i in range(40)
)
GROWN = "all-minilm-l6-v2"  # the full-grown encoder


def block(page: str, language: str, containing: str) -> str:
    """The code block of a page in ``language`` that contains some words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)
    return next(text for text in blocks if containing in text)


def run_block(page: str, containing: str, **given: object) -> SimpleNamespace:
    """What a block of Python defines; its annotations stay texts, as in every module."""
    space: dict[str, Any] = dict(given)
    exec(compile(block(page, "py", containing), page, "exec", annotations.compiler_flag), space)
    return SimpleNamespace(**space)
