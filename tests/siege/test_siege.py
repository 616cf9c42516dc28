"""Some of `make siege`: hostile checkpoints, each refused by a sentence or right; and a cold start."""

from contextlib import suppress
from pathlib import Path

import pytest

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.hub import hub
from tests.siege.cold import MODEL, cold
from tests.siege.hostile import NAMED, Hostile, every, good, made
from tests.tiny import catalogue, checkpoint

QUERY = Query("hostile", "the film is good")
ALONE = {"wide", "regex", "lookahead", "piece"}  # for a worker with limits, which they freeze or end
NAMES = [hostile for hostile in every() if hostile.key[4:] in NAMED.keys() - ALONE]
DRAWN = [hostile for hostile in every() if hostile.key[4:] not in NAMED][::48]


@pytest.fixture(scope="module")
def goods(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return good(tmp_path_factory.mktemp("good"))


def test_the_generator_makes_three_hundred_of_every_kind_and_the_same_again() -> None:
    keys = [hostile.key for hostile in every()]
    assert len(set(keys)) == 300
    assert keys == [hostile.key for hostile in every()]


@pytest.mark.parametrize("hostile", [*NAMES, *DRAWN], ids=lambda hostile: hostile.key)
def test_a_hostile_checkpoint_is_refused_or_answers(
    hostile: Hostile, goods: dict[str, Path], tmp_path: Path
) -> None:
    place = made(hostile, goods, tmp_path)
    engine = Engine(Settings(catalogue=catalogue(tmp_path, {"hostile": place})))
    assert len(engine.backbones()) == 1
    if hostile in NAMES:
        with pytest.raises(PoolscopeError, match="it cannot be loaded: its ") as refused:
            engine.ask("analyze", QUERY)
        assert len(str(refused.value)) < 600
        return
    with suppress(PoolscopeError):
        answer = engine.ask("analyze", QUERY)
        assert len(answer.labels) == len(answer.logits) == len(answer.probabilities) > 0


def test_what_is_asked_at_once_is_answered(tmp_path: Path) -> None:
    checkpoint(tmp_path / "models" / MODEL, id2label={0: "bad", 1: "good"})
    with hub(tmp_path / "models") as there:
        assert cold(there, tmp_path, workers="0") == []
