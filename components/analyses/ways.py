"""Ways to make a vector of a text, and what to set in servers of embeddings for each: assets/serving.toml."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from components.texts import Sentence
from components.types import as_json

Kept = Literal["start", "end", "last"]
DECLARED = "declared"  # the pooling of all that a checkpoint declares
ENDS: Mapping[Kept, str] = {"start": "", "end": "_end", "last": "_last"}  # of keys
LENGTHS: Mapping[bool | None, str] = {True: "one", False: "own", None: "other"}
FILE = Path(__file__).resolve().parents[2] / "assets" / "serving.toml"


@dataclass(frozen=True)
class Way:
    """A way to make a vector of a text.

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
        """Say the way in words; ``layers``: the number of the model's last."""
        return Sentence("detect.way", parts=(self.pooling, *self.words(layers).values()))

    def pooled(self, layers: int) -> Sentence:
        """Say the same without the length."""
        *parts, _length = self.words(layers).values()
        return Sentence("detect.way", parts=(self.pooling, *parts))

    def words(self, layers: int) -> dict[str, Sentence]:
        """Say each part of it but the pooling, in the order in which they are told, by name."""
        last, special = self.layer == layers, "detect.special" if self.special_tokens else "detect.no_special"
        parts = {
            "dense": Sentence("detect.dense") if self.dense else None,
            "layer": Sentence("detect.last_layer") if last else Sentence("detect.layer", layer=self.layer),
            "special": None if self.special_tokens is None else Sentence(special),
            "truncated": None if self.truncated is None else cut_said(self.truncated, self.kept),
            "prefix": Sentence("detect.prefix", prefix=self.prefix) if self.prefix else None,
            "length": Sentence(f"detect.length_{LENGTHS[self.normalised]}"),
        }
        return {name: part for name, part in parts.items() if part is not None}


def cut_said(truncated: int, kept: Kept) -> Sentence:
    """Say how a text was cut."""
    return Sentence(f"detect.truncated{ENDS[kept]}", count=truncated)


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
    """All that is to be set in a server to get a vector: ``options``, and what of the ``way`` it lacks."""

    server: Server
    way: Way
    options: tuple[str, ...]
    lacks: tuple[Sentence, ...]

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return as_json(self, "engine=server.title options lacks source=server.source")


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
    """Tell what to set in each server to get the one vector that all ``ways`` give; none without a way.

    Of the ways the one is taken of which the server lacks least, the first of several. ``layers``: the number
    of the model's last.
    """
    if not ways:
        return ()
    return tuple(
        min((_setting(server, way, layers) for way in ways), key=lambda one: len(one.lacks))
        for server in load_serving().servers
    )


def _setting(server: Server, way: Way, layers: int) -> Setting:
    said = {"pooling": Sentence("detect.pooling", pooling=way.pooling), **way.words(layers)}
    asked = {  # parts of the way, and the names of their options
        "pooling": "pooling",
        "layer": "layer" if way.layer != layers else "",
        "dense": "dense",
        "special": "no_special_tokens" if way.special_tokens is False else "",
        "truncated": f"truncated{ENDS[way.kept]}",
        "prefix": "prefix",
        "length": {True: "normalised", False: "not_normalised", None: ""}[way.normalised],
    }
    options, lacks = [], []
    for part, name in asked.items():
        option = server.poolings.get(way.pooling) if name == "pooling" else server.options.get(name)
        if not name or part not in said:
            continue
        if option is None:
            lacks.append(said[part])
        elif option:
            options.append(option.format(count=way.truncated, prefix=json.dumps(way.prefix)))
    return Setting(server, way, tuple(options), tuple(lacks))
