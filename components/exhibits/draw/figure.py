"""What plotly.js draws, as plain values.

Plotly's own classes check every value whenever a figure is made, which takes four fifths of the time of
drawing it. The tests have them check what is drawn here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.io

Trace = dict[str, Any]  # one thing that is drawn: its "type", and the properties that plotly.js has for it


@dataclass(frozen=True)
class Figure:
    """Traces and the layout that they stand in; texts in them are escaped HTML."""

    data: Sequence[Trace]
    layout: Mapping[str, Any]

    def to_json(self) -> str:
        """JSON that can stand in a script of a page: no < in it, and null for what is no finite number."""
        text: str = plotly.io.to_json({"data": self.data, "layout": self.layout}, validate=False)
        return text
