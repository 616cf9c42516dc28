"""The recipe as steps that need one another; each leaves a folder in the workshop, and is then done."""

from __future__ import annotations

import json
import multiprocessing
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

import numpy as np
import torch

from components.bundle.checkpoints import fine_tune, load, pretrain, save
from components.bundle.corpus import Corpus, load_corpus, read_scored, thinned
from components.bundle.evidence import probe_backbone
from components.bundle.progress import Progress
from components.bundle.recipes import PRETRAINED, Book, parts
from components.bundle.teacher import fine_tune as fine_tune_teacher
from components.bundle.teacher import opinions, pair_opinions, tokenizer_of
from components.bundle.training import accuracy, predictions
from components.types import BackboneSpec

MODEL = "model"
PROBES = "probes"
ROWS = "rows.json"
OPINIONS = "opinions.npz"
RECORD = "record.json"


@dataclass(frozen=True)
class Workshop:
    """What every step works with: recipes, the folder of the data, its own folder, the torch device."""

    book: Book
    data: Path
    folder: Path
    device: str

    def made(self, step: str) -> Path:
        """Where a step leaves what it made."""
        return self.folder / step


@dataclass(frozen=True)
class Step:
    """``make`` fills the folder that it is given; ``needs`` are the steps that must be done before."""

    name: str
    needs: tuple[str, ...]
    make: Callable[[Workshop, Corpus, Path, Progress], None]


def steps(book: Book) -> Mapping[str, Step]:
    """Every step of the recipe by name: the teacher, its opinions, then each checkpoint and its probes."""
    found = [Step("teacher", (), make_teacher), Step("opinions", ("teacher",), make_opinions)]
    for key in book.keys:
        family, task = parts(key)
        if task == PRETRAINED:
            student = book.families[family].student
            needs = (f"{student.of}-{PRETRAINED}",) if student else ()
            found.append(Step(key, needs, partial(make_pretrained, family)))
        else:
            found.append(Step(key, ("opinions", f"{family}-{PRETRAINED}"), partial(make_fine_tuned, key)))
        found.append(Step(f"{key}-{PROBES}", (key,), partial(make_probes, key)))
    return {step.name: step for step in found}


def make_teacher(workshop: Workshop, corpus: Corpus, folder: Path, say: Progress) -> None:
    """The teacher, fine-tuned for its task."""
    book, teacher = workshop.book, workshop.book.teacher
    torch.manual_seed(book.seed)
    rng = random.Random(f"{book.seed} teacher")
    examples = [e for source in teacher.sources for e in corpus.training[source]]
    model = fine_tune_teacher(teacher, examples, book.training, rng, workshop.device, say)
    held = corpus.evaluation[teacher.task]
    right = accuracy(model, tokenizer_of(teacher), held)
    say.say(f"the teacher is right about {right:.1%} of {len(held):,}")
    model.save_pretrained(folder / MODEL)
    write_record(folder, workshop, {"accuracy": right}, say)


def make_opinions(workshop: Workshop, corpus: Corpus, folder: Path, say: Progress) -> None:
    """The teacher's opinions on every source that it is asked about, in one file."""
    teacher = workshop.book.teacher
    pairs = {source: corpus.training[source] for source in teacher.pairs}
    found = dict(pair_opinions(teacher, pairs, workshop.device))
    say.say(f"opinions on {sum(map(len, found.values())):,} pairs")
    model = load(workshop.made("teacher") / MODEL).to(workshop.device)  # type: ignore[arg-type]  # their stubs
    for source in teacher.texts:
        found[source] = opinions(model, tokenizer_of(teacher), corpus.training[source])
        say.say(f"opinions on {len(found[source]):,} {source}")
    np.savez(folder / OPINIONS, **cast(dict[str, Any], found))
    write_record(folder, workshop, {}, say)


def make_pretrained(name: str, workshop: Workshop, corpus: Corpus, folder: Path, say: Progress) -> None:
    """A family's checkpoint without a classification head."""
    student = workshop.book.families[name].student
    master = workshop.made(f"{student.of}-{PRETRAINED}") / MODEL if student else None
    model, tokenizer = pretrain(name, workshop.book, corpus, master, workshop.device, say)
    save(model, tokenizer, folder / MODEL)
    write_record(folder, workshop, {"parameters": model.num_parameters()}, say)


def make_fine_tuned(key: str, workshop: Workshop, corpus: Corpus, folder: Path, say: Progress) -> None:
    """A family's checkpoint for a task, measured as it is stored and compared with what it was before."""
    name, task = parts(key)
    book, held = workshop.book, corpus.evaluation[task]
    with np.load(workshop.made("opinions") / OPINIONS) as file:
        views = {source: file[source] for source in file.files}
    start = workshop.made(f"{name}-{PRETRAINED}") / MODEL
    model, tokenizer = fine_tune(key, start, book, corpus, views, workshop.device, say)
    exact = predictions(model.cpu(), tokenizer, held)
    save(model, tokenizer, folder / MODEL)
    stored = predictions(load(folder / MODEL), tokenizer, held)
    right = sum(label == e.label for label, e in zip(stored, held, strict=True)) / len(held)
    changed = sum(one != other for one, other in zip(exact, stored, strict=True))
    say.say(f"accuracy {right:.1%} of {len(held):,}; storing it as float16 changed {changed} answers")
    measured = {"accuracy": right, "measured": len(held), "changed": changed}
    write_record(folder, workshop, {"parameters": model.num_parameters(), **measured}, say)


def make_probes(key: str, workshop: Workshop, corpus: Corpus, folder: Path, say: Progress) -> None:
    """A checkpoint's probes, and what was measured of them and of its raw cosines."""
    probing, task = workshop.book.probing, parts(key)[1]
    model = workshop.made(key) / MODEL
    spec = BackboneSpec(key, title=key, task=task, note="", source="bundled", location=str(model))
    training = {name: thinned(corpus.training[s], probing.rows) for name, s in probing.sources.items()}
    held = {name: corpus.evaluation[name] for name in training}
    scored = read_scored(probing.scored, workshop.data)
    probes, cosines = probe_backbone(spec, training, held, scored, folder, workshop.book.seed)
    rows = {"probes": [asdict(row) for row in probes], "cosines": [asdict(row) for row in cosines]}
    (folder / ROWS).write_text(json.dumps(rows), encoding="utf-8")
    say.say(f"{len(probes)} probes")


def write_record(folder: Path, workshop: Workshop, measured: Mapping[str, float], say: Progress) -> None:
    """What the model card tells of how the folder came about."""
    kind = torch.device(workshop.device).type
    record = {"seconds": round(say.seconds), "threads": torch.get_num_threads(), "device": kind, **measured}
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")


def prepare_process() -> None:
    """Settings of torch that hold for a whole process, which therefore is one of the recipe's own."""
    torch.set_num_threads(1)  # models so small gain little from more, and the sums stay the same
    torch.set_flush_denormal(True)  # an optimizer's memory of a rare word fades into numbers that are slow


def run_step(workshop: Workshop, name: str) -> str:
    """Make one step's folder, all of it or nothing."""
    say = Progress(name)
    workshop.folder.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(prefix=f".{name}@", dir=workshop.folder))
    steps(workshop.book)[name].make(workshop, load_corpus(workshop.book, workshop.data), unfinished, say)
    unfinished.rename(workshop.made(name))
    for left in workshop.folder.glob(f".{name}@*"):  # by a run that was killed
        shutil.rmtree(left)
    return name


def with_needs(book: Book, names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The steps that ``names`` take, each with those that it needs."""
    known, found = steps(book), dict[str, tuple[str, ...]]()
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        found[name] = known[name].needs
        waiting.extend(known[name].needs)
    return {name: found[name] for name in known if name in found}


def run_steps(workshop: Workshop, names: Sequence[str], jobs: int) -> None:
    """Make every step named, and what they need, ``jobs`` at a time; what is there already stays as it is."""
    order = TopologicalSorter(with_needs(workshop.book, names))
    order.prepare()
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=prepare_process) as pool:
        running: set[Future[str]] = set()
        while order.is_active():
            for name in order.get_ready():
                if workshop.made(name).exists():
                    print(f"[{name}] is there already", flush=True)
                    order.done(name)
                else:
                    running.add(pool.submit(run_step, workshop, name))
            if running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                order.done(*(future.result() for future in finished))
