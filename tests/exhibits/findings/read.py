"""Findings of what is read: of a table's cells, of a checkpoint's files and tensors."""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.importance import weigh
from components.model.examine import examine
from components.model.loading import load
from components.tables import guess, read_sheet, to_table
from components.texts import Sentence, Texts
from components.types import Query
from tests.exhibits.findings.row import Row, Told
from tests.families.cases import tiny_checkpoint
from tests.tiny import alter, checkpoint, reweigh

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def noted(given: str | list[str]) -> tuple[Sentence, ...]:
    """Notes on a table, or on films with a row behind them."""
    sheet = read_sheet(given if isinstance(given, str) else TABLES["films"] + given[0])
    return to_table(sheet, guess(sheet))[1]


def warned(case: dict[str, Any]) -> tuple[Sentence, ...]:
    """Warnings of a tiny checkpoint that is changed and asked as a case says."""
    with TemporaryDirectory() as name:
        spec = replace(checkpoint(folder := Path(name) / "x"), texts=case.get("trained_on"))
        if "family" in case:
            tiny_checkpoint(folder, case["family"])
        reweigh(folder, lambda tensors: [tensors.pop(one) for one in case.get("lacks", ())])
        for each in (TABLES["declaring"] if case.get("declares") else {}, case):
            alter(folder, each)
        asked = Query(spec.key, **{"text": "the film is good", **case.get("asked", {})})
        found = examine(load(spec), asked)
        return weigh(found, "").warnings if case.get("weighed") else analyse(found).warnings


def said(find: Callable[[Any], tuple[Sentence, ...]], given: Any) -> Told:
    """Sentences that are found once, in each language."""
    found = cache(partial(find, given))
    return lambda say: " ".join(one.said(say) for one in found())


def filled(values: dict[str, Any], say: Texts) -> dict[str, object]:
    """Values in a language: titles by their names and keys, and lists."""
    kinds = {list: say.listed, dict: lambda one: say.name(**one)}
    return {name: kinds.get(type(one), lambda same: same)(one) for name, one in values.items()}


ROWS = {
    f"{section}.{key}": Row(said(find, one), partial(filled, values), said(find, other))
    for section, find in (("lab", noted), ("warnings", warned))
    for key, (one, values, other) in TABLES[section].items()
}
