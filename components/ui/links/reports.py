"""The report of what is on the screen: what the link asks, answered anew, as one document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from components.analyst import Analyst
from components.figures.view import Say
from components.ui.compare.layout import titles_of
from components.ui.leading import COMPARE
from components.ui.links.controls import Control, from_link
from components.ui.report.analysis import report
from components.ui.report.comparison import Look, comparison_report
from components.ui.talk.slides import answered, compared


@dataclass(frozen=True, eq=False)
class Reports:
    """What the reports of one language are made of."""

    analyst: Analyst
    controls: tuple[Control, ...]
    say: Say

    def document(self, query: str, page: str) -> str:
        """The report of what the ``query`` of a link asks; ``page``: the address of the asking page, or "".

        PoolscopeError says what is wrong with a link: a report of anything else would mislead.
        """
        state, faults = from_link(query, self.controls)
        if faults:
            raise faults[0]
        here = page.startswith(("https://", "http://"))
        made, link = datetime.now(UTC), f"{page}?{query}" if here else ""
        if state["tab"] == COMPARE:
            depth = state["words_depth"]
            look = Look(
                float(depth) if isinstance(depth, int) else 100.0,
                bool(state["words_centred"]),
                bool(state["compare_centred"]),
            )
            given, titles = compared(self.analyst, state), titles_of(self.analyst)
            return comparison_report(given, titles, self.say, made, link, look)
        view, anatomy = answered(self.analyst, state)
        return report(view, anatomy, self.say, made, link)
