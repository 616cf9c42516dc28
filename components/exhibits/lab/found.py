"""What was found on a visitor's own table, as the exhibits of the lab need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from components.exhibits.exhibit import Where, hint_html
from components.exhibits.view import one_vector, percent, shorten, visible
from components.fitting import Fit, Ranked, Reached, Score
from components.texts import Texts

UNLINKED: frozenset[Where] = frozenset({"page", "report"})  # no link, nor a step of a talk, holds a table
LEVEL = 0.05  # a corrected p below it counts
NAME = 40  # characters of a backbone's title at most
FIRST = 5  # combinations that are named while others are fitted


@dataclass(frozen=True, eq=False)
class Found:
    """A fit, and the titles of backbones by their keys."""

    fit: Fit
    titles: Mapping[str, str]

    @property
    def best(self) -> Ranked:
        """The combination that is most often right."""
        return self.vectors[0]

    @cached_property
    def vectors(self) -> tuple[Ranked, ...]:
        """The combinations, best first, of which none has the same vectors as another."""
        return tuple(one for one in self.fit.ranking if not one.same_as)

    @property
    def worse(self) -> int:
        """How many vectors are worse than the best one, beyond chance."""
        return sum(one.p_corrected < LEVEL for one in self.vectors[1:])

    @property
    def learned(self) -> bool:
        """Whether the best one beats the most frequent label and shuffled labels, interval and all."""
        return self.best.accuracy.low > max(self.fit.majority, self.fit.shuffled.value)

    def poolings(self, one: Ranked) -> tuple[str, ...]:
        """Every pooling that gives the vectors of ``one``, its own first."""
        where = (one.backbone, one.pooling, one.layer)
        alike = [
            other.pooling
            for other in self.fit.ranking
            if (other.backbone, other.same_as, other.layer) == where
        ]
        return (one.pooling, *alike)

    def name(self, one: Ranked, say: Texts) -> str:
        """Backbone, poolings and layer of a combination, not escaped."""
        layer = one.layer if self.fit.plan.all_layers else None
        return combination(self.titles, one.backbone, self.poolings(one), layer, say)


def combination(
    titles: Mapping[str, str], backbone: str, poolings: tuple[str, ...], layer: int | None, say: Texts
) -> str:
    """Backbone, poolings of the very same vector and, where there are several, layer; not escaped."""
    title = shorten(visible(titles.get(backbone, backbone)), NAME)
    parts = {"backbone": title, "pooling": one_vector(poolings)}
    if layer is None:
        return say("lab.combination", **parts)
    return say("lab.combination_layer", **parts, layer=layer)


def so_far_html(reached: Sequence[Reached], titles: Mapping[str, str], all_layers: bool, say: Texts) -> str:
    """The best combinations of those that are fitted by now, as HTML; nothing where there is none."""
    if not reached:
        return ""
    first = sorted(reached, key=lambda one: -one.accuracy)[:FIRST]
    rows = [
        say(
            "lab.reached",
            name=combination(titles, one.backbone, (one.pooling,), one.layer if all_layers else None, say),
            accuracy=percent(one.accuracy),
        )
        for one in first
    ]
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    return f"{hint_html(say('lab.so_far', count=len(reached)))}<ol>{items}</ol>"


def score_text(score: Score, say: Texts) -> str:
    """A share and its interval: "91 % (87 % to 94 %)"."""
    return say("lab.score", **{name: percent(getattr(score, name)) for name in ("value", "low", "high")})
