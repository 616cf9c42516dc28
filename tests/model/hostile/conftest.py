"""A good checkpoint, and a copy of it to spoil."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from components.analyses.measuring.analyze import analyse
from components.model.examine import examine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.tiny import checkpoint


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> BackboneSpec:
    return checkpoint(tmp_path_factory.mktemp("checkpoints") / "good")


@pytest.fixture
def unread(good: BackboneSpec, tmp_path: Path) -> BackboneSpec:
    """A copy to spoil in such a way that nothing of it is handed to a library."""
    folder = tmp_path / "spoilt"
    shutil.copytree(good.location, folder)
    return replace(good, key="spoilt", location=str(folder))


@pytest.fixture
def spec(good: BackboneSpec, unread: BackboneSpec) -> Iterator[BackboneSpec]:
    """A copy to spoil; whatever was done with it, the good one loads afterwards and answers."""
    yield unread
    assert analyse(examine(load(good), Query("good", "the film is good"))).logits.shape == (2,)
