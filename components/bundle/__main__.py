"""Trains the bundled checkpoints: ``python -m components.bundle --data ../shared/data``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from components.bundle.checkpoints import Made, make
from components.bundle.corpus import load_corpus
from components.bundle.recipes import load_book, smoke

ROW = "{:<22} {:>10} {:>9} {:>9} {:>9} {:>8}"


def arguments(keys: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; ``keys`` are the checkpoints that can be made."""
    parser = argparse.ArgumentParser(prog="python -m components.bundle", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder of the labelled texts"
    )
    parser.add_argument("--out", type=Path, default=Path("assets/models"), help="folder for the checkpoints")
    parser.add_argument(
        "--only", nargs="+", choices=keys, default=keys, metavar="KEY", help="make these alone"
    )
    parser.add_argument("--device", default="cpu", help="torch device to train on")
    parser.add_argument("--smoke", action="store_true", help="go through every stage with a few rows")
    return parser


def row(made: Made) -> str:
    """One line of the closing table."""
    return ROW.format(
        made.key,
        f"{made.parameters:,}",
        f"{made.size / 1e6:.2f} MB",
        f"{made.accuracy:.1%}",
        f"{made.majority:.1%}",
        f"{made.seconds:.0f} s",
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Makes the checkpoints that were asked for and prints what came out."""
    book = load_book()
    options = arguments(book.keys).parse_args(argv)
    book = smoke(book) if options.smoke else book
    torch.set_num_threads(1)  # models so small gain little from more, and the sums stay the same
    corpus = load_corpus(book, options.data)
    for name, dropped in corpus.dropped.items():
        kept = len(corpus.training[name])
        print(f"{book.sources[name].file}: {kept} rows; {dropped} more are evaluation texts, and dropped")
    table = []
    for key in options.only:
        table.append(row(make(key, book, corpus, options.out, options.device)))
        print(table[-1], flush=True)
    print(ROW.format("checkpoint", "parameters", "on disk", "accuracy", "majority", "time"), *table, sep="\n")


if __name__ == "__main__":
    main()
