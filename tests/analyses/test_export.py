"""What is exported runs where Poolscope is not, and says what Poolscope says."""

import io
import json
import runpy
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_hub.utils import filter_repo_objects
from safetensors.numpy import save_file
from transformers import logging

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.export import classifier, module, pooling_source, program
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import Examined, examine
from components.model.internals import repeatable
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.types import Analysis, Query, TaskSpec
from tests.checkpoints import Made
from tests.plain import FIRST, INPUTS, KEYS, SPECS, load_plain
from tests.serving import ROOT, python
from tests.tiny import change, checkpoint

TEXT = INPUTS[0][0]
ODD = 'It\'s "{odd}" {{0}} \\n \\ \t\n\r\n """ 你好，世界! 👩\u200d👧 \u202eabc\u2028\x00 " + exit(3) + "'
FAMILIES = tuple(key for key in KEYS if key.endswith("-sentiment"))
ANYWHERE = [key for key in POOLINGS if key not in ("pooler", "declared")]  # for checkpoints of any kind
SEEN = "the film is not good at all"
POOLED = ("albert", "bart", "gpt_neox", "zamba2")
INSIDE = ("t5", "longformer", "canine", "funnel")
TINY = ("regression", "several", "headless", "reshaped")  # made on the spot
MORE = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))
RUNNER = """
import contextlib, importlib.util, io, json, pathlib, runpy, sys
assert importlib.util.find_spec("components") is None, "Poolscope must be out of reach"
printed = {}
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        runpy.run_path(str(file), run_name="__main__")
    printed[file.stem] = output.getvalue()
pathlib.Path(sys.argv[1], "printed.json").write_text(json.dumps(printed))
"""


def swap(key: str, pooling: str, *texts: str) -> Query:
    return Query(key, *(texts or (TEXT,)), pooling=pooling)


def probe(key: str, pooling: str) -> Query:
    return Query(key, TEXT, pooling=pooling, head="probe")


PROGRAMS = {
    **{name: Query(**{"text": TEXT, **fields}) for name, fields in MORE["programs"].items()},
    **{f"{key} {pooling}": swap(key, pooling) for key in FAMILIES for pooling in ("native", "mean")},
    **{f"{key} native": swap(key, "native", "not good") for key in TINY},
    **{f"{key} odd text": Query(key, ODD, ODD[::-1]) for key in ("bert-sentiment", "gpt2-sentiment")},
    **{f"{family} native": Query(family, SEEN) for family in (*POOLED, "t5", "canine")},
    **{f"{family} layers": Query(family, SEEN, pooling="first_last_avg") for family in POOLED},
    "longer than the limit": swap("gpt2-sentiment", "lasttoken", "good film " * 200),
    **{f"probe gpt2-sentiment {pooling}": probe("gpt2-sentiment", pooling) for pooling in ANYWHERE},
}
MODULES = {
    **{name: Query(**{"text": TEXT, **fields}) for name, fields in MORE["modules"].items()},
    **{f"module {key}": swap(key, "native") for key in (*FAMILIES, *TINY)},
    **{f"module probe {key}": probe("gpt2-sentiment", key) for key in ("native", "attention", "flatten")},
    **{f"module {family}": Query(family, SEEN, pooling="first_last_avg") for family in POOLED},
}


def made(folder: Path, tiny_family: Made) -> Iterator[tuple[str, Backbone]]:
    """Checkpoints that are not bundled, by their keys."""
    for family in (*POOLED, "t5", "canine"):
        yield family, load(tiny_family(family))
    yield "t5gemma-is_encoder_decoder=False", load(tiny_family("t5gemma", is_encoder_decoder=False))
    yield "regression", load(checkpoint(folder / "regression", num_labels=1))
    several = {"num_labels": 3, "problem_type": "multi_label_classification"}
    yield "several", load(checkpoint(folder / "several", "distilbert", **several))
    yield "headless", load(checkpoint(folder / "headless", headless=True))
    reshaped = checkpoint(folder / "reshaped", "gpt2", "gpt2", num_labels=3)
    names = {str(index): f"label {index}" for index in range(4)}
    numbers = {name: int(index) for index, name in names.items()}
    change(folder / "reshaped" / "config.json", id2label=names, label2id=numbers)
    yield "reshaped", load(reshaped)
    deeper = load(SPECS["distilbert-sentiment"])  # the head begins behind one of many layers: a tensor alone
    yield "deeper", replace(deeper, cut=deeper.model.get_submodule("distilbert.transformer.layer.1"))


Exported = dict[str, tuple[str, Analysis, str]]  # by names of queries: source, our answer, what it printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exported")


@pytest.fixture(scope="module")
def exported(
    engine: Engine, folder: Path, tiny_family: Made, tmp_path_factory: pytest.TempPathFactory
) -> Exported:
    """Every file, run one after the other in one process that has no way to Poolscope."""
    own = dict(made(tmp_path_factory.mktemp("checkpoints"), tiny_family))
    known: dict[str, tuple[str, Analysis]] = {}
    for name, query in (PROGRAMS | MODULES).items():
        if query.backbone in own:
            with repeatable(own[query.backbone].model):
                examined = examine(own[query.backbone], query)
                source, analysis = (module if name in MODULES else program)(examined), analyse(examined)
            path = json.dumps(examined.backbone.spec.location)
            source = source.replace(f" = {json.dumps(query.backbone)}\n", f" = {path}\n")
        else:
            anatomy = engine.ask("anatomy", query)
            source, analysis = anatomy.module if name in MODULES else anatomy.program, anatomy.analysis
        (folder / f"{name}.py").write_text(source, encoding="utf-8", newline="")
        known[name] = source, analysis
    ran = python("-I", "-c", RUNNER, str(folder), timeout=900)
    assert ran.returncode == 0, ran.stderr
    printed = json.loads((folder / "printed.json").read_text(encoding="utf-8"))
    return {name: (*both, printed[name]) for name, both in known.items()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_probabilities(exported: Exported, name: str) -> None:
    _, analysis, told = exported[name]
    lines = [line.rsplit(": ", 1) for line in told.splitlines()]
    assert [label for label, _number in lines] == list(analysis.labels)
    numbers = [float(number) for _label, number in lines]
    np.testing.assert_allclose(numbers, analysis.probabilities, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_learns(exported: Exported, name: str) -> None:
    before, after = (float(line.rsplit(": ", 1)[1]) for line in exported[name][2].splitlines())
    assert after < before


@pytest.mark.parametrize("key", FAMILIES)
def test_a_module_with_the_own_weights_is_the_own_head(
    exported: Exported, folder: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.chdir(ROOT)
    read = "first" if key.split("-")[0] in FIRST else "lasttoken"
    assert f"stands behind the pooling {read}." in exported[f"module {key}"][0]
    ours = runpy.run_path(str(folder / f"module {key}.py"))["Classifier"]().eval()
    plain = load_plain(SPECS[key].location)
    linear = [layer for layer in ours.head if isinstance(layer, torch.nn.Linear)]
    for layer, path in zip(linear, MORE["heads"][key.split("-")[0]], strict=True):
        layer.load_state_dict(plain.model.get_submodule(path).state_dict())
    batch = plain.tokenizer([TEXT, "not good"], padding=True, return_tensors="pt")
    assert not batch["attention_mask"].all()
    labels = torch.tensor([1, 0])
    with torch.no_grad():
        expected = plain.model(**batch, labels=labels)
    given = ours(**batch, labels=labels)
    np.testing.assert_allclose(given["logits"].detach(), expected.logits, atol=1e-5)
    np.testing.assert_allclose(given["loss"].detach(), expected.loss, atol=1e-5)
    given["loss"].backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in ours.head.parameters())


@pytest.mark.usefixtures("exported")
def test_the_body_of_a_module_is_that_of_the_classifier(folder: Path, tiny_family: Made) -> None:
    """Of this one AutoModel would give another, with a decoder."""
    backbone = load(tiny_family("t5gemma", is_encoder_decoder=False))
    body = runpy.run_path(str(folder / "module encoder alone.py"))["Classifier"]().body
    kept = examine(backbone, Query("t5gemma", SEEN)).kept
    torch.testing.assert_close(body.eval()(**kept.inputs).last_hidden_state, kept.hidden[-1])


@pytest.mark.parametrize("command", [("check", "--select", "E,F,I"), ("format", "--check")])
@pytest.mark.usefixtures("exported")
def test_a_linter_finds_nothing(folder: Path, command: tuple[str, ...]) -> None:
    long = ["*odd text*", "*longer*", *(["probe*native*"] if "format" in command else [])]  # long literals
    excluded = [part for pattern in long for part in ("--exclude", pattern)]
    ruff = ["-m", "ruff", command[0], "--isolated", "--line-length", "110"]
    found = python(*ruff, *command[1:], *excluded, str(folder))
    assert found.returncode == 0, found.stdout


def test_what_is_lacking_is_said(exported: Exported) -> None:
    source, reshaped = (exported[f"{name} native"][0] for name in ("headless", "reshaped"))
    assert "torch.manual_seed(0)" in source
    assert "# The checkpoint does not hold classifier.bias, classifier.weight" in source
    unwrapped = source.replace("\n# ", " ")
    assert "classifier.weight: random numbers, alike every time" in unwrapped
    assert "classifier.bias: one and the same number throughout." in unwrapped
    assert "ignore_mismatched_sizes" not in source
    assert "ignore_mismatched_sizes=True" in reshaped
    assert "holds score.weight in another shape. New instead: score.weight: random" in reshaped


def test_a_layer_among_many_is_named_by_its_number(exported: Exported) -> None:
    source = exported["deeper cut"][0]
    assert "model.distilbert.transformer.layer[1].register_forward_hook(swap)" in source
    assert "return vector[:, None].expand_as(output)" in source


def test_a_checkpoint_of_the_hub_is_pinned() -> None:
    backbone = load(SPECS["bert-sentiment"])
    spec = replace(backbone.spec, source="hub", location="org/na'me", revision="abc")
    examined = examine(replace(backbone, spec=spec), swap("bert-sentiment", "mean"))
    for source in (program(examined), module(examined)):
        compile(source, "exported", "exec")
        assert 'CHECKPOINT = "org/na\'me"\nREVISION = "abc"\n' in source
        assert source.count("revision=REVISION") + source.count("revision=revision") == 2


@pytest.mark.parametrize("head", ["own", "probe"])
def test_who_visits_a_space_is_told_what_brings_the_checkpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, head: str
) -> None:
    """The command is done by hand: it copies what it names of the Space's files."""
    monkeypatch.setenv("SPACE_ID", "owner/name")
    query = Query("gpt2-sentiment", TEXT, pooling="mean", head=head)
    examined = examine(load(SPECS[query.backbone]), query)
    assert "hf download owner/name --repo-type space" in module(examined)
    source = program(examined)
    lines = [line.removeprefix("#") for line in source.splitlines() if line.startswith("#     ")]
    words = shlex.split("\n".join(lines))
    there = [file.relative_to(ROOT).as_posix() for file in (ROOT / "assets").rglob("*") if file.is_file()]
    for name in filter_repo_objects(there, allow_patterns=words[words.index("--include") + 1 :: 2]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    np.testing.assert_allclose(printed(source, tmp_path), analyse(examined).probabilities, atol=1e-5)


@pytest.mark.parametrize(("key", "pooling", "layer"), MORE["classifiers"])
def test_a_classifier_says_of_many_texts_what_is_measured_of_each(
    tmp_path: Path, key: str, pooling: str, layer: int
) -> None:
    """In batches, without padding; in columns of any name, as "text" is a visitor's."""
    pairs, count = key.endswith("paraphrase"), {"concat_last4_cls": 3}.get(pooling, 1)
    task, columns = TaskSpec("mine", "mine", ("no", "yes"), 1 + pairs), ["a", 'the "b"'][: 1 + pairs]
    place = ("mine", pooling) if layer < 0 else ("mine", pooling, str(layer))
    drawn = np.random.default_rng(0).normal(size=(2, 128 * count + 1)).astype(np.float32)
    file = tmp_path / "head.safetensors"
    parts = {"weight": drawn[:, :-1].copy(), "bias": drawn[:, -1].copy()}
    save_file({"/".join((*place, name)): part for name, part in parts.items()}, file)
    backbone = load(replace(SPECS[key], probes=str(file)))
    texts = [*(text for text, _pair in INPUTS), "good", "fine", "[CLS] <cls> good", "good film " * 200]
    seconds = ["it was", *texts[:-1]] if pairs else [""] * len(texts)

    def asked(text: str, pair: str) -> Examined:
        more = {"head": "probe", "task": "mine", "pool_layer": layer}
        return examine(backbone, Query(key, text, pair, pooling, **more), task)

    expected = [analyse(asked(*both)).probabilities for both in zip(texts, seconds, strict=True)]
    (tmp_path / "classify.py").write_text(classifier(asked("good", seconds[0]), columns), encoding="utf-8")
    (tmp_path / "encoder").symlink_to(SPECS[key].location)
    before = logging.get_verbosity()
    classify = runpy.run_path(str(tmp_path / "classify.py"))["classify"]
    logging.set_verbosity(before)
    logging.enable_progress_bar()
    found = classify(texts, seconds) if pairs else classify(texts)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def printed(source: str, folder: Path) -> list[float]:
    """Probabilities that a program prints, run in a folder, where that of its checkpoint is."""
    with chdir(folder), redirect_stdout(io.StringIO()) as output:
        exec(compile(source, "exported", "exec"), {"__name__": "__main__"})
    return [float(line.rsplit(": ", 1)[1]) for line in output.getvalue().splitlines() if ": " in line]


@pytest.mark.families
@pytest.mark.parametrize("family", INSIDE)
def test_what_cannot_be_taken_home_says_why(tiny_family: Made, family: str) -> None:
    examined = examine(load(tiny_family(family)), Query(family, SEEN, pooling="mean"))
    for source in (program(examined), module(examined)):
        assert all(line.startswith("# ") for line in source.splitlines())
        assert "no body that runs by itself" in source
    examined = examine(load(tiny_family("reformer")), Query("reformer", SEEN))
    assert module(examined).startswith("# ReformerForSequenceClassification says: If you want to train")


@pytest.mark.families
def test_nobody_is_told_where_a_checkpoint_lies(exported: Exported, tiny_family: Made) -> None:
    for name in [f"{key} mean" for key in FAMILIES]:
        source = exported[name][0]
        assert len(source.splitlines()) < 80
        assert str(ROOT) not in source
    spec = tiny_family("albert")
    examined = examine(load(spec), Query("albert", SEEN))
    for source in (program(examined), module(examined)):
        assert f'CHECKPOINT = "{Path(spec.location).name}"' in source
        assert str(Path(spec.location).parent) not in source


def test_a_file_says_what_it_cannot_pool(engine: Engine) -> None:
    """As every pooling, which raises the sentence and not its key."""
    assert not [line for key in POOLINGS for line in pooling_source(key).code if "errors." in line]
    query = Query("bert-sentiment", "not good", pooling="mean_content")
    source = engine.ask("anatomy", query).program.replace('TEXT = "not good"', 'TEXT = ""')
    with pytest.raises(ValueError, match="it needs a text with at least one token that is not special"):
        exec(compile(source, "exported", "exec"), {"__name__": "__main__"})
    source = engine.ask("anatomy", replace(query, pooling="first_last_avg")).module
    defined: dict[str, Callable[..., Any]] = {"__name__": "exported"}
    exec(compile(source, "exported", "exec"), defined)
    layers = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 8), torch.zeros(1, 2, 4))
    states = defined["States"](hidden=layers[-1], layers=layers, mask=torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match="layers of this checkpoint differ in width"):
        defined["first_last_avg"](states)
