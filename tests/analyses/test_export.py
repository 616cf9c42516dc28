"""What is exported runs where Poolscope is not, and says what Poolscope says."""

import io
import json
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.export import module, pooling_source, program
from components.inference.engine import Engine
from components.model.examine import Examined, examine
from components.model.internals import repeatable
from components.model.loading import load
from components.model.pooling import POOLINGS, States
from components.model.probes import Probe, write_probes
from components.model.reads import Reading
from components.settings import Settings
from components.types import Analysis, BackboneSpec, Query
from tests.plain import FIRST, INPUTS, KEYS, SPECS, load_plain
from tests.serving import ROOT
from tests.tiny import checkpoint

TEXT = INPUTS[0][0]
ODD = 'It\'s "{odd}" {{0}} \\n \\ \t\n\r\n """ 你好，世界! 👩\u200d👧 \u202eabc\u2028\x00 " + exit(3) + "'
FAMILIES = tuple(key for key in KEYS if key.endswith("-sentiment"))
THOROUGH = ("xlnet-sentiment", "gpt2-sentiment")  # [CLS] comes last; there is none
HEADS = {  # the linear layers of each family's own head, as its code has them
    "bert": ("bert.pooler.dense", "classifier"),
    "distilbert": ("pre_classifier", "classifier"),
    "roberta": ("classifier.dense", "classifier.out_proj"),
    "xlnet": ("sequence_summary.summary", "logits_proj"),
    "gpt2": ("score",),
}
WIDE = [key for key, pooling in POOLINGS.items() if pooling.spec.wide]
SWAPS = [key for key in POOLINGS if key not in ("native", "pooler", "declared", "attention", *WIDE)]
ANYWHERE = [key for key in POOLINGS if key not in ("pooler", "declared")]  # for checkpoints of any kind
LOWER = {"bert-sentiment": "cls", "xlnet-sentiment": "first_last_avg", "gpt2-sentiment": "native"}
SEEN = "the film is not good at all"
POOLED = ("albert", "bart", "gpt_neox", "modernbert", "xlnet", "zamba2")
INSIDE = ("t5", "longformer", "canine", "funnel")
SPECIAL_ALONE = "it needs a text with at least one token that is not special"
WIDTHS = "layers of this checkpoint differ in width"
TINY = ("regression", "several", "headless", "reshaped")  # made on the spot
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


@dataclass(frozen=True)
class Exported:
    """Files in ``folder``, what each printed, and Poolscope's own answer, by the names of queries."""

    folder: Path
    analyses: Mapping[str, Analysis]
    printed: Mapping[str, str]


def swap(key: str, pooling: str, *texts: str) -> Query:
    return Query(key, *(texts or (TEXT,)), pooling=pooling)


def probe(key: str, pooling: str) -> Query:
    return Query(key, TEXT, pooling=pooling, head="probe", task="sentiment")


OWN = {
    **{f"{key} {pooling}": swap(key, pooling) for key in FAMILIES for pooling in ("native", "mean")},
    **{f"{key} {pooling}": swap(key, pooling) for key in THOROUGH[:1] for pooling in SWAPS},
    **{f"{key} {pooling}": swap(key, pooling, "not good") for key in TINY for pooling in ("native", "max")},
    **{f"{key} odd text": Query(key, ODD, ODD[::-1]) for key in ("bert-sentiment", *THOROUGH)},
    "pooler": swap("bert-sentiment", "pooler"),
    "pair": swap("bert-paraphrase", "weightedmean", *INPUTS[3]),
    "pair, [CLS] last": swap("xlnet-paraphrase", "cls", *INPUTS[4]),
    "typed [CLS]": swap("xlnet-sentiment", "cls", "good <cls> film"),
    "longer than the limit": swap("gpt2-sentiment", "lasttoken", "good film " * 200),
}
PROBED = {
    "probe xlnet-sentiment mean": probe("xlnet-sentiment", "mean"),
    **{f"probe {key} {pooling}": probe(key, pooling) for key in THOROUGH[1:] for pooling in ANYWHERE},
    **{f"probe bert-sentiment {key}": probe("bert-sentiment", key) for key in ("pooler", "native", "cls")},
    **{
        f"probe {key} {pooling}, layer 1": replace(probe(key, pooling), pool_layer=1)
        for key, pooling in LOWER.items()
    },
}
BUNDLED = {"bundled probe": Query("bert-sentiment", TEXT, pooling="mean", head="probe")}
PROGRAMS = {**OWN, **PROBED, **BUNDLED}
MODULES = {
    **{f"module {key}": swap(key, "native") for key in (*FAMILIES, *TINY)},
    **{f"module gpt2 probe {key}": probe("gpt2-sentiment", key) for key in ("native", "attention", *WIDE)},
    **{f"module xlnet probe {key}": probe("xlnet-sentiment", key) for key in ("native", "cls")},
    "module special": swap("xlnet-sentiment", "mean_content", *INPUTS[3]),
    "module layers": swap("gpt2-sentiment", "first_last_avg"),
    "module pooler": swap("bert-sentiment", "pooler"),
}
QUERIES = {**PROGRAMS, **MODULES}


def random_probes() -> dict[tuple[str, ...], Probe]:
    """For backbones of three layers, 128 wide; on layer 1 for those of LOWER."""
    hidden = torch.zeros(1, 2, 128)
    mask, one = torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, dtype=torch.long)
    reads = Reading(lambda states: states[:, 0], hidden)
    states = States((hidden,) * 4, mask, ~mask, one, reads, lambda given: given[:, 0], hidden[0, 0])
    draw = np.random.default_rng(0).normal
    return {
        place: Probe(
            weight=draw(size=(2, pooling(states).shape[1]), scale=0.1).astype(np.float32),
            bias=draw(size=2).astype(np.float32),
            query=draw(size=128).astype(np.float32) if key == "attention" else None,
        )
        for key, pooling in POOLINGS.items()
        if key != "declared"
        for place in (("sentiment", key), ("sentiment", key, "1"))
        if len(place) == 2 or key in LOWER.values()
    }


def tiny_checkpoints(folder: Path) -> None:
    checkpoint(folder / "regression", num_labels=1)
    checkpoint(folder / "several", "distilbert", num_labels=3, problem_type="multi_label_classification")
    checkpoint(folder / "headless", headless=True)
    checkpoint(folder / "reshaped", "gpt2", "gpt2", num_labels=3)
    config = folder / "reshaped" / "config.json"
    stated = json.loads(config.read_text())
    names = {str(index): f"label {index}" for index in range(4)}
    stated |= {"id2label": names, "label2id": {name: int(index) for index, name in names.items()}}
    config.write_text(json.dumps(stated))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """An engine with the bundled checkpoints, probes for all of them, and tiny ones of any kind."""
    folder = tmp_path_factory.mktemp("checkpoints")
    tiny_checkpoints(folder)
    write_probes(random_probes(), folder / "probes.safetensors")
    places = {key: SPECS[key].location for key in KEYS} | {key: key for key in TINY}
    common = "title = 'a'\ntask = 'sentiment'\nprobes = 'probes.safetensors'\n"
    entries = [f"[{key}]\n{common}path = '{place}'\n" for key, place in places.items()]
    (folder / "backbones.toml").write_text("".join(entries), encoding="utf-8")
    return Engine(Settings(catalogue=folder / "backbones.toml"))


def deeper_cut() -> Examined:
    """A swap where the head begins behind one of many layers, which hands out a tensor alone."""
    backbone = load(SPECS["distilbert-sentiment"])
    layer = backbone.model.get_submodule("distilbert.transformer.layer.1")
    return examine(replace(backbone, cut=layer), swap("distilbert-sentiment", "mean"))


@pytest.fixture(scope="module")
def exported(asked: Engine, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Every file, run one after the other in one process that has no way to Poolscope."""
    folder, analyses = tmp_path_factory.mktemp("exported"), {}
    for name, query in QUERIES.items():
        anatomy = (engine if name in BUNDLED else asked).ask("anatomy", query)
        source = anatomy.module if name in MODULES else anatomy.program
        backbone = anatomy.analysis.backbone
        for path in (backbone.location, backbone.probes or "") if name not in BUNDLED else ():
            source = source.replace(f" = {json.dumps(Path(path).name)}\n", f" = {json.dumps(path)}\n")
        (folder / f"{name}.py").write_text(source, encoding="utf-8", newline="")
        analyses[name] = anatomy.analysis
    deeper = deeper_cut()
    (folder / "deeper cut.py").write_text(program(deeper), encoding="utf-8")
    analyses["deeper cut"] = analyse(deeper)
    subprocess.run([sys.executable, "-I", "-c", RUNNER, str(folder)], cwd=ROOT, check=True, timeout=900)
    return Exported(folder, analyses, json.loads((folder / "printed.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", [*PROGRAMS, "deeper cut"])
def test_a_program_prints_the_probabilities(exported: Exported, name: str) -> None:
    analysis = exported.analyses[name]
    lines = [line.rsplit(": ", 1) for line in exported.printed[name].splitlines()]
    assert [label for label, _number in lines] == list(analysis.labels)
    printed = [float(number) for _label, number in lines]
    np.testing.assert_allclose(printed, analysis.probabilities, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_learns(exported: Exported, name: str) -> None:
    before, after = (float(line.rsplit(": ", 1)[1]) for line in exported.printed[name].splitlines())
    assert after < before


@pytest.mark.parametrize("key", FAMILIES)
def test_a_module_with_the_own_weights_is_the_own_head(
    exported: Exported, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.chdir(ROOT)
    read = "first" if key.split("-")[0] in FIRST else "lasttoken"
    source = (exported.folder / f"module {key}.py").read_text(encoding="utf-8")
    assert f"stands behind the pooling {read}." in source
    ours = runpy.run_path(str(exported.folder / f"module {key}.py"))["Classifier"]().eval()
    plain = load_plain(SPECS[key].location)
    linear = [layer for layer in ours.head if isinstance(layer, torch.nn.Linear)]
    for layer, path in zip(linear, HEADS[key.split("-")[0]], strict=True):
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


@pytest.mark.parametrize("command", [("check", "--select", "E,F,I"), ("format", "--check")])
def test_a_linter_finds_nothing(exported: Exported, command: tuple[str, ...]) -> None:
    long = ["*odd text*", "*longer*", *(["probe*native*"] if "format" in command else [])]  # long literals
    excluded = [part for pattern in long for part in ("--exclude", pattern)]
    ruff = [Path(sys.executable).parent / "ruff", command[0], "--isolated", "--line-length", "100"]
    found = subprocess.run(
        [*ruff, *command[1:], *excluded, exported.folder], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout


def test_what_is_lacking_is_said(exported: Exported) -> None:
    source = (exported.folder / "headless native.py").read_text(encoding="utf-8")
    assert "torch.manual_seed(0)" in source
    assert "# The checkpoint does not hold classifier.bias, classifier.weight" in source
    unwrapped = source.replace("\n# ", " ")
    assert "classifier.weight: random numbers, alike every time" in unwrapped
    assert "classifier.bias: one and the same number throughout." in unwrapped
    assert "ignore_mismatched_sizes" not in source
    reshaped = (exported.folder / "reshaped native.py").read_text(encoding="utf-8")
    assert "ignore_mismatched_sizes=True" in reshaped
    assert "holds score.weight in another shape. New instead: score.weight: random" in reshaped


def test_a_layer_among_many_is_named_by_its_number(exported: Exported) -> None:
    source = (exported.folder / "deeper cut.py").read_text(encoding="utf-8")
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


def printed(source: str, spec: BackboneSpec) -> list[float]:
    """What a program prints as probabilities, run where the folder of its checkpoint is."""
    with chdir(Path(spec.location).parent), redirect_stdout(io.StringIO()) as output:
        exec(compile(source, "exported", "exec"), {"__name__": "__main__"})
    return [float(line.rsplit(": ", 1)[1]) for line in output.getvalue().splitlines() if ": " in line]


@pytest.mark.families
@pytest.mark.parametrize("family", [*POOLED, "t5", "canine"])
def test_programs_and_a_module_of_other_families(
    tiny_family: Callable[..., BackboneSpec], family: str
) -> None:
    backbone = load(tiny_family(family))
    examined = examine(backbone, Query(family, SEEN))
    expected = analyse(examined).probabilities
    np.testing.assert_allclose(printed(program(examined), backbone.spec), expected, atol=1e-5)
    if family not in POOLED:
        return
    with repeatable(backbone.model):
        examined = examine(backbone, Query(family, SEEN, pooling="first_last_avg"))
        expected, source = analyse(examined).probabilities, module(examined)
    np.testing.assert_allclose(printed(program(examined), backbone.spec), expected, atol=1e-5)
    before, after = printed(source, backbone.spec)
    assert after < before


@pytest.mark.families
@pytest.mark.parametrize("family", INSIDE)
def test_what_cannot_be_taken_home_says_why(tiny_family: Callable[..., BackboneSpec], family: str) -> None:
    examined = examine(load(tiny_family(family)), Query(family, SEEN, pooling="mean"))
    for source in (program(examined), module(examined)):
        assert all(line.startswith("# ") for line in source.splitlines())
        assert "no body that runs by itself" in source


@pytest.mark.families
def test_nobody_is_told_where_a_checkpoint_lies(
    exported: Exported, tiny_family: Callable[..., BackboneSpec]
) -> None:
    for name in [f"{key} mean" for key in FAMILIES]:
        source = (exported.folder / f"{name}.py").read_text(encoding="utf-8")
        assert len(source.splitlines()) < 80
        assert str(ROOT) not in source
    spec = tiny_family("albert")
    examined = examine(load(spec), Query("albert", SEEN))
    for source in (program(examined), module(examined)):
        assert f'CHECKPOINT = "{Path(spec.location).name}"' in source
        assert str(Path(spec.location).parent) not in source


def test_a_program_says_that_a_text_has_no_tokens_of_its_own(engine: Engine) -> None:
    """As every pooling, which raises the sentence and not its key."""
    assert not [line for key in POOLINGS for line in pooling_source(key).code if "errors." in line]
    query = Query("bert-sentiment", "not good", pooling="mean_content")
    source = engine.ask("anatomy", query).program.replace('TEXT = "not good"', 'TEXT = ""')
    with pytest.raises(ValueError, match=f"^{SPECIAL_ALONE}$"):
        exec(compile(source, "defined_by", "exec"), {"__name__": "__main__"})


def test_a_module_says_what_it_cannot_pool(engine: Engine) -> None:
    defined = defined_by(engine, "mean_content")
    states = defined["States"](
        hidden=torch.zeros(1, 2, 4),
        mask=torch.ones(1, 2, dtype=torch.bool),
        special=torch.ones(1, 2, dtype=torch.bool),
    )
    with pytest.raises(ValueError, match=f"^{SPECIAL_ALONE}$"):
        defined["mean_content"](states)
    defined = defined_by(engine, "first_last_avg")
    layers = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 8), torch.zeros(1, 2, 4))
    states = defined["States"](hidden=layers[-1], layers=layers, mask=torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=f"^{WIDTHS}$"):
        defined["first_last_avg"](states)


def defined_by(engine: Engine, pooling: str) -> dict[str, Callable[..., Any]]:
    """What the file of a module defines."""
    query = Query("bert-sentiment", "not good", pooling=pooling)
    defined: dict[str, Callable[..., Any]] = {"__name__": "defined_by"}
    exec(compile(engine.ask("anatomy", query).module, "defined_by", "exec"), defined)
    return defined
