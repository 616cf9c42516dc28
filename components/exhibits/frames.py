"""Frames: what is drawn of an answer at every layer and with every centring; frames.js shows one of them."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from components.exhibits.control import Control, State, Value
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Analysis

Part = dict[str, Any]  # of what is drawn: its distinct "values", and "at": which of them each frame has
MEMBER = re.compile(r'(?<=[\]}],)(?=")')  # where a member of an object follows an array or an object


def frames(
    draw: Callable[[State], Sequence[Any]], controls: Iterable[Control[Any]], analysis: Analysis, state: State
) -> list[Part]:
    """Each part of what is drawn, once for each value of ``controls``; ``state`` says what else is set."""
    drawn: dict[tuple[Value, ...], Sequence[Any]] = {}
    each: list[Sequence[Any]] = []
    for centring, layer in product(CENTRINGS, range(analysis.layers + 1)):
        seen = {**state, LAYER.key: layer, CENTRED.key: centring}
        key = tuple(control.of(seen) for control in controls)
        if key not in drawn:
            drawn[key] = draw(seen)
        each.append(drawn[key])
    return [_part(column) for column in zip(*each, strict=True)]


def _part(column: Sequence[Any]) -> Part:
    values = list(dict.fromkeys(column))
    return {"values": values, "at": [values.index(one) for one in column]}


def members(part: Part) -> list[Part]:
    """The JSON of a figure in parts that follow each other: most are the same in all frames."""
    cut = [MEMBER.split(value) for value in part["values"]]
    if len({len(pieces) for pieces in cut}) > 1:
        return [part]
    return [_part([cut[place][number] for place in part["at"]]) for number in range(len(cut[0]))]


def frames_json(parts: Sequence[Part], analysis: Analysis, answered: str = "") -> str:
    """All frames as frames.js takes them; ``answered`` is the key of the answer that they are of."""
    last = analysis.layers
    return json.dumps({"answered": answered, "last": last, "centrings": CENTRINGS, "parts": parts})
