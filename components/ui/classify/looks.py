"""Every look at an answer at once, for the browser to choose from: each layer, with each centring.

They are drawn by the exhibits themselves, and only once somebody goes near the controls. Another reference is
asked of the server: for T tokens there are T times as many looks, and the answer has cosines to one alone.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import gradio as gr

from components.exhibits.control import State, Value
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.texts import Texts
from components.types import Analysis
from components.ui.places import AT_ONCE, PRIVATE, Given, Place, Updates

if TYPE_CHECKING:
    from components.ui.classify.answer import Answer


def connect_looks(answer: Answer, bridge: gr.HTML, look: Callable[[Given], Updates]) -> None:
    """The browser chooses which layer and which centring is drawn, once ``look`` has brought all of them."""
    others = [part for control, part in answer.looks.items() if control != CENTRED]
    moved: dict[str, Any] = {
        "inputs": [answer.packed, answer.answered, answer.layer, answer.centred],
        "outputs": answer.drawn,
        "trigger_mode": "multiple",
        **PRIVATE,
    }
    called = f"(...given) => window.looks.{{}}({len(answer.drawn)}, ...given)"
    gr.on(
        [bridge.expand, *(part.input for part in others)],
        look,
        inputs={answer.shown, *answer.looks.values()},
        outputs=answer.packed,
        **AT_ONCE,
    ).then(None, js=called.format("came"), **moved)
    gr.on([answer.layer.input, answer.centred.input], None, js=called.format("moved"), **moved)


def key_of(analysis: Analysis) -> str:
    """What an answer goes by in the browser: answers with the same key look the same."""
    cosines = (analysis.cosines(centring).tobytes() for centring in CENTRINGS)
    parts = (repr(analysis.query).encode("utf-8", "surrogatepass"), *cosines)
    return blake2b(b"".join(parts), digest_size=12).hexdigest()


def looks_of(analysis: Analysis, state: State) -> Iterator[dict[str, Value]]:
    """States that look at an answer in each way: by centring, then by layer; all else as ``state`` says."""
    for centring in CENTRINGS:
        for layer in range(analysis.layers + 1):
            yield {**state, LAYER.key: layer, CENTRED.key: centring}


def packed(places: Sequence[Place], analysis: Analysis, state: State, say: Texts) -> str:
    """What each part of ``places`` holds at each look, as JSON, deflated, in base64.

    ``parts``: for each part its values, each once, and ``at``: which of them it has at each look.
    """
    parts = [_part(values) for place in places for values in _values(place, analysis, state, say)]
    looks = {
        "answered": key_of(analysis),
        "centrings": CENTRINGS,
        "layers": analysis.layers + 1,
        "parts": parts,
    }
    return b64encode(zlib.compress(json.dumps(looks).encode())).decode("ascii")


def _values(place: Place, analysis: Analysis, state: State, say: Texts) -> list[list[Any]]:
    """For each part of a place its value at each look; what does not depend on all of it is drawn once."""
    drawn: dict[tuple[Value, ...], Updates] = {}
    at_each: list[Updates] = []
    for look in looks_of(analysis, state):
        key = tuple(control.of(look) for control in place.exhibit.controls)
        if key not in drawn:
            drawn[key] = place.show(place.exhibit.shown(analysis, look, say), say)
        at_each.append(drawn[key])
    return [[updates[part] for updates in at_each] for part in place.parts]


def _part(values: list[Any]) -> dict[str, list[Any]]:
    distinct = list(dict.fromkeys(values))
    places = {value: place for place, value in enumerate(distinct)}
    return {"values": distinct, "at": [places[value] for value in values]}
