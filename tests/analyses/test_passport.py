"""A passport says what transformers alone says of the same checkpoint, and the same of the same files."""

import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file
from sentence_transformers.base.modules import Normalize
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.analyses.passport import fingerprint, tried
from components.inference.engine import Engine, InProcess
from components.model.loading import load
from components.passports import issued, main
from components.settings import ASSETS, Settings
from components.types import Declaration, Normalize as Normalized, Query
from tests.checkpoints import Made, passport_of
from tests.model.test_declared import saved
from tests.plain import KEYS, SPECS
from tests.tiny import checkpoint

BERT = str(ASSETS / "models" / "bert-sentiment")
PLACES = {"xlnet": "last", "gpt2": "last"}  # of families; the others read the first
EQUAL = {"first": {"cls", "first"}, "last": {"cls", "lasttoken"}}  # [CLS]'s place is what the head reads


@pytest.mark.parametrize("key", [key for key in KEYS if key.endswith("-sentiment")])
def test_what_it_says_is_what_transformers_says(engine: Engine, key: str) -> None:
    folder, found = SPECS[key].location, engine.ask("passport", Query(key, ""))
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert found.parameters == sum(one.numel() for one in model.parameters())
    assert (found.layers, found.width) == (model.config.num_hidden_layers, model.config.hidden_size)
    place = PLACES.get(model.config.model_type, "first")
    assert (found.place, set(found.equal)) == (place, EQUAL[place])
    causal = model.config.model_type == "gpt2"  # the one that sees no later token
    sees = {"shape": "causal" if causal else "all", "window": None, "tokens": len(found.samples[2].tokens)}
    assert found.to_json()["sees"] == sees
    for sample in found.samples:
        ids = tokenizer(sample.text, sample.text_pair or None)["input_ids"]
        assert list(sample.tokens) == tokenizer.convert_ids_to_tokens(ids)
    for script in found.scripts:
        for one in script.tried:
            ids = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(one))
            assert (tokenizer.unk_token_id in ids) == (one in script.unread)
    bytewise = tokenizer.unk_token in (None, tokenizer.eos_token) or model.config.model_type == "roberta"
    assert any(script.unread for script in found.scripts) != bytewise


def test_a_head_that_averages_reads_every_token(tiny_family: Made) -> None:
    found = passport_of(load(tiny_family("modernbert", classifier_pooling="mean")))
    assert found.place == "every"
    assert "mean" in found.equal
    assert "cls" not in found.equal
    assert found.token == ""


LACKING = tomllib.loads(Path(__file__).with_name("lacking.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", LACKING)
def test_weights_come_from_its_files_where_none_is_lacking(name: str, tmp_path: Path) -> None:
    spec, file = checkpoint(tmp_path / "x"), tmp_path / "x" / "model.safetensors"
    save_file({key: one for key, one in load_file(file).items() if key != name}, file, {"format": "pt"})
    said = {sentence.key for sentence in passport_of(load(spec)).says}
    assert said & {*LACKING.values()} == {LACKING[name]}


def test_what_is_declared_stands_beside_what_is_measured(tmp_path: Path) -> None:
    folder = saved(tmp_path / "st", Pooling(128, "cls"), Normalize())
    found = passport_of(load(replace(SPECS["bert-sentiment"], location=str(folder))))
    assert found.backbone.declared == Declaration(("first",), 128, (Normalized(),))
    assert "Its head reads the same" in " ".join(map(str, found.says))
    assert found.fingerprint != fingerprint(SPECS["bert-sentiment"])


def test_the_same_files_give_the_same_passport(engine: Engine, tmp_path: Path) -> None:
    shutil.copytree(BERT, tmp_path / "copy")
    (tmp_path / "copy" / "README.md").write_text("nothing that is loaded")
    spec = replace(SPECS["bert-sentiment"], location=str(tmp_path / "copy"))
    assert fingerprint(spec) == fingerprint(SPECS["bert-sentiment"])
    answer = issued(InProcess(Settings()).run, "en", spec)
    assert isinstance(answer, dict)
    first = engine.ask("passport", Query("bert-sentiment", "")).to_json()
    assert json.loads(answer[".json"]) == json.loads(json.dumps({**first, "title": spec.title}))
    config = tmp_path / "copy" / "config.json"
    config.write_text(config.read_text() + " ")
    assert fingerprint(spec) != fingerprint(SPECS["bert-sentiment"])


def test_what_cannot_be_measured_is_said_and_the_rest_is_there(tiny_family: Made) -> None:
    found = passport_of(replace(load(SPECS[KEYS[0]]), limit=3))  # tokens: every sample is cut to as many
    assert (found.padding, found.ways, len(found.samples)) == ("unmeasured", (), 4)
    assert " ".join(map(str, found.says)).count("as many as the model takes") == 4
    # It reads four characters at a time, and "good" has three tokens.
    found = passport_of(load(tiny_family("canine")))
    assert [sample.text for sample in found.samples] == [text for text, _pair in tried()[0][1:]]
    assert "“good”, which cannot be measured" in " ".join(map(str, found.says))
    assert found.padding != "unmeasured"


def test_the_command_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint(tmp_path / "mine")
    asked = [str(tmp_path / "mine"), "no/such one", "--out", str(tmp_path / "out")]
    assert main(asked) == 1
    said = capsys.readouterr()
    assert "0 there already, 1 to measure" in said.out
    assert ".html, 1 of 1" in said.out
    assert "weights" not in said.err  # no bar of transformers
    assert "no/such one: backbone:" in said.err
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"mine.html", "mine.json", "mine.svg"}
    times = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
    assert main([asked[0], *asked[2:]]) == 0
    assert "1 there already, 0 to measure" in capsys.readouterr().out
    assert times == {file.name: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
