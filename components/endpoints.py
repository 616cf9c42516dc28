"""Endpoints that ask for more than one analysis, for the page's API and for programs alike."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from itertools import islice, product
from typing import Any

from components.analyses.analyze import rows_json
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.fitting import BACKBONES, Plan, Stage, fit_json, stage_json
from components.tables import Columns, read_sheet, to_table
from components.types import Progress, Query

ENOUGH = 1000  # combinations, more than any analyst compares: what two long lists would make fills no memory


def endpoints(analyst: Analyst, lab_rows: int) -> list[Callable[..., Any]]:
    """List the endpoints of several analyses, which raise PoolscopeError; ``lab_rows``: a table's at most."""

    def backbones() -> list[dict[str, Any]]:
        """The classifiers that can be asked."""
        return [spec.to_json() for spec in analyst.backbones()]

    def find(backbone: str) -> dict[str, Any]:
        """Look a classifier up by its key or, where the owner allows it, by its id on the hub ("org/name").

        Says what /backbones says of the others. Nothing large is downloaded; a model that cannot be had
        comes back as a message that says why.
        """
        return analyst.find(backbone).to_json()

    def fetch(backbone: str) -> Iterator[dict[str, int]]:
        """Download a classifier from the hub, and say a few times a second how far it is, in bytes.

        It is over when ``done`` equals ``total``; both are 0 where it is here already. Who stops listening
        stops the download, and a later one goes on from there.
        """
        with closing(analyst.fetch(backbone)) as steps:
            yield asdict(next(steps, Progress(0, 0)))
            yield from map(asdict, steps)

    def poolings() -> list[dict[str, Any]]:
        """The ways to make one vector of the hidden states, the head's own first."""
        return [asdict(spec) for spec in analyst.poolings()]

    def compare(
        backbones: list[str],
        poolings: list[str],
        text: str,
        text_pair: str = "",
        head: str = "own",
        pool_layer: int = -1,
    ) -> list[dict[str, Any]]:
        """Classify a text or a pair with every combination of backbones and poolings: one row for each.

        ``reads`` are indices of tokens. A combination that cannot be answered has a row whose ``refusal``
        says why; a request of which nothing can be answered comes back as a message.
        """
        keys = _listed("backbones", backbones) or here(analyst)
        methods = _listed("poolings", poolings)
        pairs = islice(product(keys, methods) if methods else fitting(analyst, keys), ENOUGH)
        whole = Query("", text, text_pair, head=head, pool_layer=pool_layer)
        asked = [replace(whole, backbone=key, pooling=method) for key, method in pairs]
        with closing(analyst.compare(asked)) as answers:
            return rows_json(asked, list(answers), fitting=not poolings)

    def fit(
        table: str,
        text: str,
        label: str,
        text_pair: str = "",
        backbones: Sequence[str] = (),
        poolings: Sequence[str] = (),
        layers: str = "last",
        folds: int = 5,
        seed: int = 0,
    ) -> Iterator[dict[str, Any]]:
        """Find which backbone, pooling and layer suits a table of labelled texts, by a linear classifier.

        Streams how far it is, ``done`` of ``total`` steps of a ``stage``, and then ``rows``, the best first.
        One whose ``p_corrected`` is below 0.05 is worse than the best. Nothing of the table is kept.
        """
        rows, notes = to_table(read_sheet(table, rows=lab_rows), Columns(text, label, text_pair))
        keys = _listed("backbones", backbones) or here(analyst)[:BACKBONES]
        methods = tuple(_listed("poolings", poolings))
        if layers not in ("last", "all"):
            raise PoolscopeError("layers", layers, "errors.lab_layers")
        with closing(analyst.fit(rows, Plan(tuple(keys), methods, layers == "all", folds, seed))) as steps:
            for step in steps:
                yield stage_json(step) if isinstance(step, Stage) else fit_json(step, notes)

    return [backbones, find, fetch, poolings, compare, fit]


def fitting(analyst: Analyst, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each of ``keys`` with every pooling, but not what is declared where nothing is."""
    silent = {spec.key for spec in analyst.backbones() if not spec.declares}
    for key, spec in product(keys, analyst.poolings()):
        if not (spec.declared and key in silent):
            yield key, spec.key


def here(analyst: Analyst) -> list[str]:
    """List the backbones that can be asked now, by their keys."""
    return [spec.key for spec in analyst.backbones() if spec.available]


def _listed(field: str, given: object) -> list[Any]:
    if not isinstance(given, list | tuple):
        raise PoolscopeError(field, given, "errors.keys")
    return list(given)
