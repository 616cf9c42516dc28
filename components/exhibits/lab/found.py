"""What was found on a visitor's own table, as the exhibits of the lab need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from components.exhibits.draw.labels import one_vector, shorten, visible
from components.exhibits.exhibit import Where
from components.exhibits.view import percent
from components.fitting import Fit, Ranked, Score
from components.texts import Texts

UNLINKED: frozenset[Where] = frozenset({"page", "report"})  # no link, nor a step of a talk, holds a table
LEVEL = 0.05  # a corrected p below it counts
NAME = 40  # characters of a backbone's title at most


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
        title = shorten(visible(self.titles.get(one.backbone, one.backbone)), NAME)
        parts = {"backbone": title, "pooling": one_vector(self.poolings(one))}
        if not self.fit.plan.all_layers:
            return say("lab.combination", **parts)
        return say("lab.combination_layer", **parts, layer=one.layer)


def score_text(score: Score, say: Texts) -> str:
    """A share and its interval: "91 % (87 % to 94 %)"."""
    return say("lab.score", **{name: percent(getattr(score, name)) for name in ("value", "low", "high")})
