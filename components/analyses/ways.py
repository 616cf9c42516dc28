"""Ways to make a vector of a text, and what to set in servers of embeddings for each: assets/serving.toml."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from components.texts import Sentence

Kept = Literal["start", "end", "last"]
DECLARED = "declared"  # the pooling of all that a checkpoint declares
TRUNCATED: Mapping[Kept, str] = {"start": "truncated", "end": "truncated_end", "last": "truncated_last"}
FILE = Path(__file__).resolve().parents[2] / "assets" / "serving.toml"


@dataclass(frozen=True)
class Way:
    """One way to make a vector of a text.

    ``layer``: 0 is the embeddings. ``special_tokens``: whether the tokenizer added its own, None where it has
    none to add. ``normalised``: whether the vector's length was set to 1; None where the length of the vector
    that is asked about is neither 1 nor that which this way gives. ``truncated``: behind how many tokens the
    text was cut, None where it was not. ``prefix``: what was put before the text. ``dense``: whether it went
    through the dense layers that the checkpoint declares. ``kept``: what was left where it was cut: the start
    of the text, its end (special tokens stay), or the last of all tokens (special ones in front go as well).
    """

    pooling: str
    layer: int
    special_tokens: bool | None = True
    normalised: bool | None = False
    truncated: int | None = None
    prefix: str = ""
    dense: bool = False
    kept: Kept = "start"

    def said(self, layers: int) -> Sentence:
        """The way in words; ``layers``: the number of the model's last."""
        length = Sentence(f"detect.length_{LENGTHS[self.normalised]}")
        return Sentence("detect.way", parts=(*self._parts(layers), length))

    def pooled(self, layers: int) -> Sentence:
        """The same without the length."""
        return Sentence("detect.way", parts=self._parts(layers))

    def _parts(self, layers: int) -> tuple[object, ...]:
        parts: list[object] = [self.pooling]
        if self.dense:
            parts.append(Sentence("detect.dense"))
        last = self.layer == layers
        parts.append(Sentence("detect.last_layer") if last else Sentence("detect.layer", layer=self.layer))
        if self.special_tokens is not None:
            parts.append(Sentence("detect.special" if self.special_tokens else "detect.no_special"))
        if self.truncated is not None:
            parts.append(cut_said(self.truncated, self.kept))
        if self.prefix:
            parts.append(Sentence("detect.prefix", prefix=self.prefix))
        return tuple(parts)


def cut_said(truncated: int, kept: Kept) -> Sentence:
    """How a text was cut, in words."""
    return Sentence(CUTS[kept], count=truncated)


CUTS: Mapping[Kept, str] = {
    "start": "detect.truncated",
    "end": "detect.truncated_end",
    "last": "detect.truncated_last",
}
LENGTHS: Mapping[bool | None, str] = {True: "one", False: "own", None: "other"}


@dataclass(frozen=True)
class Server:
    """A server or a library. ``poolings``: by our names, its option; ``options``: its other ones, by name."""

    key: str
    title: str
    source: str
    poolings: Mapping[str, str]
    options: Mapping[str, str]


@dataclass(frozen=True)
class Serving:
    """``lengths``: tokens after which texts are often cut, and ``prefixed`` those that have a prefix.

    ``prefixes``: what is often put before a text.
    """

    lengths: tuple[int, ...]
    prefixed: tuple[int, ...]
    prefixes: tuple[str, ...]
    servers: tuple[Server, ...]


@dataclass(frozen=True)
class Setting:
    """What to set in a server to get a vector: ``options``, and what of the ``way`` it has none for."""

    server: Server
    way: Way
    options: tuple[str, ...]
    lacks: tuple[Sentence, ...]

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return {
            "engine": self.server.title,
            "options": list(self.options),
            "lacks": list(map(str, self.lacks)),
            "source": self.server.source,
        }


@cache  # a file of the app
def load_serving() -> Serving:
    """Read the file."""
    read = tomllib.loads(FILE.read_text(encoding="utf-8"))
    servers = []
    for key, entry in read["engines"].items():
        known = dict(entry)
        title, source, poolings = known.pop("title"), known.pop("source"), known.pop("pooling")
        servers.append(Server(key, title, source, poolings, known))
    return Serving(tuple(read["lengths"]), tuple(read["prefixed"]), tuple(read["prefixes"]), tuple(servers))


def settings(ways: Sequence[Way], layers: int) -> tuple[Setting, ...]:
    """What to set in each server to get the one vector that all ``ways`` give; none without a way.

    Of the ways the one is taken of which the server lacks least, the first of several. ``layers``: the number
    of the model's last.
    """
    if not ways:
        return ()
    return tuple(_best(server, ways, layers) for server in load_serving().servers)


def _best(server: Server, ways: Iterable[Way], layers: int) -> Setting:
    every = (_setting(server, way, layers) for way in ways)
    return min(every, key=lambda one: len(one.lacks))


def _setting(server: Server, way: Way, layers: int) -> Setting:
    """The options for one way, in the order in which a text goes through them."""
    options, lacks = [], []
    for name, said in _asked(way, layers):
        option = server.poolings.get(way.pooling) if name == "pooling" else server.options.get(name)
        if option is None:
            lacks.append(said)
        elif option:
            options.append(option.format(count=way.truncated, prefix=json.dumps(way.prefix)))
    return Setting(server, way, tuple(options), tuple(lacks))


def _asked(way: Way, layers: int) -> list[tuple[str, Sentence]]:
    """What a way asks for: the name of the option, and the same in words."""
    asked = [("pooling", Sentence("detect.pooling", pooling=way.pooling))]
    if way.layer != layers:
        asked.append(("layer", Sentence("detect.layer", layer=way.layer)))
    if way.dense:
        asked.append(("dense", Sentence("detect.dense")))
    if way.special_tokens is False:
        asked.append(("no_special_tokens", Sentence("detect.no_special")))
    if way.truncated is not None:
        asked.append((TRUNCATED[way.kept], cut_said(way.truncated, way.kept)))
    if way.prefix:
        asked.append(("prefix", Sentence("detect.prefix", prefix=way.prefix)))
    if way.normalised is not None:
        name = "normalised" if way.normalised else "not_normalised"
        asked.append((name, Sentence("detect.length_one" if way.normalised else "detect.length_own")))
    return asked
