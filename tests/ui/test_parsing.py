"""Whatever a visitor sends, the page parses it in a time that grows as its length does, or refuses it."""

import re
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from components.analyses.detect_score import to_scores
from components.analyses.vectors import PRINTED, to_vectors
from components.errors import PoolscopeError
from components.tables import FORMATS, PATTERNS, read_sheet
from tests.serving import python

LIMIT = 2  # seconds of processor time for what takes half of one at most
SIZE, SLOW = 20_000, 0.7  # characters; seconds: a square takes more, and all else hundredths
Read = Callable[[str], object]
READ: list[tuple[str, Read]] = [
    *((one, to_vectors) for one in (PRINTED["dump"], *PRINTED["forms"].values())),
    *((one, to_vectors) for one, _ in PRINTED["vectors"].values()),
    *((one, to_scores) for one in PRINTED["scores"].values() if isinstance(one, str)),
    *((re.sub(r"\{[01]\}", ",", one), read_sheet) for one in (*PATTERNS.values(), *FORMATS.values())),
]


def test_nothing_that_is_sent_keeps_the_page_from_others() -> None:
    """End the process where it takes longer: nothing else stops code that holds Python's lock."""
    done = python("-m", "tests.benchmarks.parsing", "--limit", str(LIMIT))
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.parametrize(("pattern", "read"), READ)
@settings(max_examples=10, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_pattern_goes_back_and_back(pattern: str, read: Read, data: st.DataObject) -> None:
    """Repeat a part of a text that it takes, or a space."""
    text = data.draw(st.from_regex(pattern))
    at, long = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
    repeated, end = text[at : at + long] or " ", data.draw(st.sampled_from(("x", "\nx")))
    begun = time.process_time()
    with suppress(PoolscopeError):
        read(text[:at] + repeated * (SIZE // len(repeated)) + end)
    assert time.process_time() - begun < SLOW
