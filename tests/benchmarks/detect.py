"""``python -m tests.benchmarks.detect``: how often what made a vector is found, and where the bar stands.

Every pooling of every layer, with and without special tokens, whole and cut, normalised and not, of bundled
checkpoints and of a tiny one of each family; and vectors that no way gave, of which none may be a match.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, product, repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch

from components.analyses.detect import BAR, Detected, Kept, Way
from components.analyses.measuring.detect import cut_text, found, tried
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.catalogue import read_catalogue
from components.model.encoding import Encoded
from components.model.examine import Stopwatch, run_encoded
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.model.torch_internals import repeatable
from components.settings import ASSETS
from components.types import Query
from tests.families.cases import BUILT, boundless, tiny_checkpoint
from tests.tiny import WORDS

TEXT = "The plot is thin, but the actors are a delight, and the camera never looks away from their hands."
WORDLY = " ".join((WORDS[4:] * 2)[:24])  # for tiny ones, which know these words alone
CUTS: tuple[tuple[int | None, Kept], ...] = ((None, "start"), (16, "start"), (16, "end"), (16, "last"))
FEW = 12  # vectors of each kind that no way gave, for each checkpoint
LENGTH = 1e-4
NOISE = 0.1  # of a vector's length


Note = tuple[str, bool, float]  # kind of vector, whether the answer was right, cosine of its best candidate


def report() -> None:
    """Print it."""
    specs = [one for one in read_catalogue(ASSETS / "backbones.toml") if one.source == "bundled"]
    backbones = [load(spec) for spec in specs]
    others = [[one for one in backbones if one is not backbone] for backbone in backbones]
    tell(
        f"{len(backbones)} bundled checkpoints",
        chain.from_iterable(map(measured, backbones, repeat(TEXT), others)),
    )
    with TemporaryDirectory() as folder:
        tiny = (load(tiny_checkpoint(Path(folder) / family, family)) for family in BUILT)
        tell(
            f"A tiny checkpoint of each of {len(BUILT)} families",
            chain.from_iterable(
                measured(replace(one, tokenizer=boundless()), WORDLY, [other_weights(one)]) for one in tiny
            ),
        )


def tell(title: str, notes: Iterable[Note]) -> None:
    """Print how often each kind of vector was answered right."""
    print(f"\n{title}; a match has a cosine of {BAR} at least")
    kinds = pd.DataFrame(notes, columns=["kind", "right", "cosine"]).groupby("kind", sort=False)
    for kind, one in kinds:
        low, high = one["cosine"].quantile([0.005, 0.995])
        share = f"right {one['right'].sum():>6} of {len(one):>6} ({100 * one['right'].mean():.2f} %)"
        print(f"{kind:<30} {share}, cosine of the best {low:.7f} to {high:.7f}", flush=True)


def other_weights(backbone: Backbone) -> Backbone:
    """The same family with weights of its own."""
    other = load(backbone.spec)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in other.model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.2)
    return replace(other, tokenizer=boundless())


def measured(backbone: Backbone, text: str, others: Sequence[Backbone]) -> Iterator[Note]:
    """Plant every way, then ask about vectors that none gave."""
    planted, random = vectors(backbone, text), np.random.default_rng(0)
    tries = tried(backbone, Query(backbone.spec.key, text), "")

    def note(kind: str, vector: np.ndarray, way: Way | None = None, normalised: bool = False) -> Note:
        answer = found([tries], [vector])
        right = answer.match is None if way is None else is_among(answer, way, normalised)
        return kind, right, answer.candidates[0].cosine

    for way, vector in planted.items():
        yield note("planted", vector, way)
        yield note("planted", vector / np.linalg.norm(vector), way, normalised=True)
    for way, vector in list(planted.items())[:: max(1, len(planted) // FEW)]:
        rough = torch.from_numpy(vector).to(torch.bfloat16).double().numpy()
        yield note("planted, rounded to bfloat16", rough, way)
        noise = random.normal(size=len(vector))
        noisy = vector + NOISE * np.linalg.norm(vector) * noise / np.linalg.norm(noise)
        yield note("with noise of a tenth", noisy)
        yield note("random", noise)
    widths = {len(vector) for vector in planted.values()}
    for other in others:
        wrongs = [vector for vector in vectors(other, text).values() if len(vector) in widths]
        for index in random.permutation(len(wrongs))[:FEW]:
            yield note("of another model", wrongs[index])


def is_among(answer: Detected, way: Way, normalised: bool) -> bool:
    """Whether a way is found; where its own length is 1, nobody can tell whether it was normalised."""
    one = answer.match is not None and abs(answer.match.length - 1) < LENGTH
    kinds = (True, False) if one and abs(answer.length - 1) < LENGTH else (normalised,)
    return any(replace(way, normalised=kind) in plainly(answer) for kind in kinds)


def plainly(answer: Detected) -> set[Way]:
    """The ways that were found; that a tokenizer adds no special tokens is no difference here."""
    return {replace(way, special_tokens=way.special_tokens is not False) for way in answer.ways}


def vectors(backbone: Backbone, text: str) -> dict[Way, np.ndarray]:
    """What every way gives, each from a forward pass of its own."""
    made: dict[Way, np.ndarray] = {}
    known: set[tuple[int, ...]] = set()
    query = Query(backbone.spec.key, text)
    for special, (cut, kept) in product((True, False), CUTS):
        try:
            length = cut or backbone.limit
            encoded = cut_text(backbone, query, "", length, special, kept)
            ids = tuple(encoded.inputs["input_ids"][0].tolist())
            if ids not in known:
                made |= pooled(backbone, encoded, Way("", 0, special, False, cut, kept=kept))
            known.add(ids)
        except PoolscopeError:  # this text cannot be run so
            continue
    return made


@torch.no_grad()
def pooled(backbone: Backbone, encoded: Encoded, way: Way) -> dict[Way, np.ndarray]:
    """What every pooling gives of every layer."""
    made: dict[Way, np.ndarray] = {}
    with repeatable(backbone.model):
        layers = len(backbone.ordinary.spreads)
        states = run_encoded(backbone, encoded, layers, Stopwatch()).states
        for layer, (key, pool) in product(range(len(states.layers)), POOLINGS.items()):
            upto = states.upto(layer)
            wide = upto.hidden.shape != states.hidden.shape and key == "pooler"
            if not (pool.spec.learned or wide):
                with suppress(PoolscopeError):  # this model has no such vector
                    made[replace(way, pooling=key, layer=layer)] = pool(upto)[0].double().numpy()
    return made


if __name__ == "__main__":
    report()
