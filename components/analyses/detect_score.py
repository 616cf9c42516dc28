"""The score detective: ways to make a score of a text or a pair, and which of them gave one."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from components.analyses.detect import NAMED, SERVING, quoted
from components.analyses.registry import Backbone, Check, Cost, Prepared, analysis, measuring
from components.analyses.vectors import BESIDE, FORM, PRINTED, parsed
from components.errors import PoolscopeError
from components.model.query import Asked
from components.texts import Sentence
from components.types import Query, as_json, plain

FIELD = "scores"
TEXTS, NUMBERS = 16, 64  # that are held against each other; numbers of one text
KNOWN = PRINTED["scores"]
ONE = "softmax_one"
CHANCE = 0.01  # ways that give a score by chance, at most, where one is named
RANKED = frozenset({"index", "corpus_id"})  # keys of a result of a ranking: it is of a document
LARGEST = 1e30
HEATED = 3  # things that a temperature counts for, since there are so many


@dataclass(frozen=True)
class ScoreWay:
    """A way to make a score: encoding, token, path through the head, activation. docs/api.md lists values.

    ``special_tokens``: whether the tokenizer's own were added, None where it has none; ``ended``: whether an
    end token was. ``between``: what stood between two texts in one string, else before the second.
    ``truncated``: to how many tokens, None for all; ``kept``: what was left. ``temperature``: what logits
    were divided by. ``labels``: whose numbers these are; () for all in the model's order, or each text's own.
    """

    order: Literal["given", "swapped"] = "given"
    joined: Literal["pair", "one", "first", "second", "apart", "chat", "alone"] = "pair"
    segments: Literal["kept", "zero"] = "kept"
    special_tokens: bool | None = True
    ended: bool = False
    between: str = ""
    truncated: int | None = None
    kept: Literal["start", "end", "first", "second"] = "start"
    token: str = "native"
    head: str = "whole"
    precision: str = ""
    activation: str = ""
    temperature: float = 1.0
    labels: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of what was done otherwise than here, in the order in which it happens."""
        named = {
            "swapped": self.order == "swapped",
            self.joined: self.joined not in ("pair", "alone"),
            "between": bool(self.between) and self.joined == "pair",
            "zero": self.segments == "zero",
            "no_special": self.special_tokens is False,
            "ended": self.ended,
            f"kept_{self.kept}": self.truncated is not None,
            f"token_{self.token}": self.token != "native",
            self.head: self.head != "whole",
            self.precision: bool(self.precision),
            "temperature": self.temperature != 1,
        }
        return tuple(name for name, done in named.items() if done)

    @property
    def changes(self) -> int:
        """Number of these."""
        return len(self.keys) + (HEATED - 1) * (self.temperature != 1)

    def said(self) -> Sentence:
        """Say the way in words."""
        values = {"between": repr(self.between), "count": self.truncated, "temperature": self.temperature}
        parts = [Sentence(f"score.{key}", **values) for key in self.keys or ("as_here",)]
        parts += [Sentence(f"score.{self.activation}")] if self.activation else []
        parts += [Sentence("score.labels", labels=self.labels)] if self.labels else []
        return Sentence("detect.way", parts=tuple(parts))

    def settings(self) -> tuple[Sentence, ...]:
        """Tell what servers and libraries have to be set to, of each thing that was done, and the output."""
        done = [*self.keys, *([] if self.activation == "cosine" else [self.activation])]
        names = dict.fromkeys(SERVING["set"].get(one, one.partition("_")[0]) for one in done)
        return tuple(Sentence(f"score.set_{name}") for name in names)


@dataclass(frozen=True)
class Scored:
    """A way with the ``scores`` that it gives of each text, held against those that are asked about.

    ``error``: the largest difference; ``fits``: whether rounding and arithmetic explain it. ``changes``: what
    is done otherwise than here. ``chance``: how many ways with no more would come as near to others.
    """

    way: ScoreWay
    scores: tuple[tuple[float, ...], ...]
    error: float
    changes: int
    chance: float
    fits: bool

    @property
    def sure(self) -> bool:
        """Tell whether it fits, and not by chance."""
        return self.fits and self.chance < CHANCE

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return {**plain(asdict(self.way)), **as_json(self, "scores error changes chance fits")}


@dataclass(frozen=True)
class DetectedScore:
    """Ways that gave scores of so many ``texts``: the best ten ``candidates`` and all that fit.

    ``tried``: how many ways give different scores; ``fitting``: how many fit. ``more``: how many scores of
    other texts would make the best sure, or 0. ``ones``: whether each score is 1. ``trained``: whether the
    checkpoint holds its head.
    """

    candidates: tuple[Scored, ...]
    tried: int
    fitting: int
    texts: int
    more: int
    ones: bool
    trained: bool
    warnings: tuple[Sentence, ...]

    @property
    def match(self) -> Scored | None:
        """The one with the fewest changes; None where none is sure."""
        return next((one for one in self.candidates if one.sure), None)

    @property
    def ties(self) -> tuple[Scored, ...]:
        """All others that cannot be told from the match; with no more changes, by chance or not."""
        if (best := self.match) is None:
            return ()
        others = (one for one in self.candidates if one is not best and one.fits)
        same = best.scores
        return tuple(one for one in others if one.sure or one.scores == same or one.changes <= best.changes)

    @property
    def says(self) -> tuple[Sentence, ...]:
        """Say what was found, the verdict first."""
        best, first = self.match, self.candidates[0]
        if self.ones and best is None:
            return (Sentence("score.ones"),)
        if best is None and self.fitting:
            values = {"chance": str(round(first.chance) or f"{first.chance:.1g}"), "way": first.way.said()}
            further = Sentence("score.further" if self.more else "score.digits", count=self.more)
            return Sentence("score.unsure", count=self.fitting, **values), further
        if best is None:
            scores = tuple(f"{score:.4g}" for row in first.scores for score in row)
            maybe = Sentence("score.maybe" if self.trained else "score.untrained")
            return Sentence("score.unmatched", way=first.way.said(), scores=scores), maybe
        alike = [best, *(one for one in self.ties if one.changes <= best.changes)]
        others = [one for one in self.ties if one.changes > best.changes]
        ways, more = (quoted(one.way.said() for one in each) for each in (alike, others))
        verdict = "score.open" if len(alike) > 1 else "score.match"
        said = [Sentence(verdict, count=self.texts, way=best.way.said(), ways=ways)]
        said += [Sentence("score.also", count=len(others), ways=more)] if others else []
        said.append(Sentence("score.chance", tried=self.tried, chance=f"{best.chance:.1g}"))
        settings = (each for one in alike[:NAMED] for each in one.way.settings())
        return (*said, *dict.fromkeys(settings))

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        first = plain(self.candidates[:10])
        return as_json(self, "match ties candidates tried says warnings", candidates=first)


def to_scores(given: object) -> tuple[tuple[Mapping[str, Any], tuple[float, ...], int, tuple[str, ...]], ...]:
    """Read scores of one text in any form, or of several: objects with ``text``, ``text_pair`` and scores.

    Gives for each the texts, if it has its own, the scores, the decimals that were printed, or -1, and names.
    """
    value = parsed(given, FIELD)
    lists = [one for one in value.values() if isinstance(one, list)] if isinstance(value, Mapping) else []
    rows = (one for one in lists if one and all(isinstance(row, Mapping) and "index" in row for row in one))
    value = next(rows, value)  # of a server's answer, the results of a ranking
    every = [_with_texts(one) for one in (value if isinstance(value, list) else [value])]
    named = [one for one in every if isinstance(one, Mapping) and one.get("text") is not None]
    count = Sentence("errors.count", count=len(every))
    ranked = [one for one in every if isinstance(one, Mapping) and one.keys() & RANKED]
    fewest = len(every) if len(ranked) > 1 else 0  # results of a ranking tell nothing without their texts
    if len(named) not in (fewest, len(every)) or len(named) > TEXTS:
        raise PoolscopeError(FIELD, count, "errors.scores_texts", most=TEXTS)
    keys = ("text_pair" if one.keys() & RANKED else "text" for one in named)
    pairs = zip(keys, named, strict=True)
    texts = [{"text_pair": one.get("text_pair") or "", key: one["text"]} for key, one in pairs] or [{}]
    found = [(text, *_scores(one)) for text, one in zip(texts, named or (value,), strict=True)]
    if len({(len(scores), bool(text.get("text_pair"))) for text, scores, _ in found}) > 1:
        raise PoolscopeError(FIELD, count, "errors.scores_alike")
    words = _words(given) if isinstance(given, str) and not named else []
    plainly = (word for word, number in words if number in found[0][1] and "e" not in word.lower())
    decimals = max((len(word.partition(".")[2]) for word in plainly if "." in word), default=-1)
    return tuple((text, scores, decimals, names) for text, scores, names in found)


def _with_texts(value: Any) -> Any:
    """An object with texts by other names, as a ranking has documents, with ``text`` and ``text_pair``."""
    if isinstance(value, Mapping) and value.keys() & RANKED and "text" not in value:
        texts = (value.get(name) for name in KNOWN["documents"])
        texts = (one.get("text") if isinstance(one, Mapping) else one for one in texts)
        return {**value, "text": next((one for one in texts if isinstance(one, str)), None)}
    names = dict.fromkeys(KNOWN["pairs"][0], "text") | dict.fromkeys(KNOWN["pairs"][1], "text_pair")
    known = isinstance(value, Mapping) and len(value.keys() & names.keys()) == 2 and "text" not in value
    return {names.get(name, name): one for name, one in value.items()} if known else value


def _scores(value: object) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The scores of one text, every number or those that are called so, and their names."""
    found = [*_numbers(value)]
    found = [one for one in found if one[1]] or found
    numbers = tuple(number for _, _, number in found)
    if not 0 < len(numbers) <= NUMBERS or not all(map(math.isfinite, numbers)):
        raise PoolscopeError(FIELD, str(value)[:80], "errors.scores", most=NUMBERS)
    return numbers, tuple(name for name, _, _ in found)


def _numbers(value: object) -> Iterator[tuple[str, bool, float]]:
    """Every number in a JSON value or a text: its name, whether it is called a score, and itself."""
    unseen = [("", False, value)]
    while unseen:
        name, called, one = unseen.pop()
        if isinstance(one, str):
            yield from ((name, called, number) for number in _printed(one))
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield name, called, float(one) if abs(one) < LARGEST else math.inf
        elif isinstance(one, Mapping):
            kept = [key for key in one if str(key) not in (*BESIDE, *KNOWN["beside"])]
            named = [key for key in kept if re.search(KNOWN["called"], str(key))]
            again = [key for key in kept if any(one[top] in _several(one[key]) for top in named)]
            label = one.get("label", one.get("class_name"))  # as Elastic calls it
            inner = (
                (str(key if label is None else label), one[key]) for key in reversed(again or named or kept)
            )
            unseen += ((label, called or bool(named), each) for label, each in inner)
        elif isinstance(one, list | tuple):
            unseen += ((name, called, each) for each in reversed(one))


def _several(value: object) -> list[float]:
    """Give the numbers of several labels: in a list or an object, or in the objects that it holds."""
    inner = [*value.values()] if isinstance(value, Mapping) else value if isinstance(value, list) else []
    each = (one.values() if isinstance(one, Mapping) else (one,) for one in inner if len(inner) > 1)
    return [number for numbers in each for number in numbers if isinstance(number, float)]


def _printed(text: str) -> list[float]:
    """The numbers that a text calls scores, else those in brackets, else all; among words, none of places."""
    text = re.sub(KNOWN["quoted"], "", text)
    called = "\n".join(re.findall(KNOWN["called"] + KNOWN["follows"], text))
    inside = "\n".join(group for group in FORM["group"].findall(text) if "." in group)
    words = next(filter(None, map(_words, (called, inside, text))), [])
    broken = [number for word, number in words if not word.lstrip("+-").isdecimal()]
    return broken if broken and re.search(r"[^\W\d_eE]", text) else [number for _, number in words]


def _words(text: str) -> list[tuple[str, float]]:
    """Find the numbers in a text, as they are printed and as they are read."""
    text = re.sub(KNOWN["place"], "", text).replace("\N{MINUS SIGN}", "-")
    text = text if re.search(r"\.\d", text) else re.sub(KNOWN["comma"], r"\1.\2", text)
    text = re.sub(KNOWN["share"], lambda share: str(Decimal(share[1]).scaleb(-2)), text)
    return [(word, float(word)) for word in re.findall(KNOWN["number"], text)]


def _given(check: Check, query: Query, _longest: int, scores: str | list[Any]) -> Prepared:
    every = ((check(replace(query, **text)), tuple(scored)) for text, *scored in to_scores(scores))
    each = tuple(dict.fromkeys(every))  # once: the same again tells no more
    return tuple(asked for asked, _ in each), {"scores": tuple(scored for _, scored in each)}


@analysis("scores backbone text text_pair", Cost(20, several=True), _given)
def detect_score(
    backbone: Backbone, asked: Sequence[Asked], scores: Sequence[tuple[Sequence[float], int, Sequence[str]]]
) -> DetectedScore:
    """Find which encoding, token, path through the head and activation made a score; or that none did.

    ``match`` is null where no way gives the scores, or where so many are tried that chance alone may explain
    one that does. ``ties`` give the same. Of several texts the way is sought that gives all scores.
    """
    found: DetectedScore = measuring("detect_score").found(backbone, [one.query for one in asked], scores)
    return found
