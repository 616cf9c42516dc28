"""Some of `make siege`: hostile checkpoints, each refused by a sentence or right; and cold starts."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.hub import hub
from tests.serving import START, served
from tests.siege.hostile import NAMED, Hostile, every, good, made
from tests.tiny import catalogue, checkpoint

QUERY = Query("hostile", "the film is good")
MODEL = "org/tiny"
BUNDLED, PAIR = "bert-sentiment", {"text": "the film is good", "text_pair": ""}
AT_ONCE: tuple[tuple[str, dict[str, object]], ...] = (  # all of them as soon as the page is there
    ("/find", {"backbone": MODEL}),
    ("/analyze", {"backbone": BUNDLED, **PAIR}),
    ("/find", {"backbone": MODEL}),
    ("/anatomy", {"backbone": "gpt2-sentiment", **PAIR}),
    ("/compare", {"backbones": [BUNDLED], "poolings": ["mean"], **PAIR}),
    ("/find", {"backbone": BUNDLED}),
)
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
def test_each_is_refused_or_answers(
    hostile: Hostile, goods: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = made(hostile, goods, tmp_path)
    engine = Engine(Settings(catalogue=catalogue(tmp_path, {"hostile": place})))
    assert len(engine.backbones()) == 1
    if hostile in NAMES:
        with pytest.raises(PoolscopeError, match="it cannot be loaded: its ") as refused:
            engine.ask("analyze", QUERY)
        assert len(str(refused.value)) < 600
        assert len(caplog.text) < 50_000
        return
    with suppress(PoolscopeError):
        answer = engine.ask("analyze", QUERY)
        assert len(answer.labels) == len(answer.logits) == len(answer.probabilities) > 0


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_is_asked_at_once_is_answered(tmp_path: Path, workers: str) -> None:
    checkpoint(tmp_path / "models" / MODEL, id2label={0: "bad", 1: "good"})
    with hub(tmp_path / "models") as there:
        settings = {"POOLSCOPE_SOURCES": "any", "POOLSCOPE_WORKERS": workers, **there.environment(tmp_path)}
        log, threads = tmp_path / "log", ThreadPoolExecutor(len(AT_ONCE))
        with served("app.py", log=log, **settings) as url, threads:
            ask = partial(httpx.post, timeout=START)
            came = [threads.submit(ask, f"{url}{path}", json=asked) for path, asked in AT_ONCE]
            assert [one.result().text for one in came if not one.result().is_success] == []
    assert "Traceback" not in log.read_text()
