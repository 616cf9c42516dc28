"""The passport of a checkpoint: what is measured of it, on a few texts of our own, all in one place."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import torch

from components.analyses.measuring.anatomy.dissect import dissect
from components.analyses.measuring.padding import audits
from components.analyses.padding import Padding, Verdict
from components.analyses.passport import PaddedWay, Passport, Sample, Unread
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.examine import Examined, examine
from components.model.files import (
    CONFIG,
    INDEX,
    TOKENIZER_FILES,
    RefusalError,
    declaring_files,
    folder,
    weights_in,
)
from components.model.pooling import POOLINGS
from components.settings import ASSETS
from components.types import BackboneSpec, Query

TEXTS = ASSETS / "passport.toml"
NEAR = 1e-5  # of a vector's length: two that lie no further apart are the same but for rounding
WORST: tuple[Verdict, ...] = ("safe", "moves", "reads_padding", "alone")  # the later, the worse


@dataclass(frozen=True)
class Tried:
    """What is tried on every checkpoint: ``samples``, texts with their second ones; characters by script."""

    samples: tuple[tuple[str, str], ...]
    scripts: Mapping[str, str]

    @classmethod
    def read(cls, file: Path) -> Tried:
        """What ``file`` says, in TOML."""
        given: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        return cls(
            tuple((one["text"], one.get("text_pair", "")) for one in given["samples"]), given["scripts"]
        )


def issue(backbone: Backbone) -> Passport:
    """Measure everything that stands in the passport of ``backbone``."""
    tried = Tried.read(TEXTS)
    seen = [examine(backbone, Query(backbone.spec.key, *pair)) for pair in tried.samples]
    alone = [each for each in seen if not each.query.text_pair]
    roomy = [each for each in seen if each.kept.inputs["input_ids"].shape[1] < backbone.limit]
    padded, anatomy = audits(roomy or seen), dissect(alone[-1])
    return Passport(
        backbone=_described(backbone),
        fingerprint=fingerprint(backbone.spec),
        parameters=sum(weight.numel() for weight in backbone.model.parameters()),
        layers=len(backbone.ordinary.spreads) - 1,
        width=seen[0].kept.hidden[-1].shape[2],
        limit=backbone.limit,
        samples=tuple(map(_sample, seen)),
        equal=tuple(key for key in POOLINGS if key != "native" and all(_equal(key, each) for each in alone)),
        padding=_worst([each.verdict for each in padded]),
        ways=_ways(padded),
        ordinary=backbone.ordinary.bands.plain,
        head_trained=backbone.head_trained,
        body_trained=backbone.body_trained,
        weights=anatomy.weights,
        unused=anatomy.unused,
        scripts=tuple(_unread(backbone, *script) for script in tried.scripts.items()),
    )


def fingerprint(spec: BackboneSpec) -> str:
    """SHA-256 of the names and the contents of all files that a checkpoint is loaded from, in hexadecimal.

    Of one that is not on this machine it is that of no file.
    """
    whole = sha256()
    place = folder(spec)
    for file in [] if place is None else _files(place):
        with file.open("rb") as opened:
            content = file_digest(opened, "sha256").hexdigest()
        whole.update(f"{file.relative_to(place or file).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def _files(place: Path) -> list[Path]:
    """The files that are read of a checkpoint, and of the modules that it declares, in the order of names."""
    named = {place / name for name in (CONFIG, INDEX, *TOKENIZER_FILES)}
    every = {*named, *weights_in(place), *declaring_files(place)}
    return sorted(file for file in every if file.is_file())


def _sample(examined: Examined) -> Sample:
    reads = examined.passed.states.reads.positions[0]
    where = tuple(int(place) for place in reads.nonzero()[:, 0])
    return Sample(examined.query.text, examined.query.text_pair, examined.passed.tokens.text, where)


def _equal(key: str, examined: Examined) -> bool:
    """Whether a pooling gives the vector that the own head reads, if it reads one."""
    states = examined.passed.states
    if POOLINGS[key].spec.learned or int(states.reads.positions.sum()) == 0:
        return False
    read = POOLINGS["native"](states)
    try:
        other = POOLINGS[key](states)
    except PoolscopeError:
        return False  # not of this checkpoint, or not of this text
    near = NEAR * float(torch.linalg.vector_norm(read))
    return read.shape == other.shape and float(torch.linalg.vector_norm(read - other)) <= near


def _described(backbone: Backbone) -> BackboneSpec:
    """The backbone with what it declares, as its files say it now."""
    try:
        found = backbone.declared
    except RefusalError as error:
        return replace(backbone.described, declared=error.sentence)
    return replace(backbone.described, declared=None if found is None else found.says)


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    return max(verdicts, key=WORST.index)


def _ways(padded: Sequence[Padding]) -> tuple[PaddedWay, ...]:
    """Each way to pad that there is of any text, with the worst that it did."""
    cases = [case for each in padded for case in each.cases]
    names = dict.fromkeys(case.name for case in cases)
    same = {name: [case for case in cases if case.name == name] for name in names}
    return tuple(
        PaddedWay(name, _worst([case.verdict for case in found]), max(case.largest for case in found))
        for name, found in same.items()
    )


def _unread(backbone: Backbone, script: str, tried: str) -> Unread:
    """Which characters, each by itself, are the unknown token to the tokenizer, or nothing at all."""
    unknown = backbone.tokenizer.unk_token_id
    read = [backbone.tokenizer(one, add_special_tokens=False, verbose=False)["input_ids"] for one in tried]
    lost = [one for one, ids in zip(tried, read, strict=True) if unknown in ids or not ids]
    return Unread(script, tried, "".join(lost))
