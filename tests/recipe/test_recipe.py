"""The whole recipe on a few made-up rows: the teacher, every family, every task, every stage, the probes."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForPreTraining, AutoModelForSequenceClassification

from components.results import read_results
from recipe.__main__ import main
from recipe.corpus import Corpus
from recipe.recipes import Recipes, load_recipes
from recipe.steps import Workspace, run_step, run_steps, steps
from tests.measured import measured
from tests.recipe.conftest import assert_complete

KEYS, TUNED = load_recipes().keys, load_recipes().tuned
NEEDED = ("teacher", "soft-labels", "xlnet-pretrained")  # for what is made a second time


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def made(recipes: Recipes, data: Path, work: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assets")
    with patch("recipe.__main__.load_recipes", lambda: recipes):
        main(["--data", str(data), "--work", str(work), "--out", str(folder), "--jobs", "2"])
    return folder


@pytest.mark.parametrize("key", KEYS)
def test_a_checkpoint_is_an_ordinary_folder_with_a_card(key: str, made: Path, recipes: Recipes) -> None:
    folder, tuned = made / "models" / key, key in TUNED
    kind = AutoModelForSequenceClassification if tuned else AutoModelForPreTraining
    model, info = kind.from_pretrained(folder, output_loading_info=True)
    assert not any(info.values()), info
    config = AutoConfig.from_pretrained(folder)
    assert config.dtype == torch.float32  # though the weights are stored in half precision
    if tuned:
        files = {"README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
        assert {file.name for file in folder.iterdir()} == files
        labels = recipes.tasks[TUNED[key]].labels
        assert config.id2label == dict(enumerate(labels))
        assert config.label2id == {label: i for i, label in enumerate(labels)}
        assert config.problem_type == "single_label_classification"
        assert config.pad_token_id is not None
    else:
        model, info = AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
        assert info["missing_keys"]
        assert not [name for name in info["missing_keys"] if name.startswith(model.base_model_prefix)]
    card = (folder / "README.md").read_text(encoding="utf-8")
    for words in (config.architectures[0], "Parameters", "Dropped", "Licence", f"--only {key}"):
        assert words in card, words
    said = [words in card for words in ("95 % bootstrap", "12 rows held out from training")]
    assert said == [tuned] * 2


@pytest.mark.usefixtures("made")
def test_a_student_starts_from_its_teacher(recipes: Recipes, work: Path, data: Path, tmp_path: Path) -> None:
    family = recipes.families["distilbert"]
    still = {"pretraining": family.pretraining.model_copy(update={"learning_rate": 0.0})}
    families = {**recipes.families, "distilbert": family.model_copy(update=still)}
    stilled = recipes.model_copy(update={"families": families})
    (tmp_path / "bert-pretrained").symlink_to(work / "bert-pretrained")
    run_step(Workspace(stilled, data, tmp_path), "distilbert-pretrained")
    ours = load_file(tmp_path / "distilbert-pretrained/model/model.safetensors")
    theirs = load_file(work / "bert-pretrained/model/model.safetensors")
    for one, other in {
        "distilbert.embeddings.word_embeddings.weight": "bert.embeddings.word_embeddings.weight",
        "distilbert.transformer.layer.1.ffn.lin2.weight": "bert.encoder.layer.2.output.dense.weight",
        "vocab_transform.weight": "cls.predictions.transform.dense.weight",
    }.items():
        assert torch.equal(ours[one], theirs[other]), one


def test_everything_is_shipped_and_results_cover_it(made: Path, recipes: Recipes) -> None:
    assert {folder.name for folder in (made / "models").iterdir()} == set(KEYS)
    assert {file.name for file in (made / "probes").iterdir()} == {f"{key}.safetensors" for key in KEYS}
    assert {file.name for file in made.iterdir()} == {"models", "probes", "results.csv"}
    results = read_results(made / "results.csv")
    assert_complete(results, recipes)
    assert {row.task for row in measured(results, "baseline")} == set(recipes.baselines)


def test_a_killed_run_goes_on(
    made: Path, recipes: Recipes, work: Path, data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = {folder.name: folder.stat().st_mtime_ns for folder in work.iterdir()}
    with patch("recipe.__main__.load_recipes", lambda: recipes):
        main(["--data", str(data), "--work", str(work), "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "paraphrases: 48 examples; 1 more hold an evaluation's text, and are dropped" in printed
    assert all(f"[{name}] is there already" in printed for name in before)
    assert "bert-sentiment missed" in printed
    assert {folder.name: folder.stat().st_mtime_ns for folder in work.iterdir()} == before
    assert (tmp_path / "results.csv").read_bytes() == (made / "results.csv").read_bytes()


@pytest.mark.usefixtures("made")
def test_same_seed_same_probes(recipes: Recipes, data: Path, work: Path, tmp_path: Path) -> None:
    """Some steps made a second time; the first was begun by a run that was killed."""
    for step in NEEDED:
        (tmp_path / step).symlink_to(work / step)
    (tmp_path / ".xlnet-paraphrase/half").mkdir(parents=True)
    run_steps(Workspace(recipes, data, tmp_path), ["xlnet-paraphrase-probes"], 1)
    for file in ("xlnet-paraphrase/model/model.safetensors", "xlnet-paraphrase-probes/rows.csv"):
        assert (tmp_path / file).read_bytes() == (work / file).read_bytes()
    assert not [*tmp_path.glob("**/half"), *tmp_path.glob(".*")]


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("step", ["teacher", "xlnet-paraphrase"])
def test_nothing_that_is_reported_is_looked_at_before_all_is_made(
    step: str, recipes: Recipes, corpus: Corpus, data: Path, work: Path, tmp_path: Path
) -> None:
    for needed in NEEDED:
        (tmp_path / needed).symlink_to(work / needed)
    _needs, make = steps(recipes)[step]
    make(Workspace(recipes, data, tmp_path), replace(corpus, evaluation={}), tmp_path / "blind", print)
    assert any((tmp_path / "blind").iterdir())


def test_few_rows_go_through_every_stage(recipes: Recipes) -> None:
    whole = load_recipes()
    for key in KEYS:
        stages = [stage.model_copy(update={"steps": 2, "batch": 8}) for stage in whole.stages(key)]
        assert stages == list(recipes.stages(key))
    for each in (recipes, whole):
        probed = {len(each.sources[source].texts) for source in each.probing.sources.values()}
        assert probed == {1, 2}
