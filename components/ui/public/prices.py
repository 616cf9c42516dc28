"""Prices: what a question costs, by the name of the function that it asks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from components.analyses.registry import Cost, analyses

QUESTION = 10  # what a question costs, in a client's rate
OTHER = 2  # what any other POST costs: those redraw or cancel
CELLS = 4  # combinations of a comparison that take as long as a question (0.14 to 0.34 of one each, measured)
EVERY = 15  # what an empty list in a question stands for, about: everything that there is
CHARACTERS = 5_000  # so many more take as long again, about


Price = Callable[[Iterable[object]], float]  # of what a question is asked with, in a client's rate


def price(name: str, values: Iterable[object]) -> float:
    """Compute what it costs to ask a function with these ``values``."""
    return PRICES.get(name, _price_of_any)(values)


def _price_of_any(values: Iterable[object]) -> float:
    """Compute a price that grows with texts, and with combinations of lists."""
    characters, cells = _extent(values)
    return QUESTION * max(1.0, cells / CELLS) * (1 + characters // CHARACTERS)


def _price_of(cost: Cost) -> Price:
    """Make the price of an analysis, whose ``cost`` the registry knows."""

    def of(values: Iterable[object]) -> float:
        given = list(values)
        characters, _ = _extent(given)
        by_length = cost.several or cost.characters < math.inf  # a vector's is no text's
        more = 1 if by_length else 1 + characters // CHARACTERS
        return QUESTION * cost.of(characters, max(1, *map(_texts, given))) * more

    return of


def _price_by_length(characters: int) -> Price:
    """Make a price of a question for every so many ``characters``, and of one at least."""
    return lambda values: QUESTION * max(1.0, _extent(values)[0] / characters)


def _texts(value: object) -> int:
    """Count the texts that stand beside vectors in what was pasted, at most."""
    if isinstance(value, str):
        return value.count('"text"')
    if isinstance(value, dict):  # one of them, or of MCP
        return max(1, *map(_texts, value.values()))
    return sum(isinstance(one, dict) for one in value) if isinstance(value, list) else 1


def _extent(values: Iterable[object]) -> tuple[int, int]:
    """Count the characters of all texts, and the combinations of all lists."""
    texts, cells, unseen = 0, 1, list(values)
    while unseen:
        value = unseen.pop()
        if isinstance(value, list):
            cells *= len(value) or EVERY
        elif isinstance(value, str):
            texts += len(value)
        elif isinstance(value, dict):  # of MCP
            unseen.extend(value.values())
    return texts, cells


PRICES: Mapping[str, Price] = {  # by the name of a function; others: `_price_of_any`
    **{name: _price_of(kind.cost) for name, kind in analyses().items()},
    "detect_vector": _price_of(analyses()["detect"].cost),
    "fit": _price_by_length(50),
    "fit_table": _price_by_length(50),
    "read_table": _price_by_length(100_000),
    "trace_versions": _price_of(analyses()["trace"].cost),
}
