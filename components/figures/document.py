"""Figures as text, for a document that stands alone."""

from __future__ import annotations

from typing import Any

from plotly.offline import get_plotlyjs


def plotly_script() -> str:
    """The whole of plotly.js, of the version that the figures are made for: some 4.7 million characters."""
    script: str = get_plotlyjs()
    return script


def figure_json(figure: Any) -> str:
    """A plotly figure as JSON in which no character can end a script element: <, > and / are escaped."""
    text: str = figure.to_json()
    return text
