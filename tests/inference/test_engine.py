"""The engine as the outside sees it."""

import threading
import tomllib
from collections import Counter
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.analyst import ADDRESS, CANCELLATION
from components.errors import PoolscopeError
from components.fitting import Plan, Stage, Table
from components.inference.engine import Engine, InProcess
from components.inference.jobs import Job
from components.inference.payload import pack
from components.model.catalogue import stated
from components.model.files import folder
from components.settings import Settings
from components.types import Analysis, Query
from tests.serving import python
from tests.tiny import checkpoint

CASES = tomllib.loads(Path(__file__).with_name("engine.toml").read_text("utf-8"))
SECONDS = 30  # until a test fails that waits
TEXT = "The plot is thin, but the actors are a delight."


def timeless(answer: Any) -> bytes:
    """The bytes of an answer, the clock aside."""

    def still(one: Any) -> Any:
        return replace(one, milliseconds={}) if isinstance(one, Analysis) else one

    return pack(still(replace(answer, **{name: still(one) for name, one in vars(answer).items()})))


def test_importing_it_loads_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from components.analyses.registry import analyses; "
        "from components.inference.engine import Engine; from components.settings import Settings; "
        "engine = Engine(Settings()); engine.backbones(); engine.poolings(); engine.tasks(); "
        "[kind.signature for kind in analyses().values()]; "
        "sys.exit(bool({'torch', 'transformers', 'gradio', 'plotly'} & set(sys.modules)))"
    )
    assert python("-c", code).returncode == 0


def test_what_nobody_waits_for_is_not_begun(engine: Engine) -> None:
    token, context = Future[None](), copy_context()
    context.run(CANCELLATION.set, token)
    query = Query("bert-sentiment", TEXT)
    assert context.run(engine.ask, "analyze", query).predicted
    token.cancel()
    with pytest.raises(CancelledError):
        context.run(engine.ask, "analyze", query)
    assert engine.ask("analyze", query).predicted


def test_addresses_take_turns_with_their_tables(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.inference.engine.fit_table", lambda *_: iter([Stage(0, 1, "fit", "")]))
    table = Table(tuple(map(str, range(24))), (), ("good", "bad") * 12)
    first, again, other = (engine.fit(table, Plan(("bert-sentiment",))) for _ in range(3))
    for address, asked in (("a", first), ("a", again), ("b", other)):
        ADDRESS.set(address)
        next(asked)
    first.close()
    assert [next(asked).name for asked in (again, other)] == ["wait", "fit"]


def test_closing_lets_the_job_under_way_end_and_tells_who_waits() -> None:
    """As where the app runs without workers and is told to stop."""
    process, begun, go_on = InProcess(Settings()), threading.Event(), threading.Event()
    job = Engine(Settings()).first()
    assert job is not None

    def run(_job: Job) -> str:
        begun.set()
        assert go_on.wait(SECONDS)
        return "answer"

    process.measurer = SimpleNamespace(run=run)  # type: ignore[assignment]  # without torch
    with ThreadPoolExecutor(3) as threads:
        under_way = threads.submit(process.run, job)
        assert begun.wait(SECONDS)
        waiting, closing = threads.submit(process.run, job), threads.submit(process.close, SECONDS)
        assert process._closed.wait(SECONDS)
        go_on.set()
        assert under_way.result(SECONDS) == "answer"
        with pytest.raises(PoolscopeError, match="being stopped: ask again"):
            waiting.result(SECONDS)
        closing.result(SECONDS)


def test_layers_and_stages_are_counted(engine: Engine) -> None:
    for layer in (-5, 3):
        analysis = engine.ask("analyze", Query("bert-sentiment", TEXT, layer=layer))
        assert (analysis.layers, analysis.layer) == (4, layer % 5)
        assert set(analysis.milliseconds) == {"ordinary", "tokens", "forward", "head", "similarity"}


@pytest.mark.parametrize("key", ["bert-sentiment", "xlnet-paraphrase", "gpt2-sentiment"])
def test_the_same_question_has_the_same_answer_whoever_asks_meanwhile(engine: Engine, key: str) -> None:
    queries = [Query(key, TEXT, pooling=pooling) for pooling in ("native", "max", "first")]
    alone = [engine.ask("analyze", query) for query in queries]
    engine.ask("analyze", Query("roberta-sentiment", "something else " * 20))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(partial(engine.ask, "analyze"), queries))
    assert list(map(timeless, alone)) == list(map(timeless, together))


def test_a_config_is_read_once_however_many_queries_come(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()
    whole = Path.read_bytes

    def counting(file: Path) -> bytes:
        read[file.parent.name] += file.name == "config.json"
        return whole(file)

    monkeypatch.setattr(Path, "read_bytes", counting)
    stated.cache_clear()
    engine = Engine(Settings())
    for text in ("good", "bad", "good"):
        engine.ask("analyze", Query("bert-sentiment", text))
        engine.find("bert-sentiment")
        engine.backbones()
    folders = [folder(spec) for spec in engine.backbones()]
    assert +read == dict.fromkeys((found.name for found in folders if found), 1)


def query_of(asked: dict[str, Any]) -> Query:
    query = Query(**{"backbone": "bert-sentiment", "text": TEXT, **asked})
    return replace(query, text=query.text.replace("LONG", "good " * 500))


@pytest.mark.parametrize(("asked", "message"), CASES["mistakes"])
def test_a_mistake_is_named(engine: Engine, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(PoolscopeError, match=f"^{message}"):
        engine.ask("analyze", query_of(asked))


@pytest.mark.parametrize(("asked", "says"), CASES["warnings"])
def test_warnings_say_what_the_outputs_mean(engine: Engine, asked: dict[str, Any], says: str) -> None:
    (warning,) = engine.ask("analyze", query_of(asked)).warnings
    assert says in str(warning)


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    library, given = Engine(Settings()), ["bert-sentiment", *(str(tmp_path / one / "mine") for one in "ab")]
    for place in map(Path, given[1:]):
        checkpoint(place)
    assert [library.bring(one).key for one in given * 2] == ["bert-sentiment", "mine", given[2]] * 2
