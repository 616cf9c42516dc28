"""Whole pages that many tests look at and none changes."""

from pathlib import Path

import gradio as gr
import pytest

from components.results import write_results
from components.settings import Settings
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_results import fake_results
from tests.ui.page import Counting, Page


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "results.csv"
    write_results(fake_results(), path)
    return path


@pytest.fixture(scope="session")
def whole(results: Path) -> gr.Blocks:
    """The whole page, with everything on it but questions."""
    return built(lambda: build(FakeAnalyst(), Settings(), results).page)


@pytest.fixture(scope="session")
def laid_out() -> Page:
    return Page(Counting())


@pytest.fixture
def analyst(laid_out: Page) -> Counting:
    laid_out.tab.analyst.forget()
    return laid_out.tab.analyst


@pytest.fixture
def page(laid_out: Page, analyst: Counting) -> Page:
    del analyst
    return laid_out.anew()
