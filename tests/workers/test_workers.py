"""Workers are processes of their own: they say what the engine says, and one that dies harms nobody else."""

import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from components.analyst import PATIENCE
from components.engine.desk import Desk
from components.engine.engine import Engine
from components.errors import PoolscopeError
from components.settings import ASSETS, Settings
from components.types import Query
from components.workers.workers import Workers
from tests.tiny import checkpoint

TEXT = "The plot is thin, but the actors are a delight."
KEYS = tuple(f"{family}-sentiment" for family in ("bert", "distilbert", "roberta", "xlnet", "gpt2"))
STUCK = ("one", "two")  # their PIPE is a named pipe that nobody writes to
PIPE = "tokenizer_config.json"
CLOCKS = {"milliseconds"}


def same(one: object, other: object) -> bool:
    """Whether two values hold the same, bit for bit, at any depth; the clock aside."""
    if is_dataclass(one):
        names = [field.name for field in fields(one) if field.name not in CLOCKS]
        alike = (same(getattr(one, name), getattr(other, name)) for name in names)
        return type(one) is type(other) and all(alike)
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, tuple | list):
        assert isinstance(other, tuple | list)
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and not isinstance(one, Mapping)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two workers; the five backbones for sentiment, and two that get stuck while they are loaded."""
    folder = tmp_path_factory.mktemp("workers")
    places = {key: ASSETS / "models" / key for key in KEYS}
    for name in STUCK:
        places[name] = folder / name
        checkpoint(places[name])
        (places[name] / PIPE).rename(places[name] / "kept")
        os.mkfifo(places[name] / PIPE)
    lines = [f'[{key}]\ntitle = "{key}"\ntask = "sentiment"\npath = "{path}"' for key, path in places.items()]
    catalogue = folder / "backbones.toml"
    catalogue.write_text("\n".join(lines), encoding="utf-8")
    return Settings(catalogue=catalogue, workers=2)


@pytest.fixture(scope="module")
def desk(settings: Settings) -> Iterator[Desk]:
    workers = Workers(settings)
    desk = Desk(settings, workers)
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(torch.get_num_threads())  # as this process has them
    workers.open(desk.first())
    yield desk
    workers.close()
    os.environ.pop("OMP_NUM_THREADS") if before is None else os.environ.update(OMP_NUM_THREADS=before)


@pytest.fixture(scope="module")
def here(settings: Settings) -> Engine:
    return Engine(settings)


@pytest.mark.parametrize("key", KEYS)
def test_workers_say_what_the_engine_says_bit_for_bit(desk: Desk, here: Engine, key: str) -> None:
    for query in (Query(key, TEXT), Query(key, TEXT, "Another.", "mean", layer=1, reference="pooled")):
        assert same(desk.analyze(query), here.analyze(query))
        assert same(desk.anatomy(query), here.anatomy(query))


def test_a_comparison_comes_backbone_by_backbone_with_the_engine_s_cells(desk: Desk, here: Engine) -> None:
    poolings = ("native", "cls", "attention", "concat_last4_cls")  # of which some cannot be answered
    queries = [Query(key, TEXT, pooling=pooling) for pooling in poolings for key in KEYS[:2]]
    answers = desk.compare(queries)
    assert next(answers).backbone.key == KEYS[0]
    answers.close()
    assert same(list(desk.compare(queries)), list(here.compare(queries)))


def test_a_refusal_is_the_engine_s(desk: Desk, here: Engine) -> None:
    for query in (Query("bert-sentiment", " "), Query("bert-sentiment", TEXT, layer=99), Query("no", TEXT)):
        with pytest.raises(PoolscopeError) as theirs:
            desk.analyze(query)
        with pytest.raises(PoolscopeError) as ours:
            here.analyze(query)
        assert str(theirs.value) == str(ours.value)


def test_the_same_question_has_the_same_answer_until_its_checkpoint_changes(
    settings: Settings, desk: Desk
) -> None:
    first = desk.analyze(Query("gpt2-sentiment", TEXT))
    assert desk.analyze(Query("gpt2-sentiment", TEXT)) is first
    changed = desk._specs["gpt2-sentiment"]
    copy = settings.catalogue.parent / "copy"
    copy.mkdir()
    for file in Path(changed.location).iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    other = Desk(settings.model_copy(update={"catalogue": _catalogue(copy)}), desk._runner)
    second = other.analyze(Query("gpt2-sentiment", TEXT))
    assert second is not first
    assert other.analyze(Query("gpt2-sentiment", TEXT)) is second
    os.utime(copy / "model.safetensors", ns=(1, 1))
    third = other.analyze(Query("gpt2-sentiment", TEXT))
    assert third is not second
    assert same(third, second)


def _catalogue(folder: Path) -> Path:
    file = folder.with_suffix(".toml")
    file.write_text(f'[gpt2-sentiment]\ntitle = "x"\ntask = "sentiment"\npath = "{folder}"', "utf-8")
    return file


def test_workers_know_which_models_transformers_classifies_with(desk: Desk) -> None:
    assert desk._runner.classifies("bert")
    assert not desk._runner.classifies("whisper-small")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes make a worker wait")
def test_who_leaves_ends_the_work_and_others_go_on(settings: Settings, desk: Desk) -> None:
    patience = {name: Future[None]() for name in STUCK}
    told = {name: _asked(desk, name, patience[name]) for name in STUCK}
    pipes = {name: _opened(settings, name) for name in STUCK}  # both workers have begun to read
    patience["one"].cancel()
    with pytest.raises(PoolscopeError, match="ended before it had an answer"):
        told["one"].result(60)
    with pytest.raises(BrokenPipeError):
        os.write(pipes["one"], b" ")  # the process that read is no more
    assert desk.analyze(Query(KEYS[0], "after that")).predicted  # by the one that has taken its place
    two = settings.catalogue.parent / "two"
    (two / "kept").replace(two / PIPE)
    os.write(pipes["two"], (two / PIPE).read_bytes())
    for pipe in pipes.values():
        os.close(pipe)
    assert told["two"].result(60) == "two"  # whose worker was not touched


def _asked(desk: Desk, key: str, patience: "Future[None]") -> "Future[str]":
    """Ask in a thread, on behalf of somebody with ``patience``."""
    answer: Future[str] = Future()

    def run() -> None:
        PATIENCE.set(patience)
        try:
            answer.set_result(desk.analyze(Query(key, "the film is good")).backbone.key)
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,)).start()
    return answer


def _opened(settings: Settings, name: str) -> int:
    """The pipe of a stuck backbone, as soon as somebody reads it."""
    return os.open(settings.catalogue.parent / name / PIPE, os.O_WRONLY)
