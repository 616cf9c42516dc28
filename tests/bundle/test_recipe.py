"""The whole recipe on a few made-up rows: every family, every task, every stage."""

from dataclasses import replace
from pathlib import Path

import pytest
from transformers import AutoConfig, AutoModelForSequenceClassification

from components.bundle.__main__ import main
from components.bundle.checkpoints import make
from components.bundle.corpus import Corpus
from components.bundle.recipes import RECIPES, Book, load_book, smoke

KEYS = load_book().keys


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    main(["--data", str(data), "--out", str(folder), "--smoke"])
    return folder


def test_ten_checkpoints_in_order() -> None:
    families = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
    assert tuple(f"{f}-{task}" for task in ("sentiment", "paraphrase") for f in families) == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_a_checkpoint_is_an_ordinary_folder(key: str, made: Path, book: Book) -> None:
    files = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {file.name for file in (made / key).iterdir()} == files
    _, info = AutoModelForSequenceClassification.from_pretrained(made / key, output_loading_info=True)
    assert not any(info.values()), info
    config = AutoConfig.from_pretrained(made / key)
    labels = book.tasks[key.split("-")[1]].labels
    assert (config.id2label, config.problem_type) == (dict(enumerate(labels)), "single_label_classification")
    assert config.label2id == {label: i for i, label in enumerate(labels)}
    assert config.pad_token_id is not None


def test_nothing_else_is_left(made: Path) -> None:
    assert {folder.name for folder in made.iterdir()} == set(KEYS)


def test_only_what_was_asked_for_and_a_table(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--data", str(data), "--out", str(tmp_path), "--smoke", "--only", "gpt2-sentiment"])
    assert [folder.name for folder in tmp_path.iterdir()] == ["gpt2-sentiment"]
    printed = capsys.readouterr().out.splitlines()
    assert "sst2/train.tsv: 64 rows; 1 more are evaluation texts, and dropped" in printed
    assert printed[-2].split() == ["checkpoint", "parameters", "on", "disk", "accuracy", "majority", "time"]
    assert printed[-1].startswith("gpt2-sentiment")


def test_an_unknown_key_is_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(data), "--only", "gpt3-sentiment"])
    assert "bert-sentiment" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["bert-paraphrase", "xlnet-sentiment"])
def test_same_seed_same_weights(key: str, made: Path, book: Book, corpus: Corpus, tmp_path: Path) -> None:
    make(key, book, corpus, tmp_path, "cpu")
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (tmp_path / key / name).read_bytes() == (made / key / name).read_bytes()


def test_another_seed_other_weights(made: Path, book: Book, corpus: Corpus, tmp_path: Path) -> None:
    make("bert-sentiment", replace(book, seed=book.seed + 1), corpus, tmp_path, "cpu")
    theirs, ours = (f / "bert-sentiment" / "model.safetensors" for f in (tmp_path, made))
    assert theirs.read_bytes() != ours.read_bytes()


def test_a_smoke_run_keeps_every_stage(book: Book) -> None:
    whole = load_book()
    for name, task in smoke(whole).tasks.items():
        stages = whole.tasks[name].stages
        assert [(s.sources, s.variation, s.objective) for s in task.stages] == [
            (s.sources, s.variation, s.objective) for s in stages
        ]
        assert {s.epochs for s in task.stages} == {1}
    assert book.families == whole.families


def test_an_unknown_setting_is_named(tmp_path: Path) -> None:
    text = RECIPES.read_text(encoding="utf-8")
    (tmp_path / "recipes.toml").write_text(text.replace("warm_up", "warmth"), encoding="utf-8")
    with pytest.raises(TypeError, match="warmth"):
        load_book(tmp_path / "recipes.toml")
