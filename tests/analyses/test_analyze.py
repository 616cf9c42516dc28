"""Many combinations at once: what each says alone, from one forward pass for each backbone."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
import torch

from components.analyses.analyze import Cell, compare
from components.errors import PoolscopeError
from components.inference.engine import Desk, Engine
from components.inference.jobs import Job
from components.model.examine import Stopwatch
from components.model.internals import repeatable
from components.model.loading import load
from components.model.query import MOST, Asked
from components.settings import Settings
from components.types import Query
from tests.checkpoints import Made
from tests.inference.test_engine import timeless

TEXT = "The plot is thin, but the actors are a delight."
PAIR = "The actors are good; the plot is not."
KEYS = tuple(f"{family}-sentiment" for family in ("bert", "xlnet", "gpt2"))


def combinations(engine: Engine, keys: Sequence[str], **fields: Any) -> list[Query]:
    poolings = [spec.key for spec in engine.poolings()]
    return [Query(key, **{"text": TEXT, "pooling": one, **fields}) for key in keys for one in poolings]


def is_what_it_says_alone(engine: Engine, cell: Cell) -> bool:
    """Tell whether ``analyze`` gives the same for this combination, or refuses it in the same words.

    What the head would say of each token is asked of one answer, not of many.
    """
    try:
        alone = replace(engine.ask("analyze", cell.query), alone=None)
    except PoolscopeError as error:
        return cell.analysis is None and str(cell.refusal) == str(error)
    return cell.analysis is not None and cell.refusal is None and timeless(cell.analysis) == timeless(alone)


@contextmanager
def counting(engine: Engine, keys: Sequence[str]) -> Iterator[list[str]]:
    """The backbones whose deepest layer has run on hidden states, one entry for each time."""
    for key in keys:
        engine.ask("analyze", Query(key, "warm"))
    ran: list[str] = []
    with ExitStack() as hooks:
        for (key, *_), backbone in engine.process.measurer.checkpoints._loaded.items():
            if key in keys:
                first = next(m for m in backbone.model.modules() if isinstance(m, torch.nn.ModuleList))[0]
                hooks.callback(first.register_forward_hook(lambda *_, key=key: ran.append(key)).remove)
        yield ran


@pytest.mark.parametrize(
    "fields",
    [{}, {"text_pair": PAIR}, {"head": "probe"}, {"reference": "pooled", "layer": 1}, {"reference": 1}],
)
def test_every_cell_is_what_the_combination_says_alone(engine: Engine, fields: dict[str, Any]) -> None:
    asked = combinations(engine, KEYS, **fields)
    compared = list(engine.compare(asked))
    assert [one.backbone.key for one in compared] == list(KEYS)
    every = [cell for one in compared for cell in one.cells]
    assert [(cell.query.backbone, cell.query.pooling) for cell in every] == [
        (query.backbone, query.pooling) for query in asked
    ]
    assert all(is_what_it_says_alone(engine, cell) for cell in every)
    assert sum(cell.analysis is not None for cell in every) >= 10 * len(KEYS)


def test_a_stage_is_timed_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((1.0, 1.5, 1.75))
    monkeypatch.setattr("components.model.examine.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    watch = Stopwatch({"tokens": 3.0})
    watch.lap("forward")
    watch.lap("head")
    assert watch.laps == {"tokens": 3, "forward": 500, "head": 250}


@pytest.mark.families
@pytest.mark.parametrize("family", ["big_bird", "reformer", "canine"])
def test_no_cell_changes_what_the_next_one_says(tiny_family: Made, engine: Engine, family: str) -> None:
    """Also where the model draws random numbers, or changes with what it reads."""
    backbone = load(tiny_family(family))
    text = "the film is not good at all, the man sleeps"
    poolings = [spec.key for spec in engine.poolings() if not spec.learned]
    asked = [Asked(Query(family, text, pooling=pooling), None) for pooling in poolings]

    def said(asked: list[Asked]) -> list[object]:
        with repeatable(backbone.model):
            cells = compare.function(backbone, asked)
        return [cell.refusal if cell.analysis is None else timeless(cell.analysis) for cell in cells]

    together = said(asked)
    assert together == [answer for one in asked for answer in said([one])]
    assert isinstance(together[0], bytes)


def test_each_backbone_runs_once_and_when_its_turn_comes(engine: Engine) -> None:
    """However many poolings are asked for; who stops listening has nothing more computed."""
    with counting(engine, KEYS) as ran:
        answers = engine.compare(combinations(engine, KEYS))
        assert ran == []
        assert next(answers).backbone.key == KEYS[0]
        assert ran == [KEYS[0]]
        next(answers)
        answers.close()
        assert list(answers) == []
        assert ran == list(KEYS[:2])
        engine.ask("analyze", Query(KEYS[0], TEXT))
        assert ran == [*KEYS[:2], KEYS[0]]  # what is counted is a pass


def test_backbones_and_poolings_come_in_the_order_asked(engine: Engine) -> None:
    bundled = [spec.key for spec in engine.backbones() if spec.source == "bundled"]
    assert len(combinations(engine, bundled)) <= MOST  # all that there is can be asked at once
    asked = [Query(key, TEXT, pooling=one) for one in ("mean", "cls", "mean") for key in KEYS[1::-1]]
    found = [(one.backbone.key, [cell.query.pooling for cell in one.cells]) for one in engine.compare(asked)]
    assert found == [(key, ["mean", "cls", "mean"]) for key in KEYS[1::-1]]


def test_what_cannot_be_answered_is_said_in_its_cell_and_the_others_answer(engine: Engine) -> None:
    far = next(spec for spec in engine.backbones() if not spec.available).key
    poolings = ("concat_last4_cls", "mean", "attention", "pooler")
    asked = [Query(far, TEXT), *(Query("distilbert-sentiment", TEXT, pooling=one) for one in poolings)]
    absent, compared = engine.compare(asked)
    assert [one.backbone.key for one in (absent, compared)] == [far, "distilbert-sentiment"]
    words = ("it gives 256 numbers", "", "it is learned with a probe", "this checkpoint has no pooler")
    absence = "it is not on this machine yet: fetch it first"
    for cell, said in zip((*absent.cells, *compared.cells), (absence, *words), strict=True):
        assert (cell.analysis is None) == bool(said)
        assert said in ("" if cell.refusal is None else str(cell.refusal))


def test_the_backbone_is_asked_for_once_and_only_if_there_is_anything_to_answer() -> None:
    attempts = []

    class Never:
        def run(self, job: Job) -> NoReturn:
            attempts.append(job)
            raise PoolscopeError("backbone", "x", "errors.forgotten")

    desk, own = Desk(Settings(), Never()), Query("bert-sentiment", TEXT)
    odd = replace(own, head="probe", task="nothing")
    (compared,) = desk.compare([own, odd, replace(own, pooling="mean")])
    unloaded = PoolscopeError("backbone", "x", "errors.forgotten").sentence
    refusals = [cell.refusal for cell in compared.cells]
    assert refusals[::2] == [unloaded, unloaded]
    assert "task: 'nothing' was given" in str(refusals[1])
    assert len(attempts) == 1
    (compared,) = desk.compare([odd, odd])
    assert [cell.refusal for cell in compared.cells] == refusals[1:2] * 2
    assert len(attempts) == 1


BERT = Query("bert-sentiment", TEXT)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([], "combinations: 0 was given; choose at least one backbone and one pooling"),
        ([BERT] * (MOST + 1), f"{MOST + 1} was given; at most {MOST} are compared"),
        ([BERT, replace(BERT, text="good")], "text: 'good' was given; one text"),
        ([BERT, Query("gpt2-sentiment", TEXT, PAIR)], f"text_pair: '{PAIR}' was given; one text or pair"),
        ([BERT, Query("nobody", TEXT)], "backbone: 'nobody' was given; allowed are"),
        ([replace(BERT, head="linear")], "head: 'linear' was given; allowed are own, probe"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused_before_anything_runs(
    engine: Engine, queries: list[Query], message: str
) -> None:
    with counting(engine, KEYS[:1]) as ran, pytest.raises(PoolscopeError) as caught:
        next(engine.compare(queries))
    assert message in str(caught.value)
    assert ran == []


def test_each_cell_has_the_time_of_its_own_head_and_of_the_pass_it_shares(engine: Engine) -> None:
    (compared,) = engine.compare([Query(KEYS[0], TEXT, pooling=one) for one in ("native", "cls", "mean")])
    clocks = [dict(cell.analysis.milliseconds) for cell in compared.cells if cell.analysis]
    assert [set(clock) for clock in clocks] == [{"ordinary", "tokens", "forward", "head", "similarity"}] * 3
    assert len({clock["forward"] for clock in clocks}) == 1
    assert len({clock["head"] for clock in clocks}) == 3
