"""What is sent between processes is the same there, array for array, and nothing else is taken."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import msgpack
import numpy as np
import pytest

from components.analyses.fit import Pooled, Rows, Split
from components.errors import PoolscopeError
from components.fitting import Plan, Table
from components.inference.jobs import Job
from components.inference.payload import pack, unpack
from components.model.query import Asked
from components.texts import Named, Sentence, load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst

QUERY, FAKE = Query("first", "not good"), FakeAnalyst()
PAIR = Query("pair", "not \ud800 good", "a \N{ZERO WIDTH JOINER} pair", "mean", "probe", 2, 3)
VERSION = (("model.safetensors", 1_764_000_000_000_000_000, 2**40),)
SPECS = FAKE.backbones()
ROWS, SPLIT = Rows(np.arange(4), np.arange(4), 7), Split(*np.eye(3, dtype=int))
SENT = {
    "analyze": partial(FAKE.ask, "analyze", PAIR),
    "detect": partial(FAKE.ask, "detect", QUERY, vector="[1, 2, 3]"),
    "passport": partial(FAKE.ask, "passport", QUERY),
    "compare": lambda: tuple(FAKE.compare([QUERY, Query("first", "not good", pooling="none")])),
    "fit": lambda: tuple(FAKE.fit(Table(("a", "b"), (), ("x", "y")), Plan(("first",)))),
    "pooled": lambda: Pooled(
        np.arange(2),
        {("mean", 4): np.ones((2, 3), np.float32), ("cls", 0): np.zeros((2, 3), np.float32)},
        (("cut", {"limit": 512}), ("pooler", {"reason": Sentence("errors.no_pooler")})),
    ),
    "job": lambda: Job("analyze", SPECS[0], VERSION, (Asked(PAIR, FAKE.tasks()[0]),)),
    "step": lambda: Job("divide", SPECS[-1], (), options={"given": (ROWS, 2, [SPLIT])}),
}
PLAIN = [
    None, True, 0, -1, 2**63, 10**40, 1.5, float("nan"), float("-inf"), "", "\ud83d", b"\xff", [], (),
    ((), [()]), {"a": (1, [2])}, {(1, "a"): None}, np.float32(0.1), np.int64(-3), np.True_, np.array(2.5),
    np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 3), np.int8), np.arange(10)[::-2],
    Sentence("errors.word"), Sentence("detect.way", parts=(Sentence("errors.word"), Named("A", "b"), 3)),
]  # fmt: skip


@pytest.mark.parametrize("made", [*SENT.values(), *(partial(lambda value: value, one) for one in PLAIN)])
def test_what_is_sent_is_the_same_elsewhere(made: Callable[[], object]) -> None:
    """It is the same in type and value, at every depth; of arrays ``repr`` shows what is not too long."""
    value = made()
    found = unpack(pack(value))
    assert repr(found) == repr(value)
    assert pack(found) == pack(value)


def test_every_number_of_a_long_array_counts() -> None:
    """NumPy leaves the middle of one out where it writes it down."""
    one = np.zeros(5_000, np.float32)
    other = one.copy()
    other[2_500] = 1
    assert repr(one) == repr(other)
    assert pack(one) != pack(other)
    assert pack(one) == pack(one.copy())
    unpack(pack(one))[0] = 1  # it can be written to


def test_a_refusal_says_the_same_elsewhere() -> None:
    error = PoolscopeError("layer", object(), "errors.range", low=-5, high=4)
    sent = unpack(pack(error))
    assert (type(sent), str(sent), sent.field) == (PoolscopeError, str(error), "layer")
    assert sent.plainly(load_texts("zh")) == error.plainly(load_texts("zh"))


@dataclass(frozen=True)
class Foreign:
    """No part of Poolscope."""

    name: str = ""


@pytest.mark.parametrize("value", [object(), Foreign(), np.array([None]), {1, 2}, len, Foreign])
def test_nothing_else_can_be_sent(value: object) -> None:
    with pytest.raises(TypeError, match="cannot stand in a payload"):
        pack(value)


def extension(code: int, *parts: object) -> bytes:
    return bytes(msgpack.packb(msgpack.ExtType(code, pack(list(parts)))))


record, array = partial(extension, 3), partial(extension, 2)


def deep(levels: int) -> bytes:
    data = pack(1)
    for _ in range(levels):
        data = msgpack.packb(msgpack.ExtType(1, b"\x91" + data))
    return data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        pack(1) + pack(2),
        pack("x" * 100)[:50],
        record("subprocess:Popen", ["true"]),
        record("components.types:Sentence", "errors.word", []),  # which stands elsewhere
        record("components.inference.engine:InProcess"),
        record("components.analyses.measuring.detect:Tried"),
        record("components.types:Query", "too few"),
        record(),
        array("O", [1], b"\x00" * 8),
        array("<f4", [10**12], b"\x00" * 8),
        msgpack.packb(msgpack.ExtType(9, b"\xc0")),
        deep(3_000),
    ],
    ids=range(14),
)
def test_what_is_no_payload_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^\w+: "):
        unpack(data)
