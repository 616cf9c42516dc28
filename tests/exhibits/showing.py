"""What is shown, as a reader or a spreadsheet finds it."""

import csv
import io
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from components.analyses.anatomy import Anatomy, Lens
from components.exhibits.draw import Figure
from components.exhibits.exhibit import Exhibit, Shown, to_csv
from components.texts import load_texts
from components.types import Analysis, Query, Reads
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))


def analysis(backbone: str = "first", text: str = "not good", text_pair: str = "", **asked: Any) -> Analysis:
    """A made-up answer."""
    return FakeAnalyst().ask("analyze", Query(backbone, text, text_pair, **asked))


def anatomy(backbone: str = "first", text: str = "not good", text_pair: str = "", **asked: Any) -> Anatomy:
    """The same with its head taken apart."""
    return FakeAnalyst().ask("anatomy", Query(backbone, text, text_pair, **asked))


def lens(given: Anatomy) -> Lens:
    """Answers of a head of hidden states, where it can be asked."""
    assert isinstance(given.lens, Lens)
    return given.lens


def reading(given: Analysis, *positions: int) -> Analysis:
    """The same answer, of which these tokens are read alike."""
    read = np.isin(np.arange(len(given.tokens.text)), positions)
    return replace(given, reads=Reads(read, (read / max(1, len(positions))).astype(np.float32)))


def sharing(given: Analysis, share: Sequence[float], read: Sequence[int], wins: Any = None) -> Analysis:
    """The same answer, whose first tokens have these shares, of which some are read; the others have none."""
    total = len(given.tokens.text)
    shares = np.pad(np.array(share, dtype=np.float32), (0, total - len(share)))
    counts = None if wins is None else np.array(wins, dtype=np.int64)
    return replace(given, reads=Reads(np.isin(np.arange(total), read), shares, counts))


def saying(given: Analysis, *probabilities: float, **more: Any) -> Analysis:
    """The same answer with these outputs."""
    return replace(given, probabilities=np.array(probabilities, dtype=np.float32), **more)


def lower(layer: int, **asked: Any) -> Analysis:
    """An answer to the mean vector of a layer."""
    given = analysis(pooling="mean", **asked)
    return replace(given, query=replace(given.query, pool_layer=layer))


def leaning(given: Anatomy, *positive: float) -> Anatomy:
    """The same head, which gives its second label these probabilities, from the embeddings up."""
    return layered(given, np.array([[1 - one, one] for one in positive], dtype=np.float32))


def layered(given: Anatomy, pooled: np.ndarray) -> Anatomy:
    """The same head with these probabilities of its labels, (L + 1, K)."""
    found = replace(lens(given), pooled_probabilities=pooled)
    return replace(given, analysis=replace(given.analysis, probabilities=pooled[-1]), lens=found)


def drawn(exhibit: Exhibit[Any], given: Any, **state: Any) -> go.Figure:
    """What an exhibit draws of an answer."""
    return checked(exhibit.show(given, state, SAY).figure)


def rows(shown: Shown) -> list[list[str]]:
    """The numbers of an exhibit as a spreadsheet reads them, the titles of the columns first."""
    assert shown.data is not None
    return list(csv.reader(io.StringIO(to_csv(shown.data), newline=""), strict=True))


def records(shown: Shown) -> list[dict[str, str]]:
    """The same, each row by the titles of the columns."""
    titles, *found = rows(shown)
    return [dict(zip(titles, row, strict=True)) for row in found]


def saved(html: str) -> str:
    """The file behind the only link of ``html`` that saves one."""
    (data,) = re.findall(r'href="data:text/csv,([^"]+)"', html)
    return unquote_to_bytes(data).decode("utf-8-sig")


def checked(figure: Figure | None) -> go.Figure:
    """What plotly.js draws, each value checked by plotly's own classes; ValueError where one is wrong."""
    assert figure is not None
    made = json.loads(figure.to_json())
    assert {one["type"] for one in made["data"]} <= {"scatter", "bar", "heatmap"}  # which reports can draw
    return go.Figure(made)


def numbers(cells: list[str]) -> list[float]:
    return [float(cell) for cell in cells]


def plain(html: str) -> str:
    """Text without its markup, each space a plain one."""
    return unescape(re.sub(r"<[^>]+>", "", html)).replace("\u00a0", " ")


class Document(HTMLParser):
    """Parts of HTML that a browser would load, run and show: ``links`` lead to no saved table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._tags: list[str] = []
        self._given: list[tuple[str, str | None]] = []
        self.figures: dict[str, Any] = {}
        self.text, self._figure = "", None
        self.feed(html)
        self.tags, self.attributes = set(self._tags), {name for name, _ in self._given}
        loaded = [one or "" for name, one in self._given if name in ("src", "href", "srcset", "action")]
        self.links = [address for address in loaded if not address.startswith("data:text/csv,")]
        self.tables = len(loaded) - len(self.links)
        self.handlers = [name for name, _ in self._given if name.startswith("on")]
        self.scripts = self._tags.count("script") - len(self.figures)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tags.append(tag)
        self._given += attrs
        self._figure = dict(attrs).get("data-figure", "" if tag in ("script", "style") else None)

    def handle_endtag(self, _tag: str) -> None:
        self._figure = None

    def handle_data(self, data: str) -> None:
        if self._figure:
            self.figures[self._figure] = json.loads(data)
        elif self._figure is None:
            self.text += f" {data}".replace("\u00a0", " ")


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, from 1 to 21, as WCAG 2 defines it."""
    parts = np.array([hex_to_rgb(one), hex_to_rgb(other)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    low, high = sorted((linear @ (0.2126, 0.7152, 0.0722)).tolist())
    return float((high + 0.05) / (low + 0.05))
