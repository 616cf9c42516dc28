"""Issues passports: ``python -m components.passport FOLDER_OR_ID... --out passports``.

Of each checkpoint a page to print, its numbers as JSON, and a badge for its model card. Where a passport of
the same files is there already, it stays: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from components.analyses.passport import fingerprint
from components.errors import PoolscopeError
from components.exhibits.passport import badge, page
from components.inference.engine import Here, file_name, resolved
from components.inference.jobs import Issue
from components.inference.replicas.joining import joined
from components.model.files import read_object, version
from components.passport.passport import passport_json
from components.settings import Settings
from components.texts import ENGLISH, languages, load_texts
from components.types import BackboneSpec

NUMBERS = ".json"  # is written last: where it is, the others are
Files = dict[str, str]  # of one passport, by how their names end
Answer = Files | PoolscopeError
Run = Callable[[Sequence[BackboneSpec], str], Iterator[tuple[BackboneSpec, Answer]]]


def main(given: Sequence[str]) -> int:
    """Run the command; gives 1 where a checkpoint was refused."""
    asked = arguments().parse_args(given)
    asked.out.mkdir(parents=True, exist_ok=True)
    refused, due, kept = 0, [], 0
    for name in asked.checkpoints:
        try:
            spec = resolved(name)
        except PoolscopeError as error:
            refused += told(name, error)
            continue
        there = read_object(asked.out / f"{file_name(spec)}{NUMBERS}").get("fingerprint") == fingerprint(spec)
        kept += there
        due += [] if there else [spec]
    print(f"{kept} there already, {len(due)} to measure", flush=True)
    run = here if asked.ray is None else on_cluster(asked.ray)
    try:
        for spec, answer in run(due, asked.language):
            refused += written(asked.out, spec, answer)
    except PoolscopeError as error:  # of the cluster
        refused += told(asked.ray, error)
    return int(refused > 0)


def written(out: Path, spec: BackboneSpec, answer: Answer) -> int:
    """Write the files of one passport, or say why there is none; gives 1 there."""
    if isinstance(answer, PoolscopeError):
        return told(spec.key, answer)
    for end, text in answer.items():
        (out / f"{file_name(spec)}{end}").write_text(text, encoding="utf-8")
    print(f"{spec.key}: {out / file_name(spec)}.html", flush=True)
    return 0


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m components.passport", description=__doc__)
    parser.add_argument(
        "checkpoints", nargs="+", metavar="FOLDER_OR_ID", help="or a key of the catalogue; ids are of the hub"
    )
    parser.add_argument("--out", type=Path, default=Path("passports"), help="folder for the passports")
    parser.add_argument(
        "--language", choices=sorted(languages()), default=ENGLISH, help="of the pages and badges"
    )
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="a Ray cluster that sees the same folders; local starts one"
    )
    return parser


def issued(spec: BackboneSpec, language: str) -> Answer:
    """Measure one checkpoint, in this process, which holds no other; or why there is no passport."""
    try:
        passport = Here(Settings()).run(Issue(spec, version(spec)))
    except PoolscopeError as error:
        return error
    say = load_texts(language)
    numbers = json.dumps(passport_json(passport), indent=1, ensure_ascii=False) + "\n"
    return {".html": page(passport, say), ".svg": badge(passport, say), NUMBERS: numbers}


def here(specs: Sequence[BackboneSpec], language: str) -> Iterator[tuple[BackboneSpec, Answer]]:
    """One after the other, in this process."""
    for spec in specs:
        yield spec, issued(spec, language)


def on_cluster(address: str) -> Run:
    """One on each processor of a cluster of Ray's, as they come."""

    def run(specs: Sequence[BackboneSpec], language: str) -> Iterator[tuple[BackboneSpec, Answer]]:
        with joined(address) as ray:
            task = ray.remote(num_cpus=1)(issued)
            asked = {task.remote(spec, language): spec for spec in specs}
            left = list(asked)
            while left:
                (done,), left = ray.wait(left, num_returns=1)
                yield asked[done], ray.get(done)

    return run


def told(name: str, error: PoolscopeError) -> int:
    """Say why there is none; counts as one."""
    print(f"{name}: {error}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
