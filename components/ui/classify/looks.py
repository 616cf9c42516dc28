"""Looks at an answer, for the browser to choose from: layers, centrings, and references.

They are drawn by the exhibits themselves, and only once somebody goes near the controls: every layer with
every centring from one reference, or every reference at one layer with one centring. All three at once would
be T times as many. References of a long text are asked of the server one by one.
"""

from __future__ import annotations

import json
import pickle
import threading
import zlib
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from typing import TYPE_CHECKING, Any

import gradio as gr

from components.centring import Centring
from components.exhibits.control import State, Value
from components.exhibits.view import CENTRED, CENTRINGS, LAYER, View
from components.texts import Texts
from components.types import Analysis, Query, Reference
from components.ui.places import AT_ONCE, PRIVATE, Place, Updates

if TYPE_CHECKING:
    from components.ui.classify.tab import Classify

MOST = 32  # tokens of a text whose references are all drawn at once: 0.2 MB
KEPT = 4_000_000  # characters of drawings that are kept for whoever asks for the same next


@dataclass(frozen=True, eq=False)
class Looks:
    """What the browser gets at once of the answer ``own``, with all controls of its own as in ``state``.

    ``each``: the same question with a reference, a centring and a layer that it is looked at with.
    ``complete``: the references from which every layer and centring is there. ``around``: at which centrings
    and layers all references are there that are drawn at once.
    """

    own: Analysis
    state: State
    each: Sequence[tuple[Analysis, Centring, int]] = ()
    complete: Sequence[Reference] = ()
    around: Sequence[tuple[Centring, int]] = ()

    @classmethod
    def along(cls, own: Analysis, seen: Analysis, state: State) -> Looks:
        """``seen``, the answer ``own`` from any reference, at every layer and with every centring."""
        each = [(seen, centring, layer) for centring, layer in _layers(seen)]
        return cls(own, state, each, complete=(seen.query.reference,))

    @classmethod
    def across(cls, own: Analysis, seen: Sequence[Analysis], state: State) -> Looks:
        """``own`` from each reference that it is ``seen`` from, as ``state`` looks at it."""
        view = View.of(own, state)
        each = [(one, view.centring, view.layer) for one in seen]
        return cls(own, state, each, around=((view.centring, view.layer),))

    @classmethod
    def none(cls, own: Analysis, state: State) -> Looks:
        """From no other reference, at whichever layer."""
        return cls(own, state, around=tuple(_layers(own)))


class Drawings:
    """What was drawn before, by what it was drawn from: most visitors of a room look at the same answer.

    ``budget`` characters are kept at most; the least recently used leave first. Several threads may draw.
    """

    def __init__(self, budget: int = KEPT) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, str] = OrderedDict()
        self._size = 0

    def get(self, query: Query, drawn_from: object, draw: Callable[[], str]) -> str:
        """What is kept of ``drawn_from``, all that a drawing depends on; else what ``draw`` gives.

        What a visitor's own head says to ``query`` is not kept: it has the labels of their table.
        """
        if query.mine:
            return draw()
        key = blake2b(pickle.dumps(drawn_from), digest_size=32).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        drawing = draw()
        with self._lock:
            self._size += len(drawing) - len(self._kept.pop(key, ""))
            self._kept[key] = drawing
            while self._size > self._budget:
                self._size -= len(self._kept.popitem(last=False)[1])
        return drawing


def connect_looks(tab: Classify, bridge: gr.HTML) -> None:
    """The browser chooses which layer, centring and reference is drawn, once it has been brought.

    What it cannot have so, it asks as a question of its own.
    """
    answer = tab.answer
    others = [part for control, part in answer.looks.items() if control != CENTRED]
    moved: dict[str, Any] = {
        "inputs": [answer.answered, answer.reference, answer.layer, answer.centred],
        "outputs": answer.drawn,
        "trigger_mode": "multiple",
        **PRIVATE,
    }
    given = {answer.shown, answer.answered, answer.reference, answer.layer, *answer.looks.values()}
    brought: dict[str, Any] = {"inputs": given, "outputs": answer.packed}
    asked = {**brought, "concurrency_id": "model", **PRIVATE}
    called = f"(...given) => window.looks.{{}}({len(answer.drawn)}, ...given)"
    for coming in (
        gr.on([bridge.expand, *(part.input for part in others)], tab.look, **brought, **AT_ONCE),
        bridge.select(tab.look_around, **asked),
        bridge.like(tab.look_from, **asked),
    ):
        came = {**moved, "inputs": [answer.packed, *moved["inputs"]]}
        coming.then(None, js=called.format("came"), **came)
    chosen = [answer.layer.input, answer.centred.input, answer.reference.blur]  # as the other menus are
    gr.on(chosen, None, js=called.format("moved"), **moved)


def key_of(analysis: Analysis) -> str:
    """What an answer goes by in the browser: answers with the same key look the same."""
    cosines = (analysis.cosines(centring).tobytes() for centring in CENTRINGS)
    parts = (repr(analysis.query).encode("utf-8", "surrogatepass"), *cosines)
    return blake2b(b"".join(parts), digest_size=12).hexdigest()


def references_of(analysis: Analysis) -> list[Reference]:
    """What tokens can be compared with."""
    return ["cls", "pooled", *range(len(analysis.tokens.text))]


def packed(places: Sequence[Place], looks: Looks, say: Texts) -> str:
    """What each part of ``places`` holds at each look, as JSON, deflated, in base64.

    ``parts``: for each part its values, each once, and ``at``: which of them it has at each look. ``besides``
    changes with what looks depend on besides layer, centring and reference.
    """
    parts = [part(values) for place in places for values in _values(place, looks, say)]
    besides = ((key, value) for key, value in looks.state.items() if key not in (LAYER.key, CENTRED.key))
    found = {
        "answered": key_of(looks.own),
        "own": str(looks.own.query.reference),
        "besides": repr(sorted(besides)),
        "last": looks.own.layers,
        "looks": [f"{seen.query.reference} {centring} {layer}" for seen, centring, layer in looks.each],
        "complete": list(map(str, looks.complete)),
        "around": [f"{centring} {layer}" for centring, layer in looks.around],
        "parts": parts,
    }
    return deflated(found)


def part(values: Sequence[str]) -> dict[str, list[Any]]:
    """The values that a part of the page has: each once, and ``at`` which of them it has when."""
    distinct = list(dict.fromkeys(values))
    places = {value: place for place, value in enumerate(distinct)}
    return {"values": distinct, "at": [places[value] for value in values]}


def deflated(found: Mapping[str, Any]) -> str:
    """What a browser is brought: JSON, deflated, in base64."""
    return b64encode(zlib.compress(json.dumps(found).encode())).decode("ascii")


def _layers(analysis: Analysis) -> Iterator[tuple[Centring, int]]:
    return product(CENTRINGS, range(analysis.layers + 1))


def _values(place: Place, looks: Looks, say: Texts) -> list[list[Any]]:
    """For each part of a place its value at each look; what does not depend on all of it is drawn once."""
    drawn: dict[tuple[Reference | Value, ...], Updates] = {}
    at_each: list[Updates] = []
    for analysis, centring, layer in looks.each:
        state = {**looks.state, LAYER.key: layer, CENTRED.key: centring}
        key = (analysis.query.reference, *(control.of(state) for control in place.exhibit.controls))
        if key not in drawn:
            drawn[key] = place.show(place.exhibit.shown(analysis, state, say), say)
        at_each.append(drawn[key])
    return [[updates[one] for updates in at_each] for one in place.parts]
