"""Makes the bundled checkpoints: ``python -m recipe --data ../shared/data``."""

import argparse
import shutil
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import pandas as pd
from jinja2 import StrictUndefined, Template
from transformers import AutoConfig

from components.model.internals import quiet
from components.model.loading import load as load_backbone
from components.results import KINDS, Row as Measured, Table, each, of, read_results, table, write_results
from components.types import Bools
from recipe import evidence
from recipe.corpus import Corpus, load_corpus, subsample
from recipe.recipes import Recipes, load_recipes
from recipe.steps import AGREEMENT, PROBES, ROWS, Record, Workspace, bundled, run_steps, steps
from recipe.training import correct, load, load_tokenizer


def publish(workspace: Workspace, corpus: Corpus, out: Path) -> Table:
    """Replaces models/, probes/ and results.csv in ``out`` by what the steps made.

    Raises FileNotFoundError, and changes nothing, where a step has not been made yet.
    """
    recipes = workspace.recipes
    results = collect_results(workspace, corpus)
    measured = {row.backbone: row for row in each(of(results, "head"))}
    learned = workspace.learned(corpus)
    for folder in ("models", "probes"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    for key in recipes.keys:
        made = out / "models" / key
        shutil.copytree(workspace.model(key), made)
        text = card(key, made, workspace.record(key), recipes, learned, measured.get(key))
        (made / "README.md").write_text(text, encoding="utf-8")
    for key in recipes.probed:
        shutil.copy(workspace.folder / f"{key}-{PROBES}" / f"{key}.safetensors", out / "probes")
    write_results(results, out / "results.csv")
    return results


def collect_results(workspace: Workspace, corpus: Corpus) -> Table:
    """The results of all steps, of the own heads as they are stored, and of the baselines of every task."""
    recipes, seed = workspace.recipes, workspace.recipes.seed
    made = [f"{key}-{PROBES}" for key in recipes.probed]
    made += [f"{key}-{AGREEMENT}" for key, task in recipes.tuned.items() if task in recipes.explaining]
    found = [read_results(workspace.folder / step / ROWS) for step in made]
    rows: list[evidence.Row] = []
    strongest = {}
    right: dict[str, dict[str, dict[str, Bools]]] = {}
    for task, sources in recipes.baselines.items():
        probing = recipes.probing.sources.get(task)
        given = [subsample(corpus.training[probing], recipes.probing.rows)] if probing else []
        given.append(tuple(corpus.examples(sources)))  # behind what probes learn from, what heads do
        for training in {len(examples): examples for examples in given}.values():
            answers = evidence.baseline_answers(training, corpus.evaluation[task], seed)
            basic = {"kind": "baseline", "task": task, "trained": len(training)}
            rows += [{**basic, "method": by, **evidence.estimate(one, seed)} for by, one in answers.items()]
        *_, strongest[task] = answers.values()
    for key, task in recipes.tuned.items():
        folder, examples = workspace.model(key), corpus.evaluation[task]
        backbone, probes = load_backbone(bundled(key, folder)), workspace.folder / f"{key}-{PROBES}"
        own = correct(load(folder), load_tokenizer(folder), examples).numpy()
        tested = evidence.estimate(own, seed) | evidence.sign_test(own, strongest[task])
        rows.append({"kind": "head", "backbone": key, "task": task, **tested})
        right.setdefault(task, {})[key] = {"": own}
        if task in recipes.probing.sources:
            right[task][key] |= evidence.last_answers(backbone, task, examples, probes / f"{key}.safetensors")
    rows += chain.from_iterable(evidence.pair_results(task, answers) for task, answers in right.items())
    every = pd.concat([table(rows), *found])
    return every.sort_values("kind", key=lambda kinds: kinds.map(list(KINDS).index), kind="stable")


def card(
    key: str, folder: Path, record: Record, recipes: Recipes, learned: Corpus, result: Measured | None
) -> str:
    """The model card of the checkpoint in ``folder``, which was ``learned`` from that corpus.

    ``result``: of its head, None where it has none.
    """
    template = Path(__file__).with_name("card.md").read_text(encoding="utf-8")
    made = {"key": key, "config": AutoConfig.from_pretrained(folder), "record": record, "learned": learned}
    made |= {"megabytes": (folder / "model.safetensors").stat().st_size / 1e6, "result": result}
    page = Template(template, undefined=StrictUndefined, keep_trailing_newline=True)
    return str(page.render(made, recipes=recipes))


def main(argv: Sequence[str] | None = None) -> None:
    """Makes what was asked for and, of the whole recipe, ships it and prints what came out."""
    recipes = load_recipes()
    parser = argparse.ArgumentParser(prog="python -m recipe", description=__doc__)
    folder = partial(parser.add_argument, type=Path)
    folder("--data", default="../shared/data", help="folder of the labelled texts")
    folder("--work", default=".bundle", help="folder of what is made already, to go on from")
    folder("--out", default="assets", help="folder for what is shipped")
    said = "make these and what they need; ship nothing"
    parser.add_argument("--only", nargs="+", choices=tuple(steps(recipes)), metavar="STEP", help=said)
    parser.add_argument("--jobs", type=int, default=1, help="how many steps to make at a time")
    options = parser.parse_args(argv)
    quiet()
    workspace = Workspace(recipes, options.data, options.work)
    if options.only:
        run_steps(workspace, options.only, options.jobs)
        return
    corpus = load_corpus(recipes, options.data)
    for name, dropped in corpus.dropped.items():
        kept = len(corpus.training[name])
        print(f"{name}: {kept:,} examples; {dropped:,} more hold an evaluation's text, and are dropped")
    run_steps(workspace, tuple(steps(recipes)), options.jobs)
    results = publish(workspace, corpus, options.out)
    for kind in ("baseline", "head"):
        print(of(results, kind).to_string(index=False, float_format="{:.3f}".format))
    for key, task in recipes.tuned.items():
        reached, bar = workspace.record(key).accuracy or 0.0, recipes.tasks[task].target_accuracy
        if reached < bar:  # what is reported decides nothing
            print(f"{key} missed {bar:.1%} with {reached:.1%} of its held-out rows")


if __name__ == "__main__":
    main()
