"""Makes the bundled checkpoints: ``python -m components.bundle --data ../shared/data``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from components.bundle.corpus import load_corpus
from components.bundle.publish import publish
from components.bundle.recipes import Book, load_book, smoke
from components.bundle.steps import Workshop, run_steps, steps
from components.results import Results

ROW = "{:<22} {:>9} {:>16} {:>9} {:>7}"


def arguments(names: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; ``names`` are the steps of the recipe."""
    parser = argparse.ArgumentParser(prog="python -m components.bundle", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder of the labelled texts"
    )
    parser.add_argument(
        "--work", type=Path, default=Path(".bundle"), help="folder of what is made already, to go on from"
    )
    parser.add_argument("--out", type=Path, default=Path("assets"), help="folder for what is shipped")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="STEP", help="make these and what they need; ship nothing"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many steps to make at a time")
    parser.add_argument("--device", default="cpu", help="torch device to train on")
    parser.add_argument("--smoke", action="store_true", help="go through every stage with a few rows")
    return parser


def table(book: Book, results: Results) -> str:
    """The fine-tuned checkpoints against their bars."""
    lines = [ROW.format("checkpoint", "accuracy", "95 % interval", "majority", "bar")]
    for row in results.checkpoints:
        interval = f"{row.low:.1%} to {row.high:.1%}"
        bar = f"{book.tasks[row.task].bar:.1%}"
        lines.append(
            ROW.format(row.backbone, f"{row.accuracy:.1%}", interval, f"{row.majority:.1%}", bar)
            + ("" if row.accuracy >= book.tasks[row.task].bar else "  missed")
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Makes what was asked for and, of the whole recipe, ships it and prints what came out."""
    book = load_book()
    options = arguments(tuple(steps(book))).parse_args(argv)
    book = smoke(book) if options.smoke else book
    workshop = Workshop(book, options.data, options.work, options.device)
    if options.only:
        run_steps(workshop, options.only, options.jobs)
        return
    corpus = load_corpus(book, options.data)
    for name, dropped in corpus.dropped.items():
        kept = len(corpus.training[name])
        print(f"{name}: {kept:,} examples; {dropped:,} more hold an evaluation's text, and are dropped")
    run_steps(workshop, tuple(steps(book)), options.jobs)
    print(table(book, publish(workshop, corpus, options.out)))


if __name__ == "__main__":
    main()
