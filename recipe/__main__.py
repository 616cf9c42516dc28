"""Makes the bundled checkpoints: ``python -m recipe --data ../shared/data``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.results import Table, each, of
from recipe.corpus import load_corpus
from recipe.publish import publish
from recipe.recipes import Recipes, load_recipes, smoke
from recipe.steps import HeadRecord, Workspace, read_record, run_steps, steps

ROW = "{:<22} {:>9} {:>16} {:>9} {:>7}"


def arguments(names: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; ``names``: the steps of the recipe."""
    parser = argparse.ArgumentParser(prog="python -m recipe", description=__doc__)
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


def table(recipes: Recipes, results: Table, heads: Mapping[str, HeadRecord]) -> str:
    """The accuracies of baselines and of the fine-tuned checkpoints, by key their ``heads`` on held-out rows.

    A head misses its target by what it reaches on these rows; what is reported decides nothing.
    """
    lines = [ROW.format("baseline", "accuracy", "95 % interval", "", "")]
    for baseline in each(of(results, "baseline")):
        interval = f"{baseline.low:.1%} to {baseline.high:.1%}"
        name = f"{baseline.task}, {baseline.method}"
        lines.append(ROW.format(name, f"{baseline.value:.1%}", interval, "", ""))
    lines.append(ROW.format("checkpoint", "accuracy", "95 % interval", "held out", "target"))
    for row in each(of(results, "head")):
        interval = f"{row.low:.1%} to {row.high:.1%}"
        target = recipes.tasks[row.task].target_accuracy
        held_out = heads[row.backbone].accuracy
        missed = "" if held_out >= target else "  missed"
        shown = f"{row.value:.1%}", interval, f"{held_out:.1%}", f"{target:.1%}"
        lines.append(ROW.format(row.backbone, *shown) + missed)
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Makes what was asked for and, of the whole recipe, ships it and prints what came out."""
    recipes = load_recipes()
    options = arguments(tuple(steps(recipes))).parse_args(argv)
    recipes = smoke(recipes) if options.smoke else recipes
    workspace = Workspace(recipes, options.data, options.work, options.device)
    if options.only:
        run_steps(workspace, options.only, options.jobs)
        return
    corpus = load_corpus(recipes, options.data)
    for name, dropped in corpus.dropped.items():
        kept = len(corpus.training[name])
        print(f"{name}: {kept:,} examples; {dropped:,} more hold an evaluation's text, and are dropped")
    run_steps(workspace, tuple(steps(recipes)), options.jobs)
    results = publish(workspace, corpus, options.out)
    records = {key: read_record(workspace.output(key)) for key in recipes.keys}
    heads = {key: record.head for key, record in records.items() if record.head is not None}
    print(table(recipes, results, heads))


if __name__ == "__main__":
    main()
