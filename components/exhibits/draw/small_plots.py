"""Small plots in one figure: what plotly calls their axes, and their names."""

from __future__ import annotations

from typing import Any


def axis_number(place: int) -> str:
    """What plotly calls the axes of a small plot, counted from 0: "", 2, 3 ..."""
    return "" if place == 0 else str(place + 1)


def plot_name(place: int, text: str) -> dict[str, Any]:
    """An annotation with the name of a small plot, escaped, above its left end."""
    return {
        "xref": f"x{axis_number(place)} domain",
        "yref": f"y{axis_number(place)} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "text": text,
        "showarrow": False,
    }
