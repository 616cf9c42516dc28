"""Frames: the answer at every layer and with every centring, for the browser to draw the one that is chosen.

The exhibits draw them once for each answer; the browser keeps them, so a step of the layer asks no server.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

import gradio as gr
from cachetools import LRUCache

from components.exhibits.control import State, Value
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.texts import Texts
from components.types import Analysis
from components.ui.places import PRIVATE, Place, Updates

SCRIPT = Path(__file__).with_name("frames.js")
KEPT = 4_000_000  # characters of frames that are kept for whoever asks for the same next


def key_of(analysis: Analysis) -> str:
    """Name an answer for the browser: answers with the same key look the same."""
    cosines = (analysis.cosines(centring).tobytes() for centring in CENTRINGS)
    parts = (repr(analysis.query).encode("utf-8", "surrogatepass"), *cosines)
    return blake2b(b"".join(parts), digest_size=12).hexdigest()


def frames_json(places: Sequence[Place], analysis: Analysis, state: State, say: Texts) -> str:
    """Draw what each part of ``places`` holds at each layer and with each centring, as JSON.

    ``parts``: for each part its distinct ``values``, and ``at``: which of them each frame has.
    """
    looks = list(product(CENTRINGS, range(analysis.layers + 1)))
    parts = [values for place in places for values in _values(place, looks, analysis, state, say)]
    found = {"answered": key_of(analysis), "last": analysis.layers, "centrings": CENTRINGS, "parts": parts}
    return json.dumps(found)


def _values(
    place: Place, looks: Sequence[tuple[Any, int]], analysis: Analysis, state: State, say: Texts
) -> list[dict[str, list[Any]]]:
    """Draw one place: each of its parts, with what does not depend on layer or centring drawn once."""
    drawn: dict[tuple[Value, ...], Updates] = {}
    each: list[Updates] = []
    for centring, layer in looks:
        seen = {**state, LAYER.key: layer, CENTRED.key: centring}
        key = tuple(control.of(seen) for control in place.exhibit.controls)
        if key not in drawn:
            drawn[key] = place.show(place.exhibit.shown(analysis, seen, say), say)
        each.append(drawn[key])
    found = []
    for part in place.parts:
        values = list(dict.fromkeys(updates[part] for updates in each))
        found.append({"values": values, "at": [values.index(updates[part]) for updates in each]})
    return found


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames of recent answers: many visitors of a room look at the same one. Several threads may ask."""

    kept: LRUCache[tuple[Any, ...], str] = field(default_factory=lambda: LRUCache(KEPT, getsizeof=len))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, places: Sequence[Place], analysis: Analysis, state: State, say: Texts) -> str:
        """Return the frames of an answer; those of a visitor's own head, with their labels, are not kept."""
        if analysis.query.mine:
            return frames_json(places, analysis, state, say)
        key = key_of(analysis), tuple(sorted(state.items()))
        with self.lock:
            if (found := self.kept.get(key)) is not None:
                return found
        made = frames_json(places, analysis, state, say)
        with self.lock:
            if len(made) <= KEPT:
                self.kept[key] = made
        return made


def connect_frames(
    frames: gr.Textbox, answered: gr.Textbox, layer: gr.Slider, centred: Any, drawn: list[Any]
) -> None:
    """Draw the frame of the layer and the centring that are chosen, in the browser."""
    called = f"(...given) => ({SCRIPT.read_text(encoding='utf-8')})({len(drawn)}, ...given)"
    gr.on(
        [layer.input, centred.input, frames.change],
        None,
        js=called,
        inputs=[frames, answered, layer, centred],
        outputs=drawn,
        trigger_mode="multiple",
        **PRIVATE,
    )
