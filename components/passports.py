"""Issues passports: ``poolscope passport FOLDER_OR_ID... --out passports``.

Of each checkpoint a page to print, its numbers as JSON, and a badge for its model card. Where a passport of
the same files is there already, it stays: a run that was stopped goes on.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from components.analyses.passport import Passport, fingerprint
from components.errors import PoolscopeError
from components.exhibits.report import badge, passport_page
from components.inference.client import Client
from components.inference.engine import Engine, InProcess, file_name
from components.inference.jobs import Job
from components.model.files import read_object, version
from components.settings import Settings
from components.texts import ENGLISH, languages, load_texts
from components.types import BackboneSpec

NUMBERS = ".json"  # is written last: where it is, the others are
AT_ONCE = 32  # checkpoints that a cluster is asked about; here one after the other
LONGEST = 3600.0  # seconds that it may take over one


def main(given: Sequence[str]) -> int:
    """Run the command; gives 1 where a checkpoint was refused."""
    parser = argparse.ArgumentParser(prog="poolscope passport", description=__doc__)
    add = parser.add_argument
    add("checkpoints", nargs="+", metavar="FOLDER_OR_ID", help="or a key of the catalogue; ids of the hub")
    add("--out", type=Path, default=Path("passports"), help="folder for the passports")
    add("--language", choices=sorted(languages()), default=ENGLISH, help="of the pages and badges")
    add("--cluster", metavar="URL", help="of a Ray cluster that sees the same folders: http://host:8000")
    asked = parser.parse_args(given)
    asked.out.mkdir(parents=True, exist_ok=True)
    found, refused, engine = [], False, Engine(Settings(sources="any"))
    for name in asked.checkpoints:
        try:
            found.append(engine.bring(name))
        except PoolscopeError as error:
            refused = True
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    prints = [read_object(asked.out / f"{file_name(spec)}{NUMBERS}").get("fingerprint") for spec in found]
    due = [spec for spec, known in zip(found, prints, strict=True) if known != fingerprint(spec)]
    print(f"{len(found) - len(due)} there already, {len(due)} to measure", flush=True)
    here = asked.cluster is None
    runner = InProcess(Settings()) if here else Client(Settings(cluster=asked.cluster, seconds=LONGEST))
    threads = ThreadPoolExecutor(1 if here else AT_ONCE)
    if here:
        from components.inference.measurer import quiet  # torch

        quiet()
    with ExitStack() as stack:
        stack.callback(threads.shutdown, cancel_futures=True)
        stack.callback(runner.close, 0)
        answers = threads.map(partial(issued, runner.run, asked.language), due)
        for number, (spec, answer) in enumerate(zip(due, answers, strict=True), 1):
            if isinstance(answer, PoolscopeError):
                refused = True
                print(f"{spec.key}: {answer}", file=sys.stderr, flush=True)
                continue
            for end, text in answer.items():
                (asked.out / f"{file_name(spec)}{end}").write_text(text, encoding="utf-8")
            page = asked.out / f"{file_name(spec)}.html"
            print(f"{spec.key}: {page}, {number} of {len(due)}", flush=True)
    return int(refused)


def issued(run: Callable[[Job], Passport], tag: str, spec: BackboneSpec) -> dict[str, str] | PoolscopeError:
    """Have one measured, and write its files in the language ``tag``, by how they end; or say why not."""
    try:
        passport = run(Job("passport", spec, version(spec)))
    except PoolscopeError as error:
        return error
    say = load_texts(tag)
    numbers = json.dumps(passport.to_json(), indent=1, ensure_ascii=False) + "\n"
    return {".html": passport_page(passport, say), ".svg": badge(passport, say), NUMBERS: numbers}
