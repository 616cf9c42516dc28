"""Frames: what is drawn of an answer at every layer and with every centring; frames.js shows one of them."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from components.exhibits.control import Control, State
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Analysis


def frames(
    draw: Callable[[State], Sequence[Any]], controls: Iterable[Control[Any]], analysis: Analysis, state: State
) -> list[dict[str, Any]]:
    """Draw once for each value of ``controls``, else in ``state``; each part has ``values``, and ``at``."""
    looks = product(CENTRINGS, range(analysis.layers + 1))
    states = [{**state, LAYER.key: layer, CENTRED.key: centring} for centring, layer in looks]
    keys = [tuple(control.of(seen) for control in controls) for seen in states]
    drawn = {key: draw(seen) for key, seen in dict(zip(keys, states, strict=True)).items()}
    each = zip(*(drawn[key] for key in keys), strict=True)
    columns = ((column, list(dict.fromkeys(column))) for column in each)
    return [{"values": values, "at": [values.index(one) for one in column]} for column, values in columns]


def frames_json(parts: Sequence[Any], analysis: Analysis, answered: str = "") -> str:
    """All frames as frames.js takes them; ``answered`` is the key of the answer that they are of."""
    return json.dumps({"answered": answered, "last": analysis.layers, "centrings": CENTRINGS, "parts": parts})
