"""Words for what is looked at: tokens, layers, numbers, what was asked, and the link that asks it alone."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Self
from urllib.parse import urlencode

import numpy as np
from markupsafe import Markup

from components.exhibits.control import Choice, Control, State, Text, Whole
from components.texts import Texts, environment
from components.types import Analysis, Bools, Centring, Floats, Query, Tokens

INSIDE = "##"  # what vocabularies put before a piece that continues a word; in a row of tokens it stays
MARKS = (INSIDE, "Ġ", "▁")  # and before one that follows a space
APART = re.compile(r"(?<=\d) (?=%|pp\b)")  # between a number and its unit: no line begins with that
FIRST_HEBREW = "\u0590"  # the block before which no script is written from the right to the left
_RIGHT_TO_LEFT = frozenset({"R", "AL", "RLE", "RLO", "RLI"})


def labels_of(analysis: Analysis) -> tuple[str, ...]:
    """A readable label for each of the T tokens of an answer, not escaped."""
    return token_labels(analysis.tokens, (analysis.query.text, analysis.query.text_pair))


@lru_cache(16)  # of answers that are drawn: each exhibit of one asks for them
def token_labels(tokens: Tokens, texts: tuple[str, ...]) -> tuple[str, ...]:
    """A readable label for each of the T tokens of ``texts``, not escaped.

    ASCII pieces keep their vocabulary form. Others show the characters that they stand for, since
    byte-level vocabularies spell these in a code of their own; pieces of one character are numbered.
    """
    pieces: list[tuple[str, object]] = []  # a label, and what neighbours share that spell one character
    places = zip(tokens.segment.tolist(), tokens.span.tolist(), strict=True)
    for index, (raw, (segment, (start, end))) in enumerate(zip(tokens.text, places, strict=True)):
        surface = texts[segment][start:end].strip() if segment >= 0 else ""
        plain = not surface or raw in MARKS or raw.removeprefix(mark(raw)).isascii()
        pieces.append((raw, index) if plain else (mark(raw) + surface, (segment, start, end)))
    labels: list[str] = []
    for _, group in groupby(pieces, key=itemgetter(1)):
        every = [label for label, _ in group]
        if len(every) > 1:
            every = [f"{label} {part}/{len(every)}" for part, label in enumerate(every, start=1)]
        labels += map(visible, every)
    return tuple(labels)


def mark(raw: str) -> str:
    """The vocabulary's mark before ``raw``, or ""."""
    return next((mark for mark in MARKS if raw.startswith(mark) and raw != mark), "")


def word(label: str, kept: str = "") -> str:
    """``label`` as it stands in a sentence: without the vocabulary's mark, unless that is ``kept``."""
    return label if mark(label) == kept else label.removeprefix(mark(label))


def visible(text: str) -> str:
    """``text`` with every character that cannot be seen spelled as its code point, U+200B for example."""
    shown = text
    if not text.isprintable():
        shown = "".join(one if one.isprintable() else f"U+{ord(one):04X}" for one in text)
    if shown and unicodedata.category(shown[0]).startswith("M"):
        shown = "◌" + shown  # a combining mark needs something to stand on
    if right_to_left(shown):
        shown = f"\u2068{shown}\u2069"  # isolated, so that what stands beside it keeps its order
    return shown


def right_to_left(text: str) -> bool:
    """Tell whether a character of ``text`` is of a script that is written from the right to the left."""
    if max(text, default="") < FIRST_HEBREW:
        return False  # as most are: a look at each character takes longer
    return any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text)


def one_vector(poolings: Iterable[str]) -> str:
    """The name of a vector that several poolings give, not escaped: "native = cls"."""
    return " = ".join(map(visible, poolings))


def shorten(label: str, limit: int = 24) -> str:
    """``label`` in at most ``limit`` characters."""
    return label if len(label) <= limit else label[: limit - 1] + "…"


def listed(names: Sequence[str], most: int, say: Texts) -> str:
    """The names in a row, or that there are none; of more than ``most`` the others are counted."""
    if not names:
        return say("questions.none")
    shown, rest = say.listed(names[:most]), len(names) - most
    return say("list.more", names=shown, count=rest) if rest > 0 else shown


def width(label: str) -> int:
    """Width of ``label`` in narrow characters; East Asian ones count twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in label)


MOST_LAYERS = 1000
TEXT = 120  # characters of a text that an image names
LIGHT = 200_000_000  # multiplications, about, of a matrix of each layer with a text as often as it has tokens

LAYER = Control("layer", Whole(-1, MOST_LAYERS), -1, "view.layer")  # -1: the last
POOL_LAYER = Control("pool_layer", Whole(-1, MOST_LAYERS), -1, "question.pool_layer")  # -1: the last
CENTRINGS: tuple[Centring, ...] = ("plain", "centred", "standardised")
HOW = Choice(CENTRINGS, ("view.plain", "view.centred", "view.standardised"))
CENTRED = Control[Centring]("centred", HOW, "plain", "view.centring", "view.centring_info")
LABEL = Control("label", Text(), "", "view.label")  # of those of an answer; "": the one that the model says


@dataclass(frozen=True, eq=False)
class View:
    """A layer of an analysis, and what is done to hidden states before their cosine. L layers, T tokens.

    ``names``: of the tokens, where they are not called by their own labels.
    """

    analysis: Analysis
    layer: int
    centring: Centring = "plain"
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, analysis: Analysis, state: State) -> Self:
        """An analysis as ``state`` says to look at it; at the last layer where it has no such layer."""
        layer, last = LAYER.of(state), analysis.layers
        return cls(analysis, layer if 0 <= layer <= last else last, CENTRED.of(state))

    @property
    def by_layer(self) -> Floats:
        """Similarities at every layer: (L + 1, T) in [-1, 1]."""
        return self.analysis.cosines(self.centring)

    @property
    def similarity(self) -> Floats:
        """Similarities at the layer under study: (T,) in [-1, 1]."""
        return np.asarray(self.by_layer[self.layer])

    @property
    def bands(self) -> Floats:
        """Bands of what is ordinary of this reference: (L + 1, 3) low, median, high."""
        return self.analysis.ordinary.of(self.centring)

    @property
    def band(self) -> tuple[float, ...]:
        """The band at the layer under study: low, median, high."""
        return tuple(self.bands[self.layer].tolist())

    @property
    def areas(self) -> Floats:
        """Share of pairs in which a token is more like the reference than others': (L + 1,) in [0, 1]."""
        return self.analysis.area.of(self.centring)

    @property
    def above(self) -> list[int]:
        """The tokens that are more like the reference than is ordinary at the layer under study."""
        return [index for index in self.others if self.similarity[index] > self.bands[self.layer, 2]]

    @property
    def others(self) -> list[int]:
        """The tokens that are compared with the reference: all but itself."""
        return [index for index in range(len(self.analysis.tokens.text)) if index != self.analysis.reference]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A readable label for each of the T tokens, not escaped."""
        return self.names or labels_of(self.analysis)

    @property
    def is_pair(self) -> bool:
        """Tell whether tokens of a second text are there."""
        return bool((self.analysis.tokens.segment == 1).any())


def light(analysis: Analysis) -> bool:
    """Tell whether an input as long and a model as large run a hundred times in a few tenths of a second."""
    return len(analysis.tokens.text) ** 2 * analysis.layers * len(analysis.pooled) ** 2 <= LIGHT


def indices(mask: Bools) -> list[int]:
    """Places where ``mask`` holds."""
    return list[int](np.flatnonzero(mask).tolist())


def yes_or_no(holds: bool, say: Texts) -> str:
    """Say as tables do whether something holds."""
    return say("table.yes" if holds else "table.no")


def reference_name(view: View, say: Texts) -> str:
    """Name what the tokens are compared with, not escaped, without vocabulary marks: "[CLS]" for example."""
    reference = view.analysis.reference
    if reference is None:
        return say("similarity.pooled")
    token = word(view.labels[reference])
    if view.analysis.query.reference != "cls":
        return say("similarity.token", index=reference, token=token)
    special = view.analysis.tokens.special[reference]
    return say("similarity.special" if special else "similarity.stand_in", token=token)


def layer_name(view: View, say: Texts) -> str:
    """The layer under study in words: "layer 2 of 6"."""
    key = "layer" if view.layer else "embeddings"
    return say(f"similarity.{key}", layer=view.layer, last=view.analysis.layers)


def pooling_name(analysis: Analysis, say: Texts) -> str:
    """The pooling by its key, not escaped, with the layer that it pools where that is not the last."""
    pooling, layer = visible(analysis.query.pooling), analysis.pool_layer
    return say("view.pooled_layer", pooling=pooling, layer=layer) if analysis.lower else pooling


def asked_line(analysis: Analysis, say: Texts) -> str:
    """Say in one line what was asked, not escaped."""
    query = analysis.query
    return say(
        "away.about_pair" if query.text_pair else "away.about",
        backbone=visible(analysis.backbone.said(say)),
        pooling=pooling_name(analysis, say),
        head=say(f"away.head_{query.head}", task=visible(say.name(query.task))),
        text=shorten(visible(query.text), TEXT),
        text_pair=shorten(visible(query.text_pair), TEXT),
    )


def facts(analysis: Analysis, state: State, asked: str, say: Texts) -> dict[str, str]:
    """Facts of what was asked of which model and how it is looked at, by name, not escaped, the text first.

    ``asked``: what the model is, in a line.
    """
    view, query = View.of(analysis, state), analysis.query
    pair = {say("question.pair"): query.text_pair} if query.text_pair else {}
    return {
        say("question.text"): query.text,
        **pair,
        say("question.backbone"): asked,
        say("question.pooling"): pooling_name(analysis, say),
        say("question.head"): say(f"away.head_{query.head}", task=query.task),
        say("view.layer"): layer_name(view, say),
        say("view.reference"): reference_name(view, say),
        say("view.centring"): say(f"view.{view.centring}"),
    }


def number(value: float, digits: int = 2) -> str:
    """A number with a real minus sign, and never "-0.00"."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def percent(probability: float) -> str:
    """A probability in percent; never rounded to a certainty that it is not."""
    value = 100 * float(probability)
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 99.9 < value < 100:
        return "> 99.9 %"
    shown, digits = rounded_percent(probability)
    return f"{shown:.{digits}f} %"


def rounded_percent(probability: float) -> tuple[float, int]:
    """A probability in percent as `percent` shows it, and with how many decimals; its bounds as 0 and 100."""
    value = 100 * float(probability)
    if 1.5 <= value < 98.5 or value in (0, 100):  # no "99 %" beside "99.1 %"
        return float(round(value)), 0
    return (0.0 if value < 0.1 else 100.0 if value > 99.9 else round(value, 1)), 1


def size(shape: tuple[int, ...]) -> str:
    """A shape: "10 × 128"."""
    return " × ".join(map(str, shape)) or "1"


def counted(count: int) -> str:
    """A whole number with its thousands apart."""
    return f"{count:,}"


def token_name(names: Sequence[str], token: int, say: Texts) -> str:
    """A token in a sentence, not escaped, a mark in quotes; which one, where several are called so."""
    name = shorten(word(names[token]), 24)
    apart = all(any(map(str.isalnum, part)) for part in name.split(" → "))
    name = name if apart else say("similarity.stand_in", token=name)
    alike, place = names.count(names[token]), names[: token + 1].count(names[token])
    return name if alike == 1 else say("trace.nth", token=name, place=place)


def render(template: str, say: Texts | None = None, /, **values: object) -> Markup:
    """Fill in assets/templates/<template>.html with ``values``; ``say(key, ...)`` is an escaped sentence.

    Beside these it knows words for what is looked at and, in the language of ``say``, a Sentence that is
    ``said``, names of labels and titles, lists, and what to ``tell`` as a text: a few sentences have a < in
    them. UndefinedError if it names a value that is not given.
    """
    words = (counted, number, percent, shorten, size, visible, word)
    known: dict[str, object] = {one.__name__: one for one in words}
    if say is not None:
        known |= {"said": lambda sentence: visible(sentence.said(say)), "label": say.label, "title": say.name}
        known |= {"listed": partial(listed, say=say), "tell": say, "say": say.html}
    return Markup(APART.sub("\u00a0", environment().get_template(f"{template}.html").render(known, **values)))


LONGEST = 4000  # characters of a link in a cell: a table has hundreds of them, and servers take no long ones


def classify_link(query: Query, say: Texts) -> str:
    """An address of the page, in the language of ``say``, that asks ``query``; "" where it would be too long.

    It names everything that a query holds: what it leaves out would be as on arrival.
    """
    asked = {"lang": say.language.tag, "text": query.text, "pair": query.text_pair}
    asked |= {"backbone": query.backbone, "pooling": query.pooling, "head": query.head}
    if query.head == "probe" and query.task:
        asked["task"] = query.task
    if query.pool_layer != POOL_LAYER.default:
        asked["pool_layer"] = str(query.pool_layer)
    address = "?" + urlencode(asked, errors="replace")
    return address if len(address) <= LONGEST else ""
