"""Whatever a visitor sends, the page parses it in a time that grows as its length does, or refuses it."""

from tests.serving import python

LIMIT = "3"  # seconds of processor time for what takes hundredths: what is quadratic takes minutes


def test_nothing_that_is_sent_keeps_the_page_from_others() -> None:
    """End the process where it takes longer: nothing else stops code that holds Python's lock."""
    done = python("-m", "tests.benchmarks.parsing", "--limit", LIMIT)
    assert done.returncode == 0, done.stderr[-500:]
