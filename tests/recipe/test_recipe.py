"""The whole recipe on a few made-up rows: the teacher, every family, every task, every stage, the probes."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForPreTraining, AutoModelForSequenceClassification

from components.results import read_results
from recipe.__main__ import main
from recipe.corpus import Corpus
from recipe.recipes import PRETRAINED, Recipes, load_recipes, smoke
from recipe.steps import Workspace, run_step, run_steps, steps
from recipe.training import Progress
from tests.measured import measured

KEYS = load_recipes().keys
TUNED = tuple(key for key in KEYS if not key.endswith(PRETRAINED))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def made(data: Path, work: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assets")
    main(["--data", str(data), "--work", str(work), "--out", str(folder), "--smoke", "--jobs", "2"])
    return folder


@pytest.mark.parametrize("key", TUNED)
def test_a_classifier_is_an_ordinary_folder(key: str, made: Path, recipes: Recipes) -> None:
    folder = made / "models" / key
    files = {"README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {file.name for file in folder.iterdir()} == files
    _, info = AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    assert not any(info.values()), info
    config = AutoConfig.from_pretrained(folder)
    labels = recipes.tasks[key.split("-")[1]].labels
    assert (config.id2label, config.problem_type) == (dict(enumerate(labels)), "single_label_classification")
    assert config.label2id == {label: i for i, label in enumerate(labels)}
    assert config.pad_token_id is not None


@pytest.mark.parametrize("family", load_recipes().families)
def test_a_pretrained_checkpoint_lacks_a_classification_head_alone(family: str, made: Path) -> None:
    folder = made / "models" / f"{family}-pretrained"
    _, whole = AutoModelForPreTraining.from_pretrained(folder, output_loading_info=True)
    assert not any(whole.values()), whole
    _, info = AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    assert info["missing_keys"]
    encoder = AutoModelForSequenceClassification.from_pretrained(folder).base_model_prefix
    assert not [name for name in info["missing_keys"] if name.startswith(encoder)]


def test_a_student_starts_from_its_teacher(work: Path, data: Path, made: Path, tmp_path: Path) -> None:
    recipes = smoke(load_recipes())
    family = recipes.families["distilbert"]
    still = replace(family, pretraining=replace(family.pretraining, learning_rate=0.0))
    recipes = replace(recipes, families={**recipes.families, "distilbert": still})
    (tmp_path / "bert-pretrained").symlink_to(work / "bert-pretrained")
    run_step(Workspace(recipes, data, tmp_path, "cpu"), "distilbert-pretrained")
    ours = load_file(tmp_path / "distilbert-pretrained/model/model.safetensors")
    theirs = load_file(made / "models/bert-pretrained/model.safetensors")
    encoder = "bert.encoder.layer"
    for one, other in {
        "distilbert.embeddings.word_embeddings.weight": "bert.embeddings.word_embeddings.weight",
        "distilbert.transformer.layer.0.attention.q_lin.bias": f"{encoder}.0.attention.self.query.bias",
        "distilbert.transformer.layer.1.ffn.lin2.weight": f"{encoder}.2.output.dense.weight",
        "distilbert.transformer.layer.1.output_layer_norm.weight": f"{encoder}.2.output.LayerNorm.weight",
        "vocab_transform.weight": "cls.predictions.transform.dense.weight",
    }.items():
        assert torch.equal(ours[one], theirs[other]), one


def test_everything_is_shipped_and_nothing_else(made: Path) -> None:
    assert {folder.name for folder in (made / "models").iterdir()} == set(KEYS)
    assert {file.name for file in (made / "probes").iterdir()} == {f"{key}.safetensors" for key in KEYS}
    assert {file.name for file in made.iterdir()} == {"models", "probes", "results.csv"}


def test_results_cover_every_checkpoint_task_and_pooling(made: Path, recipes: Recipes) -> None:
    results = read_results(made / "results.csv")
    assert tuple(row.backbone for row in measured(results, "head")) == TUNED
    assert {row.backbone: row.task for row in measured(results, "swap")} == {
        key: key.split("-")[1] for key in TUNED
    }
    assert {row.task for row in measured(results, "baseline")} == set(recipes.baselines)
    asked = {(row.backbone, row.task) for row in measured(results, "probe")}
    assert asked == {(key, task) for key in KEYS for task in recipes.probing.sources}
    assert {(row.backbone, row.task) for row in measured(results, "depth")} == asked
    weighed = {(row.backbone, row.task) for row in measured(results, "agreement")}
    tasks = recipes.explaining.tasks
    assert weighed == {(key, task) for key in TUNED if (task := key.split("-")[1]) in tasks}
    assert {row.backbone for row in measured(results, "cosine")} == set(KEYS)
    assert {row.backbone for row in measured(results, "postprocessed")} == set(KEYS)
    assert tuple(row.backbone for row in measured(results, "size")) == KEYS
    learned = {"attention", "flatten"}
    for key in KEYS:
        assert learned < {row.pooling for row in measured(results, "probe") if row.backbone == key}


@pytest.mark.parametrize("key", KEYS)
def test_a_card_says_how_it_was_made(key: str, made: Path) -> None:
    card = (made / "models" / key / "README.md").read_text(encoding="utf-8")
    config = AutoConfig.from_pretrained(made / "models" / key)
    assert "$" not in card
    for words in (key, config.architectures[0], "Parameters", "Steps", "Dropped", "Licence", f"--only {key}"):
        assert words in card, words
    assert ("95 % bootstrap" in card) == (key in TUNED)
    assert ("12 rows held out from training" in card) == (key in TUNED)


def test_a_killed_run_goes_on(
    made: Path, work: Path, data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = {folder.name: folder.stat().st_mtime_ns for folder in work.iterdir()}
    main(["--data", str(data), "--work", str(work), "--out", str(tmp_path), "--smoke"])
    printed = capsys.readouterr().out
    assert "paraphrases: 48 examples; 1 more hold an evaluation's text, and are dropped" in printed
    assert all(f"[{name}] is there already" in printed for name in steps(smoke(load_recipes())))
    assert {folder.name: folder.stat().st_mtime_ns for folder in work.iterdir()} == before
    assert (tmp_path / "results.csv").read_bytes() == (made / "results.csv").read_bytes()
    assert printed.splitlines()[-len(TUNED) - 1].split()[:2] == ["checkpoint", "accuracy"]


NEEDED = ("teacher", "soft-labels", "xlnet-pretrained")  # for what is made a second time
AGAIN = ("gpt2-pretrained", "xlnet-paraphrase", "xlnet-paraphrase-probes")


@pytest.fixture(scope="module")
def again(
    recipes: Recipes, data: Path, work: Path, made: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Some steps made a second time; the first was begun by a run that was killed."""
    del made  # it fills ``work``
    folder = tmp_path_factory.mktemp("again")
    for step in NEEDED:
        (folder / step).symlink_to(work / step)
    (folder / ".gpt2-pretrained@old").mkdir()
    (folder / ".gpt2-pretrained@old/half").touch()
    run_steps(Workspace(recipes, data, folder, "cpu"), AGAIN, 1)
    return folder


def test_same_seed_same_classifier_and_probes(work: Path, again: Path) -> None:
    for file in ("xlnet-paraphrase/model/model.safetensors", "xlnet-paraphrase-probes/rows.csv"):
        assert (again / file).read_bytes() == (work / file).read_bytes()


@pytest.mark.usefixtures("made")
def test_nothing_that_is_reported_is_looked_at_before_all_is_made(
    recipes: Recipes, corpus: Corpus, data: Path, work: Path, tmp_path: Path
) -> None:
    for step in NEEDED:
        (tmp_path / step).symlink_to(work / step)
    blind = replace(corpus, evaluation={})
    workspace = Workspace(recipes, data, tmp_path, "cpu")
    for name in ("teacher", "xlnet-paraphrase"):
        made = tmp_path / f"blind-{name}"
        made.mkdir()
        steps(recipes)[name].make(workspace, blind, made, Progress(name))
        assert any(made.iterdir())


def test_a_smoke_run_keeps_every_stage(recipes: Recipes) -> None:
    whole = load_recipes()
    for name, task in recipes.tasks.items():
        kinds = [
            [(s.sources, s.augmentation, s.objective) for s in t.stages] for t in (task, whole.tasks[name])
        ]
        assert kinds[0] == kinds[1]
        assert {stage.steps for stage in task.stages} == {2}
    assert {name: family.config for name, family in recipes.families.items()} == {
        name: family.config for name, family in whole.families.items()
    }
    probed = {len(recipes.sources[source].texts) for source in recipes.probing.sources.values()}
    assert probed == {len(whole.sources[source].texts) for source in whole.probing.sources.values()} == {1, 2}
