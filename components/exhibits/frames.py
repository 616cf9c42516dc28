"""Frames: what is drawn of an answer at every layer and with every centring; frames.js shows one of them."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from components.exhibits.control import Control, State, Value
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Analysis


def frames(
    draw: Callable[[State], Sequence[Any]], controls: Iterable[Control[Any]], analysis: Analysis, state: State
) -> list[dict[str, Any]]:
    """Draw once for each value of ``controls``, else in ``state``; each part has ``values``, and ``at``."""
    drawn: dict[tuple[Value, ...], Sequence[Any]] = {}
    each: list[Sequence[Any]] = []
    for centring, layer in product(CENTRINGS, range(analysis.layers + 1)):
        seen = {**state, LAYER.key: layer, CENTRED.key: centring}
        key = tuple(control.of(seen) for control in controls)
        if key not in drawn:
            drawn[key] = draw(seen)
        each.append(drawn[key])
    columns = ((column, list(dict.fromkeys(column))) for column in zip(*each, strict=True))
    return [{"values": values, "at": [values.index(one) for one in column]} for column, values in columns]


def frames_json(parts: Sequence[Any], analysis: Analysis, answered: str = "") -> str:
    """All frames as frames.js takes them; ``answered`` is the key of the answer that they are of."""
    return json.dumps({"answered": answered, "last": analysis.layers, "centrings": CENTRINGS, "parts": parts})
