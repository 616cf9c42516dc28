"""The recipe as a graph of steps; a step is done when its folder is in the workspace."""

from __future__ import annotations

import multiprocessing
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

import numpy as np
import torch
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from components.model.loading import load as load_backbone
from components.results import of, table, write_results
from components.types import BackboneSpec
from recipe.agreement import agreement_results
from recipe.checkpoints import fine_tune, load, pretrain, save
from recipe.corpus import Corpus, load_corpus, read, read_scored, subsample, without_held_out
from recipe.cosines import unscored_texts
from recipe.evidence import probe_backbone
from recipe.recipes import PRETRAINED, Recipes, split_key
from recipe.teacher import checkpoint, pair_soft_labels, soft_labels, tokenizer_of
from recipe.teacher import fine_tune as fine_tune_teacher
from recipe.training import Progress, accuracy, predictions

MODEL = "model"
PROBES = "probes"
AGREEMENT = "agreement"
ROWS = "rows.csv"
SOFT_LABELS = "soft_labels.npz"
RECORD = "record.json"


@dataclass(frozen=True)
class Workspace:
    """What every step works with: the recipes, the folders of the data and of the steps, the torch device."""

    recipes: Recipes
    data: Path
    folder: Path
    device: str

    def output(self, step: str) -> Path:
        """The folder of a step."""
        return self.folder / step

    def learned(self, corpus: Corpus) -> Corpus:
        """What checkpoints learn from: ``corpus`` without the rows that decide whether they are kept."""
        return without_held_out(corpus, self.recipes.held_out.shared_words)


@dataclass(frozen=True)
class HeadRecord:
    """A classification head on the rows of its task that are held out from training.

    ``accuracy`` of ``measured`` rows, which decides whether the checkpoint is kept; ``changed``: answers that
    storing the weights as float16 changed.
    """

    accuracy: float
    measured: int
    changed: int


@dataclass(frozen=True)
class Record:
    """How a checkpoint was made, for its model card; ``head``: None for one that is only pre-trained."""

    seconds: int
    threads: int
    device: str
    parameters: int
    head: HeadRecord | None


@dataclass(frozen=True)
class Step:
    """``make`` fills the folder that it is given; ``needs`` are the steps that it depends on."""

    name: str
    needs: tuple[str, ...]
    make: Callable[[Workspace, Corpus, Path, Progress], None]


def steps(recipes: Recipes) -> Mapping[str, Step]:
    """Every step of the recipe by name: the teacher, its soft labels, then each checkpoint and its probes."""
    found = [Step("teacher", (), make_teacher), Step("soft-labels", ("teacher",), make_soft_labels)]
    for key in recipes.keys:
        family, task = split_key(key)
        if task == PRETRAINED:
            student = recipes.families[family].student
            needs = (f"{student.of}-{PRETRAINED}",) if student else ()
            found.append(Step(key, needs, partial(make_pretrained, family)))
        else:
            found.append(Step(key, ("soft-labels", f"{family}-{PRETRAINED}"), partial(make_fine_tuned, key)))
        found.append(Step(f"{key}-{PROBES}", (key,), partial(make_probes, key)))
        if task in recipes.explaining.tasks:
            found.append(Step(f"{key}-{AGREEMENT}", (key,), partial(make_agreement, key)))
    found += [Step(f"{key}-{PROBES}", (), partial(make_probes, key)) for key in recipes.measured]
    return {step.name: step for step in found}


def make_teacher(workspace: Workspace, corpus: Corpus, folder: Path, progress: Progress) -> None:
    """The teacher, fine-tuned for its task."""
    recipes, teacher, learned = workspace.recipes, workspace.recipes.teacher, workspace.learned(corpus)
    torch.manual_seed(recipes.seed)
    rng = random.Random(f"{recipes.seed} teacher")
    examples = [e for source in teacher.sources for e in learned.training[source]]
    model = fine_tune_teacher(teacher, examples, recipes.training, rng, workspace.device, progress)
    held_out = corpus.held_out[teacher.task]
    right = accuracy(model, tokenizer_of(teacher), held_out)
    progress.report(f"the teacher is right about {right:.1%} of {len(held_out):,}")
    model.save_pretrained(folder / MODEL)


def make_soft_labels(workspace: Workspace, corpus: Corpus, folder: Path, progress: Progress) -> None:
    """The teacher's soft labels for every source that the recipe names, in one file."""
    teacher, learned = workspace.recipes.teacher, workspace.learned(corpus)
    pairs = {source: learned.training[source] for source in teacher.pairs}
    found = dict(pair_soft_labels(teacher, pairs, workspace.device))
    progress.report(f"soft labels for {sum(map(len, found.values())):,} pairs")
    model = load(workspace.output("teacher") / MODEL).to(workspace.device)  # type: ignore[arg-type]  # their stubs
    for source in teacher.texts:
        found[source] = soft_labels(model, tokenizer_of(teacher), learned.training[source])
        progress.report(f"soft labels for {len(found[source]):,} {source}")
    np.savez(folder / SOFT_LABELS, **cast(dict[str, Any], found))


def make_pretrained(
    name: str, workspace: Workspace, corpus: Corpus, folder: Path, progress: Progress
) -> None:
    """A family's checkpoint without a classification head."""
    student = workspace.recipes.families[name].student
    teacher = workspace.output(f"{student.of}-{PRETRAINED}") / MODEL if student else None
    learned = workspace.learned(corpus)
    model, tokenizer = pretrain(name, workspace.recipes, learned, teacher, workspace.device, progress)
    save(model, tokenizer, folder / MODEL)
    write_record(folder, workspace, model.num_parameters(), None, progress)


def make_fine_tuned(key: str, workspace: Workspace, corpus: Corpus, folder: Path, progress: Progress) -> None:
    """A family's checkpoint for a task, with its accuracy on held-out rows as stored, in float16."""
    name, task = split_key(key)
    recipes, held_out, learned = workspace.recipes, corpus.held_out[task], workspace.learned(corpus)
    with np.load(workspace.output("soft-labels") / SOFT_LABELS) as file:
        labels = {source: file[source] for source in file.files}
    start = workspace.output(f"{name}-{PRETRAINED}") / MODEL
    model, tokenizer = fine_tune(key, start, recipes, learned, labels, workspace.device, progress)
    exact = predictions(model.cpu(), tokenizer, held_out)
    save(model, tokenizer, folder / MODEL)
    stored = predictions(load(folder / MODEL), tokenizer, held_out)
    right = sum(label == e.label for label, e in zip(stored, held_out, strict=True)) / len(held_out)
    changed = sum(one != other for one, other in zip(exact, stored, strict=True))
    progress.report(
        f"accuracy {right:.1%} of {len(held_out):,} held-out rows; storing it as float16 changed {changed}"
        " answers"
    )
    head = HeadRecord(right, len(held_out), changed)
    write_record(folder, workspace, model.num_parameters(), head, progress)


def make_probes(key: str, workspace: Workspace, corpus: Corpus, folder: Path, progress: Progress) -> None:
    """A checkpoint's probes, and the results of them and of its raw cosines."""
    probing = workspace.recipes.probing
    package = workspace.recipes.measured.get(key)
    spec = bundled(key, checkpoint(package) if package else workspace.output(key) / MODEL)
    training = {name: subsample(corpus.training[s], probing.rows) for name, s in probing.sources.items()}
    held_out = {name: corpus.evaluation[name] for name in training}
    scored = read_scored(probing.scored, workspace.data)
    unscored = subsample(read(probing.unscored, workspace.data), probing.unscored.rows)
    texts = unscored_texts(unscored, scored)
    found = probe_backbone(spec, training, held_out, scored, texts, folder, workspace.recipes.seed)
    write_results(found, folder / ROWS)
    progress.report(f"{len(of(found, 'probe'))} probes on the last layer, {len(of(found, 'depth'))} below")


def make_agreement(key: str, workspace: Workspace, corpus: Corpus, folder: Path, progress: Progress) -> None:
    """How alike similarity to [CLS], attention, gradients and erasure rank tokens, in a checkpoint."""
    task, recipes = split_key(key)[1], workspace.recipes
    backbone = load_backbone(bundled(key, workspace.output(key) / MODEL))
    examples = corpus.evaluation[task][: recipes.explaining.rows]
    rows = agreement_results(backbone, task, examples, recipes.seed)
    write_results(table(rows), folder / ROWS)
    progress.report(f"tokens of {len(examples)} texts are weighed")


def bundled(key: str, folder: Path) -> BackboneSpec:
    """The checkpoint in a folder as what the engine loads."""
    return BackboneSpec(
        key, title=key, task=split_key(key)[1], note="", source="bundled", location=str(folder)
    )


def write_record(
    folder: Path, workspace: Workspace, parameters: int, head: HeadRecord | None, progress: Progress
) -> None:
    """Writes the record of a checkpoint into its folder."""
    kind = torch.device(workspace.device).type
    record = Record(round(progress.seconds), torch.get_num_threads(), kind, parameters, head)
    (folder / RECORD).write_bytes(TypeAdapter(Record).dump_json(record))


def read_record(folder: Path) -> Record:
    """The record in a checkpoint's folder; pydantic.ValidationError names a field that is not as declared."""
    return TypeAdapter(Record).validate_json((folder / RECORD).read_bytes())


def prepare_process() -> None:
    """Sets what torch keeps for a whole process; called in the worker processes only."""
    torch.set_num_threads(1)  # models so small gain little from more, and the sums stay the same
    torch.set_flush_denormal(True)  # an optimizer's memory of a rare word fades into numbers that are slow


def run_step(workspace: Workspace, name: str) -> str:
    """Makes one step's folder, all of it or nothing, and gives its name."""
    progress = Progress(name)
    workspace.folder.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(prefix=f".{name}@", dir=workspace.folder))
    steps(workspace.recipes)[name].make(
        workspace, load_corpus(workspace.recipes, workspace.data), unfinished, progress
    )
    unfinished.rename(workspace.output(name))
    for unfinished in workspace.folder.glob(f".{name}@*"):  # left by a run that was killed
        shutil.rmtree(unfinished)
    return name


def with_needs(recipes: Recipes, names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The steps ``names`` and all that they depend on, each with its direct dependencies."""
    known, found = steps(recipes), dict[str, tuple[str, ...]]()
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        found[name] = known[name].needs
        waiting.extend(known[name].needs)
    return {name: found[name] for name in known if name in found}


def run_steps(workspace: Workspace, names: Sequence[str], jobs: int) -> None:
    """Makes the steps ``names`` and what they depend on, ``jobs`` at a time; skips those that are done."""
    order = TopologicalSorter(with_needs(workspace.recipes, names))
    order.prepare()
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=prepare_process) as pool:
        running: set[Future[str]] = set()
        while order.is_active():
            for name in order.get_ready():
                if workspace.output(name).exists():
                    print(f"[{name}] is there already", flush=True)
                    order.done(name)
                else:
                    running.add(pool.submit(run_step, workspace, name))
            if running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                order.done(*(future.result() for future in finished))
