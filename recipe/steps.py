"""The recipe as a graph of steps; a step is done when its folder is in the workspace."""

import multiprocessing
import random
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter
from itertools import chain, repeat
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from pydantic import BaseModel
from threadpoolctl import threadpool_limits
from transformers import AutoModelForPreTraining

from components.model.internals import quiet
from components.model.loading import load as load_backbone
from components.model.probes import place_of, write_probes
from components.results import of, table, write_results
from components.types import BackboneSpec
from recipe import training
from recipe.corpus import Corpus, detokenize, load_corpus, read, subsample, without_held_out
from recipe.evidence import agreement_results, cosine_results, fit_probes, pair_soft_labels, probe_results
from recipe.recipes import PRETRAINED, Recipes, split_key
from recipe.training import Report

MODEL, PROBES, AGREEMENT = "model", "probes", "agreement"
ROWS, SOFT_LABELS, RECORD = "rows.csv", "soft_labels.npz", "record.json"


class Record(BaseModel):
    """Notes on how a checkpoint was made, for its model card.

    ``accuracy`` of its head on ``measured`` rows of its task that are held out from training, which decides
    whether it is kept; ``changed``: answers to these that storing the weights as float16 changed.
    """

    seconds: int = 0
    parameters: int
    accuracy: float | None = None  # None for a checkpoint that is only pre-trained
    measured: int = 0
    changed: int = 0


@dataclass(frozen=True)
class Workspace:
    """Surroundings of every step: the recipes, the folders of the data and of the steps."""

    recipes: Recipes
    data: Path
    folder: Path

    def record(self, key: str) -> Record:
        """Notes on how a checkpoint was made; pydantic.ValidationError names a field that is none of them."""
        return Record.model_validate_json((self.folder / key / RECORD).read_bytes())

    def model(self, key: str) -> Path:
        """The folder of the model that a step makes, or that a package carries."""
        package = self.recipes.measured.get(key)
        return training.checkpoint(package) if package else self.folder / key / MODEL

    def learned(self, corpus: Corpus) -> Corpus:
        """The corpus without the rows that decide whether checkpoints are kept: what these learn from."""
        return without_held_out(corpus, self.recipes.shared_words)


Make = Callable[[Workspace, Corpus, Path, training.Report], Record | None]  # fills a folder


def steps(recipes: Recipes) -> Mapping[str, tuple[tuple[str, ...], Make]]:
    """Every step of the recipe by name: the steps that it needs, and its maker."""
    needs: tuple[str, ...] = ("teacher",)
    found: dict[str, tuple[tuple[str, ...], Make]] = {"teacher": ((), make_teacher)}
    found["soft-labels"] = needs, make_soft_labels
    for key in recipes.keys:
        family, task = split_key(key)
        if task != PRETRAINED:
            needs = ("soft-labels", f"{family}-{PRETRAINED}")
        else:
            teacher = recipes.families[family].teacher
            needs = (f"{teacher}-{PRETRAINED}",) if teacher else ()
        found[key] = needs, partial(make_pretrained if task == PRETRAINED else make_fine_tuned, key)
        if task in recipes.explaining:
            found[f"{key}-{AGREEMENT}"] = (key,), partial(make_agreement, key)
    for key in recipes.probed:
        needs = () if key in recipes.measured else (key,)
        found[f"{key}-{PROBES}"] = needs, partial(make_probes, key)
    return found


def make_teacher(workspace: Workspace, corpus: Corpus, folder: Path, report: Report) -> None:
    """The teacher with a new head of two labels, fine-tuned for its task."""
    recipes, teacher = workspace.recipes, workspace.recipes.teacher
    torch.manual_seed(recipes.seed)
    rng = random.Random(f"{recipes.seed} teacher")
    examples = workspace.learned(corpus).examples(teacher.stage.sources)
    tokenizer = training.teacher_tokenizer(teacher)
    model = training.load(training.checkpoint(teacher.package))
    model = training.train(model, tokenizer, examples, teacher.stage, recipes.training, rng, report)
    model.save_pretrained(folder / MODEL)


def make_soft_labels(workspace: Workspace, corpus: Corpus, folder: Path, report: Report) -> None:
    """The teacher's soft labels for every source that the recipe names, in one file."""
    teacher, learned = workspace.recipes.teacher, workspace.learned(corpus)
    pairs = {source: learned.training[source] for source in teacher.pairs}
    encoder = load_backbone(bundled("teacher", training.checkpoint(teacher.package)))
    found = pair_soft_labels(encoder, pairs, teacher.calibration)
    report(f"soft labels for {sum(map(len, found.values())):,} pairs")
    model = training.load(workspace.model("teacher"))
    for source in teacher.texts:
        logits = training.logits_of(model, training.teacher_tokenizer(teacher), learned.training[source])
        found[source] = logits.softmax(-1)[:, 1].numpy()
        report(f"soft labels for {len(found[source]):,} {source}")
    np.savez(folder / SOFT_LABELS, **cast(dict[str, Any], found))


def make_pretrained(key: str, workspace: Workspace, corpus: Corpus, folder: Path, report: Report) -> Record:
    """A family's checkpoint after its paper's pre-training, without a classification head."""
    recipes, learned, name = workspace.recipes, workspace.learned(corpus), split_key(key)[0]
    family = recipes.families[name]
    texts = (one for text in learned.texts(recipes.vocabulary.sources) for one in (text, detokenize(text)))
    given = family.tokenizer, recipes.vocabulary, list(dict.fromkeys(texts)), recipes.max_length
    tokenizer = training.train_tokenizer(*given)
    report(f"vocabulary of {len(tokenizer):,} tokens")
    torch.manual_seed(recipes.seed)
    rng = random.Random(f"{recipes.seed} {name}")
    model, teacher = cast(Any, training.untrained(family, recipes, tokenizer)), None
    if family.teacher:
        teacher = training.load(workspace.model(f"{family.teacher}-{PRETRAINED}"), AutoModelForPreTraining)
        weights = teacher.state_dict()
        for own, weight in model.named_parameters():
            theirs = own
            for pattern, replacement in family.copies:
                theirs = re.sub(f"^{pattern}$", replacement, theirs)
            if theirs != own and theirs in weights:
                weight.data.copy_(weights[theirs])
    examples, stage = learned.examples(family.pretraining.sources), family.pretraining
    model = training.train(model, tokenizer, examples, stage, recipes.training, rng, report, teacher)
    training.save(model, tokenizer, folder / MODEL)
    return Record(parameters=model.num_parameters())


def make_fine_tuned(key: str, workspace: Workspace, corpus: Corpus, folder: Path, report: Report) -> Record:
    """A family's checkpoint for a task, with its accuracy on held-out rows as stored, in float16."""
    family, task = split_key(key)
    recipes, held_out, learned = workspace.recipes, corpus.held_out[task], workspace.learned(corpus)
    with np.load(workspace.folder / "soft-labels" / SOFT_LABELS) as file:
        soft_labels = {source: file[source] for source in file.files}
    torch.manual_seed(recipes.seed)
    rng = random.Random(f"{recipes.seed} {key}")
    labels, start = dict(enumerate(recipes.tasks[task].labels)), workspace.model(f"{family}-{PRETRAINED}")
    numbers = {label: number for number, label in labels.items()}
    kind = {"id2label": labels, "label2id": numbers, "problem_type": "single_label_classification"}
    model, tokenizer = training.load(start, **kind), training.load_tokenizer(start)
    for stage in recipes.stages(key):
        examples = training.stage_examples(stage, learned, soft_labels)
        model = training.train(model, tokenizer, examples, stage, recipes.training, rng, report)
    exact = training.logits_of(model, tokenizer, held_out).argmax(-1)
    training.save(model, tokenizer, folder / MODEL)
    stored = training.logits_of(training.load(folder / MODEL), tokenizer, held_out).argmax(-1)
    right = float(np.mean(stored.numpy() == [example.label for example in held_out]))
    changed = int((exact != stored).sum())
    report(f"accuracy {right:.1%} of {len(held_out):,} held-out rows; float16 changed {changed} answers")
    return Record(parameters=model.num_parameters(), accuracy=right, measured=len(held_out), changed=changed)


def make_probes(key: str, workspace: Workspace, corpus: Corpus, folder: Path, report: Report) -> None:
    """A backbone's probes for each task, and the results of them, read back, and of its raw cosines."""
    recipes, probing = workspace.recipes, workspace.recipes.probing
    backbone, file = load_backbone(bundled(key, workspace.model(key))), folder / f"{key}.safetensors"
    given = {task: subsample(corpus.training[name], probing.rows) for task, name in probing.sources.items()}
    fitted = {task: fit_probes(backbone, examples, recipes.seed) for task, examples in given.items()}
    probes = ((task, *at) for task, fits in fitted.items() for at in fits.items())
    write_probes({place_of(task, *depth): probe for task, depth, (probe, _strength) in probes}, file)
    measured = [
        probe_results(backbone, task, fits, len(given[task]), corpus.evaluation[task], file, recipes.seed)
        for task, fits in fitted.items()
    ]
    scored = read(probing.scored, workspace.data)[: probing.scored.rows]
    cosines = cosine_results(backbone, scored, recipes.seed)
    config, encoder = backbone.model.config, cast(Any, backbone.model.base_model)  # without its classifier
    size = {"kind": "size", "layers": config.num_hidden_layers, "width": config.hidden_size}
    size |= {"backbone": key, "parameters": encoder.num_parameters()}
    found = table(chain(*measured, cosines, [size]))
    write_results(found, folder / ROWS)
    report(f"{len(of(found, 'probe'))} probes on the last layer, {len(of(found, 'depth'))} below")


def make_agreement(key: str, workspace: Workspace, corpus: Corpus, folder: Path, report: Report) -> None:
    """Measures how alike similarity to [CLS], attention, gradients and erasure rank tokens."""
    task, recipes = split_key(key)[1], workspace.recipes
    backbone = load_backbone(bundled(key, workspace.model(key)))
    examples = corpus.evaluation[task][: recipes.explaining[task]]
    write_results(table(agreement_results(backbone, task, examples, recipes.seed)), folder / ROWS)
    report(f"tokens of {len(examples)} texts are weighed")


def bundled(key: str, folder: Path) -> BackboneSpec:
    """The checkpoint in a folder as what the engine loads."""
    return BackboneSpec(key, key, split_key(key)[1], "", "bundled", str(folder))


def prepare_process() -> None:
    """Sets what torch keeps for a whole process, and leaves the terminal to reports; in workers only."""
    quiet()
    torch.set_num_threads(1)  # models so small gain little from more, and the sums stay the same
    torch.set_flush_denormal(True)  # an optimizer's memory of a rare word fades into numbers that are slow


def run_step(workspace: Workspace, name: str) -> None:
    """Makes one step's folder, all of it or nothing."""
    started = time.perf_counter()

    def report(text: str) -> None:
        print(f"[{name}] {time.perf_counter() - started:6.0f} s  {text}", flush=True)

    unfinished = workspace.folder / f".{name}"
    shutil.rmtree(unfinished, ignore_errors=True)  # left by a run that was killed
    unfinished.mkdir(parents=True)
    corpus = load_corpus(workspace.recipes, workspace.data)
    with threadpool_limits(1):  # so that one seed gives the same numbers
        made = steps(workspace.recipes)[name][1](workspace, corpus, unfinished, report)
    if made:
        made.seconds = round(time.perf_counter() - started)
        (unfinished / RECORD).write_text(made.model_dump_json())
    unfinished.rename(workspace.folder / name)


def run_steps(workspace: Workspace, names: Sequence[str], jobs: int) -> None:
    """Makes the steps ``names`` and what they depend on, ``jobs`` at a time; skips those that are done."""
    known, waiting = steps(workspace.recipes), list(names)
    for name in waiting:  # which grows by what each needs
        waiting.extend(need for need in known[name][0] if need not in waiting)
    order = TopologicalSorter({name: known[name][0] for name in known if name in waiting})
    order.prepare()
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=prepare_process) as pool:
        while order.is_active():
            ready = order.get_ready()
            there = [name for name in ready if (workspace.folder / name).exists()]
            for name in there:
                print(f"[{name}] is there already", flush=True)
            list(pool.map(run_step, repeat(workspace), [name for name in ready if name not in there]))
            order.done(*ready)
