"""Finds which backbone, pooling and layer suits a table: ``poolscope lab reviews.csv --out lab``.

The table is CSV, TSV, JSON or Parquet. A run that was stopped goes on from the vectors that it has. It gives
a report with the ranking and its statistics, and a classifier to take home, as a folder and as a zip.
"""

import argparse
import codecs
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter
from tqdm import tqdm  # type: ignore[import-untyped]  # its types are a package of their own

from components.analyses.fit import fit_table, to_rows
from components.analyses.measuring.export import classifier
from components.errors import PoolscopeError
from components.exhibits.evidence import LEVEL
from components.exhibits.exhibit import to_csv
from components.exhibits.lab import Found
from components.exhibits.panels import LAB
from components.exhibits.report import Made, report
from components.fitting import Fit, Plan, Stage, fit_json
from components.inference.engine import Engine, InProcess
from components.inference.jobs import in_turns
from components.lab.work import on_cluster, on_cores, remembering
from components.model import files
from components.model.examine import DECLARED, examine
from components.model.internals import quiet
from components.model.loading import load
from components.model.probes import Probe, place_of, write_probes
from components.own_head import OwnHead
from components.settings import Settings
from components.tables import Columns, guess, read_sheet, to_table
from components.texts import Sentence, Texts, environment, languages, load_texts, read_toml
from components.types import BackboneSpec, Query, TaskSpec

ROWS = 10_000_000
ALL = "all"
TYPES = {"path": {"type": Path}, "number": {"type": int}, "language": {"type": str, "choices": languages()}}
LEFT = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack", "*.onnx", "checkpoint-*", ".*")  # not needed
TASK = "mine"  # what the head is for, in its file
HEAD = "head.safetensors"
RESULTS = "backbone pooling layer accuracy low high macro_f1 p p_corrected same_as"  # columns
STAGES = {"embed": "rows embedded", "fit": "combinations fitted", "check": "checks of the best one"}


@dataclass(frozen=True, eq=False)
class Done:
    """All that was measured, by which ``specs``; ``columns`` and ``notes``: of the table."""

    fit: Fit
    specs: tuple[BackboneSpec, ...]
    columns: Columns
    notes: tuple[Sentence, ...]


def main(given: Sequence[str]) -> int:
    """Run the command; gives 1 where the table or what is asked is refused."""
    parser = argparse.ArgumentParser(prog="poolscope lab", description=__doc__)
    for name, stated in read_toml(Path(__file__).with_suffix(".toml")).items():
        parser.add_argument(name, **stated | TYPES.get(stated.get("type", ""), {}))
    asked = parser.parse_args(given)
    quiet()
    try:
        done = fitted(asked)
        page = asked.out / "report.html"
        page.write_text(reported(done, asked.table.name, load_texts(asked.language)), encoding="utf-8")
        spec = next(spec for spec in done.specs if spec.key == done.fit.ranking[0].backbone)
        folder = asked.out / "classifier"
        folder.mkdir(exist_ok=True)
        write_classifier(done, spec, folder)
        archive = shutil.make_archive(str(folder), "zip", asked.out, folder.name)
    except PoolscopeError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    print((folder / "README.md").read_text("utf-8"), page, archive, sep="\n", flush=True)
    return 0


def fitted(asked: argparse.Namespace) -> Done:
    """Everything that is asked, measured."""
    sheet = read_sheet(read_file(asked.table, asked.encoding), asked.headed)
    named = {name: getattr(asked, name) for name in ("text", "label", "text_pair")}
    guessed = Columns("", "") if asked.text and asked.label else guess(sheet)
    columns = replace(guessed, **{name: column for name, column in named.items() if column})
    if columns.others and not asked.label:
        raise PoolscopeError("label", "", "errors.table_unsure", columns=(columns.label, *columns.others))
    print(f"text: {columns.text}, label: {columns.label}, second text: {columns.text_pair or 'none'}")
    table, notes = to_table(sheet, replace(columns, others=()), asked.merged)
    specs = tuple(map(Engine(Settings(sources="any")).bring, asked.backbones.split(",")))
    poolings = () if asked.poolings == ALL else tuple(asked.poolings.split(","))
    plan = Plan(tuple(spec.key for spec in specs), poolings, asked.layers == ALL, asked.folds, asked.seed)
    rows, work = to_rows(table, plan, Settings(lab_rows=ROWS)), asked.out / "work"
    local = in_turns(InProcess(Settings()).run)
    with on_cluster(asked.ray, local) if asked.ray else nullcontext(on_cores(local)) as steps:
        fit = told(fit_table(remembering(steps, work), specs, rows))
    return Done(fit, specs, columns, notes)


def read_file(file: Path, encoding: str = "") -> str:
    """The text of the table in ``file``; PoolscopeError says why it cannot be read.

    Without an ``encoding``, what is no UTF-8 becomes U+FFFD, which `read_sheet` speaks of.
    """
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            return str(pd.read_parquet(file).to_json(orient="records", lines=True, date_format="iso"))
        written = file.read_bytes()
    except OSError as error:
        raise PoolscopeError("table", str(file), "errors.table_file", reason=error.strerror) from error
    except (ValueError, OverflowError) as error:  # pyarrow's errors of a broken file are ValueErrors too
        raise PoolscopeError("table", str(file), "errors.table_parquet") from error
    usual = "utf-16" if written.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    try:
        return written.decode(encoding or usual, errors="strict" if encoding else "replace")
    except (UnicodeError, LookupError) as error:
        line = written.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise PoolscopeError("encoding", encoding, "errors.table_decode", line=line) from error


def told(steps: Iterator[Stage | Fit]) -> Fit:
    """The fit; how far it is, and how long the rest takes, stands on a line for each backbone and stage."""
    bars: dict[str, Any] = {}
    while isinstance(step := next(steps), Stage):
        title = f"{step.backbone}: {STAGES[step.name]}"
        if title not in bars:
            bars[title] = tqdm(total=step.total, desc=title)
        bars[title].update(step.done - bars[title].n)
        if step.done == step.total:
            bars[title].close()
    return step


def reported(done: Done, name: str, say: Texts) -> str:
    """The report as HTML: the Lab tab's exhibits in one file. ``name``: that of the table."""
    facts = {
        "fact_table": name,
        "column_of_text": done.columns.text,
        "column_of_pair": done.columns.text_pair,
        "column_of_label": done.columns.label,
        "fact_folds": str(done.fit.plan.folds),
        "fact_seed": str(done.fit.plan.seed),
        "fact_notes": say.together(note.said(say) for note in done.notes),
    }
    found = Found(done.fit, {spec.key: spec.title for spec in done.specs})
    known = {say(f"lab.{fact}"): value for fact, value in facts.items() if value}
    return "".join(report([LAB], found, {}, lambda _: known, Made(datetime.now(UTC)), say))


def write_classifier(done: Done, spec: BackboneSpec, folder: Path) -> None:
    """Write every file. ``spec``: the backbone of the best combination; one of the hub is not copied.

    PoolscopeError where the backbone cannot be loaded.
    """
    fit, notes, best = done.fit, done.notes, done.fit.ranking[0]
    columns = [name for name in (done.columns.text, done.columns.text_pair) if name]
    backbone = load(replace(spec, probes=str(folder / HEAD)))
    last = len(backbone.ordinary.layers) - 1
    place = place_of(TASK, best.pooling, None if best.layer == last else best.layer)
    matrix = TypeAdapter(OwnHead).validate_json(fit.head).matrix  # (K, D' + 1), biases last
    write_probes({place: Probe(matrix[:, :-1], matrix[:, -1])}, folder / HEAD, np.float32)
    text, pair = fit.table.texts[0], fit.table.pairs[0] if fit.table.pairs else ""
    task = TaskSpec(TASK, TASK, fit.classes, 2 if pair else 1)
    query = Query(spec.key, text, pair, best.pooling, "probe", task=TASK, pool_layer=best.layer)
    numbers, table = fit_json(fit, notes), fit.table
    rows = [*numbers["rows"], {"backbone": "words alone, tf-idf", **numbers["words"]}]
    pairs = [("text_pair", table.pairs)] if table.pairs else []
    card = environment(html=False).get_template("card.jinja")
    known = {"fit": fit, "best": best, "last": last, "spec": spec, "notes": notes, "columns": columns}
    said = [fit.classes[label] for label in fit.predicted]  # by folds that have not seen the row
    predictions = [("text", table.texts), *pairs, ("label", table.labels), ("predicted", said)]
    texts = {
        "classify.py": classifier(examine(backbone, query, task), columns),
        "README.md": card.render(known, found=Found(fit, {}), level=LEVEL),
        "results.csv": to_csv([(name, [row.get(name) for row in rows]) for name in RESULTS.split()]),
        "predictions.csv": to_csv(predictions),
        "fit.json": json.dumps(numbers, indent=1, ensure_ascii=False) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
    shutil.rmtree(folder / "encoder", ignore_errors=True)  # that of a run before
    if spec.source != "hub" and (whole := files.folder(spec)) is not None:
        source = whole if best.pooling == DECLARED else files.body(whole)
        shutil.copytree(source, folder / "encoder", ignore=shutil.ignore_patterns(*LEFT))
