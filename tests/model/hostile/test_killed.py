"""What no check of a file shows ends a worker at most: a sentence comes, and the next one is answered."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ByteSize

from components.errors import PoolscopeError
from components.inference.desk import Desk
from components.inference.workers import Workers, limits_of_guests
from components.settings import Settings
from components.types import Query
from tests.model.hostile.spoiling import change
from tests.tiny import checkpoint

MB = 1_000_000
SECONDS = 12.0
TEXT = "the film is good"


def replacing(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


GROWING = [replacing("a", "b" * 1_000), replacing("b", "c" * 1_000), replacing("c", "d" * 1_000)]
KINDS: dict[str, tuple[str, dict[str, Any]]] = {  # a file of each, and what stands in it
    "growth": ("tokenizer.json", {"normalizer": {"type": "Sequence", "normalizers": GROWING}}),
    "layers": ("config.json", {"num_hidden_layers": 20_000}),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One worker for guests, and a spoilt checkpoint of each kind beside a good one."""
    folder = tmp_path_factory.mktemp("guests")
    checkpoint(folder / "good")
    for name, (file, keys) in KINDS.items():
        checkpoint(folder / name)
        change(folder / name / file, **keys)
    lines = [f'[{one.name}]\ntitle = "x"\ntask = "y"\npath = "{one}"' for one in sorted(folder.iterdir())]
    (folder / "backbones.toml").write_text("\n".join(lines), encoding="utf-8")
    settings = Settings(
        catalogue=folder / "backbones.toml", workers=1, memory=ByteSize(100 * MB), seconds=SECONDS
    )
    desk = Desk(settings, Workers(settings, limits_of_guests(settings)))
    desk.open()  # with the first, which is good
    yield desk
    desk.close(0)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone limits the memory of a process")
@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_comes_and_the_next_question_is_answered(desk: Desk, kind: str) -> None:
    with pytest.raises(
        PoolscopeError, match=r"memory|crashed|took longer|fails on a short text|cannot be loaded"
    ):
        desk.ask("analyze", Query(kind, TEXT))
    assert desk.ask("analyze", Query("good", TEXT)).labels
