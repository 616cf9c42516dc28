"""The engine as the outside sees it."""

import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from components.analyst import CANCELLATION, Analyst
from components.errors import PoolscopeError
from components.inference.engine import Engine, InProcess
from components.inference.jobs import Job
from components.inference.payload import pack
from components.model.files import folder
from components.model.pooling import POOLINGS
from components.settings import Settings
from components.types import Analysis, Query

SECONDS = 30  # until a test fails that waits
TEXT = "The plot is thin, but the actors are a delight."


def same(one: Analysis, other: Analysis) -> bool:
    """Equal bit for bit, the clock aside."""
    return pack(replace(one, milliseconds={})) == pack(replace(other, milliseconds={}))


def test_the_engine_is_an_analyst(engine: Engine) -> None:
    analyst: Analyst = engine
    assert [spec.key for spec in analyst.poolings()] == list(POOLINGS)
    assert [spec.source for spec in analyst.backbones()].count("bundled") == 15


def test_importing_it_loads_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from components.inference.engine import Engine; "
        "from components.settings import Settings; "
        "engine = Engine(Settings()); engine.backbones(); engine.poolings(); engine.tasks(); "
        "sys.exit(bool({'torch', 'transformers', 'gradio', 'plotly'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_nobody_waits_for_is_not_begun(engine: Engine) -> None:
    token, context = Future[None](), copy_context()
    context.run(CANCELLATION.set, token)
    query = Query("bert-sentiment", TEXT)
    assert context.run(engine.ask, "analyze", query).predicted
    token.cancel()
    with pytest.raises(CancelledError):
        context.run(engine.ask, "analyze", query)
    assert engine.ask("analyze", query).predicted


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
def test_the_same_question_has_the_same_answer_bit_for_bit_whoever_asks_meanwhile(
    engine: Engine, key: str
) -> None:
    queries = [Query(key, TEXT, pooling=pooling) for pooling in ("native", "max", "first")]
    alone = [engine.ask("analyze", query) for query in queries]
    engine.ask("analyze", Query("roberta-sentiment", "something else " * 20))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(partial(engine.ask, "analyze"), queries))
    assert all(same(one, other) for one, other in zip(alone, together, strict=True))


def test_a_config_is_read_once_however_many_queries_come(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()
    whole = Path.read_bytes

    def counting(file: Path) -> bytes:
        read[file.parent.name] += file.name == "config.json"
        return whole(file)

    monkeypatch.setattr(Path, "read_bytes", counting)
    engine = Engine(Settings())
    for text in ("good", "bad", "good"):
        engine.ask("analyze", Query("bert-sentiment", text))
        engine.find("bert-sentiment")
        engine.backbones()
    folders = [folder(spec) for spec in engine.backbones()]
    assert +read == dict.fromkeys((found.name for found in folders if found), 1)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query("bert-sentiment", TEXT, layer=5), "layer: 5 was given; allowed are -5 to 4"),
        (Query("bert-sentiment", "good", reference=3), "reference: 3 was given; allowed are -3 to 2"),
        (
            Query("bert-sentiment", TEXT, pooling="concat_last4_cls"),
            "pooling: 'concat_last4_cls' was given; it gives 512 numbers and the own head takes 128",
        ),
        (Query("nobody", TEXT), "backbone: 'nobody' was given; allowed are bert-sentiment, "),
    ],
)
def test_a_mistake_is_named(engine: Engine, query: Query, message: str) -> None:
    with pytest.raises(PoolscopeError, match=f"^{message}"):
        engine.ask("analyze", query)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Query("bert-sentiment", TEXT, TEXT), ["trained on one text"]),
        (Query("bert-paraphrase", TEXT), ["trained on pairs"]),
        (
            Query("bert-sentiment", TEXT, pooling="mean"),
            ["learned on [CLS], and here it is given “mean · average"],
        ),
        (Query("xlnet-sentiment", TEXT, pooling="mean"), ["learned on [CLS],"]),  # <cls> in its vocabulary
        (Query("gpt2-sentiment", TEXT, pooling="mean"), ["learned on the last token,"]),
        (Query("bert-sentiment", "good " * 500), ["128 are taken"]),
        (Query("bert-sentiment", "good [CLS] film"), ["“[CLS]”"]),
    ],
)
def test_warnings_say_what_the_outputs_mean(engine: Engine, query: Query, words: list[str]) -> None:
    warnings = engine.ask("analyze", query).warnings
    assert len(warnings) == len(words)
    assert all(word in str(warning) for word, warning in zip(words, warnings, strict=True))


def test_features_of_a_layer(engine: Engine) -> None:
    top = engine.features("bert-sentiment", [TEXT, "good"], ["cls", "concat_last4_cls", "pooler"])
    assert {key: value.shape for key, value in top.items()} == {
        "cls": (2, 128),
        "concat_last4_cls": (2, 512),
        "pooler": (2, 128),
    }
    lower = engine.features("bert-sentiment", [TEXT, "good"], ["cls", "concat_last4_cls"], layer=1)
    np.testing.assert_allclose(lower["cls"], top["concat_last4_cls"][:, :128], atol=1e-6)
    np.testing.assert_allclose(lower["cls"], lower["concat_last4_cls"], atol=1e-6)
    for mistake, said in (
        (("nobody", ["a"], ["mean"]), "backbone"),
        (("bert-sentiment", ["a"], ["x"]), "poolings"),
    ):
        with pytest.raises(PoolscopeError, match=f"^{said}: "):
            engine.features(*mistake)
