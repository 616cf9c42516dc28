"""Findings of late interaction: what matches is said where more does than chance makes."""

from dataclasses import replace

from components.exhibits.serving import MAXSIM
from components.texts import Sentence
from tests.analyses.test_maxsim import made_up
from tests.exhibits.findings.row import Row, Told, told
from tests.exhibits.showing import analysis


def matching(count: int, *warned: Sentence) -> Told:
    """Words on an answer of which so many tokens match."""
    return told(MAXSIM, replace(made_up(analysis(text="not good"), count), warnings=warned))


PLAIN, PROJECTED = Sentence("maxsim.plain"), Sentence("maxsim.projected", size=128)
ROWS = {
    "maxsim.some": Row(matching(2), {"count": 2, "total": 2}, matching(0)),
    "maxsim.chance": Row(matching(0), {"count": 0, "total": 2}, matching(2)),
    "maxsim.plain": Row(matching(2, PLAIN), {}, "maxsim.projected"),
    "maxsim.projected": Row(matching(2, PROJECTED), {"size": 128}, "maxsim.plain"),
}
