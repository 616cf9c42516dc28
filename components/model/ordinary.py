"""What is ordinary among a checkpoint's hidden states, measured on a few dozen sentences of our own.

In deep layers all hidden states point in much the same direction, so a cosine means little before it is known
what cosines of unrelated tokens are there (Ethayarajh 2019), and a few dimensions that are large everywhere
decide most of it (Timkey and van Schijndel 2021).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.repeatable import repeatable
from components.model.safety import lacks_memory
from components.model.similarity import Numbers, cosines
from components.model.states import alike, batch_states
from components.settings import ASSETS
from components.types import Bands, Bools, Centring, Ints

QUANTILES = (0.05, 0.5, 0.95)
LEAST = float(np.finfo(np.float32).eps)  # a deviation below this part of the mean is rounding


@dataclass(frozen=True, eq=False)
class Spread:
    """Mean and standard deviation of each dimension of one layer: (D,) and (D,), in double precision."""

    mean: Numbers
    deviation: Numbers

    @classmethod
    def of(cls, states: Numbers) -> Spread:
        """The spread of N states (N, D); a dimension that never changes is divided by 1."""
        mean, deviation = states.mean(axis=0), states.std(axis=0)
        return cls(mean, np.where(deviation > LEAST * np.abs(mean), deviation, 1.0))

    def plain(self, states: Numbers) -> Numbers:
        """States (..., D) as they are."""
        return states

    def centred(self, states: Numbers) -> Numbers:
        """States (..., D) without the ordinary mean."""
        return states - self.mean

    def standardised(self, states: Numbers) -> Numbers:
        """The same with each dimension divided by its ordinary deviation."""
        return (states - self.mean) / self.deviation


CENTRINGS: Mapping[Centring, Callable[[Spread, Numbers], Numbers]] = MappingProxyType(
    {"plain": Spread.plain, "centred": Spread.centred, "standardised": Spread.standardised}
)


@dataclass(frozen=True, eq=False)
class Ordinary:
    """``spreads``: of each of the L + 1 layers. ``bands``: how similar [CLS] is to unrelated tokens there."""

    spreads: tuple[Spread, ...]
    bands: Bands

    def upmost(self, layers: int) -> Ordinary:
        """The same of so many layers, from the last one down."""
        return Ordinary(self.spreads[-layers:], self.bands.upmost(layers))

    def seen(self, centring: Centring, vectors: Sequence[Numbers]) -> list[Numbers]:
        """L + 1 times (..., D), one for each layer, as they are before their cosine is taken."""
        see = CENTRINGS[centring]
        return [see(spread, states) for spread, states in zip(self.spreads, vectors, strict=True)]


@dataclass(frozen=True, eq=False)
class _Sample:
    """N tokens of S sentences.

    ``layers``: L + 1 times (N, D) float32. ``sentence``: (N,) which of the S a token is of. ``cls``: (S,)
    which of the N tokens stands in the place of [CLS], in the order of the sentences' numbers.
    """

    layers: tuple[Numbers, ...]
    sentence: Ints
    cls: Ints

    @property
    def unrelated(self) -> Bools:
        """(S, N) true for tokens of other sentences that are not in the place of [CLS] themselves."""
        found: Bools = self.sentence[self.cls][:, None] != self.sentence
        found[:, self.cls] = False
        return found


def measured(backbone: Backbone) -> Ordinary:
    """Run the sentences, those of the same number of tokens together, and take the statistics.

    Only layers that every sentence has are measured, from the last one down. PoolscopeError where the model
    fails on them.
    """
    sample = _sample(backbone, sentences())
    spreads: list[Spread] = []
    bands: dict[Centring, list[Numbers]] = {centring: [] for centring in CENTRINGS}
    for states in sample.layers:
        states = states.astype(np.float64)  # one layer at a time: all of them would take twice the memory
        spreads.append(Spread.of(states))
        for centring, see in CENTRINGS.items():
            seen = see(spreads[-1], states)
            found = cosines(seen[sample.cls], seen)[sample.unrelated]
            bands[centring].append(np.quantile(found, QUANTILES))
    return Ordinary(tuple(spreads), Bands(*(np.stack(bands[key]).astype(np.float32) for key in CENTRINGS)))


def sentences() -> list[str]:
    """The sentences that come with Poolscope."""
    found: list[str] = tomllib.loads((ASSETS / "ordinary.toml").read_text(encoding="utf-8"))["sentences"]
    return found


def _sample(backbone: Backbone, sentences: Sequence[str]) -> _Sample:
    batches: list[tuple[Numbers, ...]] = []  # each L + 1 times (B, T, D)
    cls: list[Ints] = []
    for rows in alike(backbone, sentences):
        try:
            with repeatable(backbone.model):
                states = batch_states(backbone, [sentences[row] for row in rows])
                cls.append(states.cls.numpy())
        except (RuntimeError, ValueError, IndexError) as error:  # it has been seen to work on another text
            reason = (str(error) or type(error).__name__).splitlines()[0]
            if lacks_memory(error):
                raise
            raise PoolscopeError("backbone", backbone.spec.key, "errors.fails", reason=reason) from error
        batches.append(tuple(layer.numpy() for layer in states.layers))
    if not all(np.isfinite(batch[-1]).all() for batch in batches):
        raise PoolscopeError("backbone", backbone.spec.key, "errors.infinite")
    shared = min(map(len, batches))
    layers = [np.concatenate([_rows(batch[-number]) for batch in batches]) for number in range(shared, 0, -1)]
    lengths = [batch[-1].shape[1] for batch in batches for _ in batch[-1]]  # (S,) tokens of each sentence
    begins = np.cumsum([0, *lengths[:-1]])
    return _Sample(tuple(layers), np.repeat(np.arange(len(lengths)), lengths), begins + np.concatenate(cls))


def _rows(states: Numbers) -> Numbers:
    """(B, T, D) -> (B T, D)."""
    return states.reshape(-1, states.shape[-1])
