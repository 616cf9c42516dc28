"""One checkpoint's answers to "which token matters", each held against erasure on a whole test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.exhibits.evidence.evidence import LEVEL
from components.results import AgreementResult, holm
from components.texts import Texts

SIMILARITY = "similarity"


@dataclass(frozen=True)
class Explained:
    """The results of one ``backbone``: those by layer from below, then those of all layers."""

    backbone: str
    rows: tuple[AgreementResult, ...]

    @property
    def similarity(self) -> AgreementResult:
        """Similarity to [CLS] at the last layer."""
        return self._last(SIMILARITY)

    @property
    def best(self) -> AgreementResult:
        """The layer whose similarity is closest to erasure; of equal ones the last."""
        return max(
            (row for row in self.rows if row.method == SIMILARITY), key=lambda row: (row.rho, row.layer)
        )

    @property
    def others(self) -> tuple[AgreementResult, ...]:
        """Every other answer, those by layer at their last."""
        names = dict.fromkeys(row.method for row in self.rows if row.method != SIMILARITY)
        return tuple(map(self._last, names))

    @property
    def corrected(self) -> tuple[float, ...]:
        """The p of the ``others`` against ``similarity``, by Holm's method over them."""
        return tuple(holm([row.p for row in self.others]))

    @property
    def closer(self) -> tuple[AgreementResult, ...]:
        """Those of the ``others`` that are closer to erasure than ``similarity``, by more than chance."""
        tests = zip(self.others, self.corrected, strict=True)
        return tuple(row for row, p in tests if p < LEVEL and row.better > row.worse)

    def _last(self, method: str) -> AgreementResult:
        return max((row for row in self.rows if row.method == method), key=lambda row: row.layer or 0)


def explained(rows: Sequence[AgreementResult]) -> tuple[Explained, ...]:
    """What was measured, by backbone in the order of the results."""
    keys = dict.fromkeys(row.backbone for row in rows)
    return tuple(Explained(key, tuple(row for row in rows if row.backbone == key)) for key in keys)


def answer_name(row: AgreementResult, say: Texts) -> str:
    """What an answer is called, with its layer where it looks at one: not escaped."""
    name = say(f"evidence.answer_{row.method}")
    return name if row.layer is None else say("evidence.at_layer", name=name, layer=row.layer)
