"""What a checkpoint of sentence-transformers declares gives the vector that its own library gives."""

import json
import shutil
import tomllib
from contextlib import nullcontext
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Dropout, LayerNorm, Pooling, Transformer
from torch import nn

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.declaration import ACTIVATIONS, KNOWN, METHODS, read_declaration
from components.model.declared import read_declared
from components.model.files import RefusalError, folder as folder_of, version
from components.types import BackboneSpec, Declaration, Query
from tests.analyses.test_export import printed
from tests.checkpoints import Made
from tests.plain import SPECS, load_plain
from tests.tiny import alter, change, engine_on, reweigh
from tests.vectors import features

TABLES = tomllib.loads(Path(__file__).with_name("declared.toml").read_text(encoding="utf-8"))
KEY, WIDTH = "bert-sentiment", 128  # the width of all bundled bodies
TEXTS = ("good", "The plot is thin, but the actors are a delight.", "not good, not good at all")
POOLING, DENSE, ENCODING = "1_Pooling", "2_Dense", "config_sentence_transformers.json"
MODULES, LENGTHS = "modules.json", "sentence_bert_config.json"


def saved(folder: Path, *modules: nn.Module, body: BackboneSpec = SPECS[KEY]) -> Path:
    """A checkpoint of theirs behind a bundled body, whose own files stay a classifier's."""
    first = Transformer(body.location)
    SentenceTransformer(modules=[first, *modules], device="cpu").save(str(folder), create_model_card=False)
    for file in Path(body.location).iterdir():
        shutil.copy(file, folder / file.name)
    return folder


def in_older_schema(folder: Path, modes: list[str]) -> None:
    file = folder / POOLING / "config.json"
    said = json.loads(file.read_text())
    older = {key: method in modes for key, method in KNOWN["older"].items()}
    file.write_text(json.dumps({"word_embedding_dimension": said["embedding_dimension"], **older}))


def encode(folder: Path, text: str) -> np.ndarray:
    """By sentence-transformers alone: (D',)."""
    theirs = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    return np.asarray(theirs.encode(text))


def engine_of(folder: Path, *keys: str) -> Engine:
    """The engine on the checkpoints of these names in a folder."""
    return engine_on(folder, {key: folder / key for key in keys})


def equals_encode(folder: Path) -> None:
    found = features(engine_of(folder.parent, folder.name), folder.name, TEXTS, ["declared"])["declared"]
    np.testing.assert_allclose(found, [encode(folder, text) for text in TEXTS], atol=1e-6)


@pytest.mark.parametrize("modes", [["lasttoken"], list(METHODS)], ids=len)
def test_poolings_of_both_schemas(tmp_path: Path, modes: list[str]) -> None:
    folder = saved(tmp_path / "checkpoint", Pooling(WIDTH, modes))
    newer = read_declaration(folder)
    equals_encode(folder)
    in_older_schema(folder, modes)
    assert read_declaration(folder) == newer


@pytest.mark.parametrize("half", [0, 1])  # a checkpoint has 16 modules at most
def test_dense_layers_of_every_activation_and_a_length_of_one(tmp_path: Path, half: int) -> None:
    torch.manual_seed(0)
    functions = [getattr(nn, name)() for name in [*ACTIVATIONS.values()][half::2]]
    first = Dense(WIDTH, 24, activation_function=nn.Tanh(), use_residual=True)
    more = [Dense(24, 24, bias=False, activation_function=each, use_residual=True) for each in functions]
    equals_encode(saved(tmp_path / "checkpoint", Pooling(WIDTH, "mean"), first, *more, Normalize()))


@pytest.mark.parametrize("key", ["roberta", "xlnet", "gpt2"])
def test_other_bodies_give_the_numbers_that_encode_keeps(tmp_path: Path, key: str) -> None:
    pooling, after = Pooling(WIDTH, ["lasttoken", "mean"]), (Dropout(), LayerNorm(16), Normalize())
    modules = (pooling, Dense(2 * WIDTH, 16), *after)
    folder = saved(tmp_path / "checkpoint", *modules, body=SPECS[f"{key}-sentiment"])
    change(folder / ENCODING, truncate_dim=9)
    equals_encode(folder)


BODIES = {"bart": nullcontext(), "t5": pytest.raises(PoolscopeError, match="of its encoder's hidden states")}


@pytest.mark.parametrize("family", BODIES)
def test_a_decoder_is_not_taken_for_the_encoder_alone(tmp_path: Path, tiny_family: Made, family: str) -> None:
    with BODIES[family]:
        equals_encode(saved(tmp_path / family, Pooling(32, "mean"), body=tiny_family(family)))


@pytest.mark.parametrize("layout", TABLES["layouts"], ids=itemgetter("path"))
def test_the_model_may_lie_in_a_folder_of_its_own(tmp_path: Path, layout: dict[str, Any]) -> None:
    path, kind = layout["path"], layout["kind"]
    folder = saved(tmp_path / "checkpoint", Pooling(WIDTH, "mean"), Dense(WIDTH, 8))
    (folder / path).mkdir(parents=True)
    for file in Path(SPECS[KEY].location).iterdir():
        (folder / file.name).rename(folder / path / file.name)
    (folder / LENGTHS).rename(folder / path / f"sentence_{kind.lower()}_config.json")
    change(folder / path / f"sentence_{kind.lower()}_config.json", max_seq_length=50)
    if "config" in layout:
        change(folder / "config.json", **layout["config"])
    first, *rest = json.loads((folder / MODULES).read_text())

    def name(kind: str) -> None:
        said = {**first, "path": path, "type": f"sentence_transformers.models.{kind}"}
        (folder / MODULES).write_text(json.dumps([said, *rest]))

    name("Transformer")
    expected = [encode(folder, text) for text in TEXTS]  # today's library has one class
    name(kind)
    engine = engine_of(tmp_path, "checkpoint")
    found = features(engine, "checkpoint", TEXTS, ["declared"])["declared"]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    plain = load_plain(SPECS[KEY].location)(TEXTS[0])
    answer = engine.ask("analyze", Query("checkpoint", TEXTS[0]))
    np.testing.assert_allclose(answer.logits, plain.logits[0], atol=1e-5)
    assert answer.backbone.declared.longest == 50


@pytest.mark.parametrize("task", ["sentiment", "topic"])
def test_a_probe_answers_on_what_encode_gives(engine: Engine, task: str) -> None:
    spec = next(one for one in engine.backbones() if one.key == "all-minilm-l6-v2")
    place = folder_of(spec)
    if place is None:
        pytest.skip("the package that carries it is not installed")
    with safe_open(str(spec.probes), "np") as stored:
        weight, bias = (
            stored.get_tensor(f"{task}/declared/{name}").astype(np.float32) for name in ("weight", "bias")
        )
    for text in TEXTS:
        vector = encode(place, text)
        logits = weight @ vector + bias
        expected = logits if len(logits) > 1 else np.array([0, logits[0]])  # one output: so far apart are two
        answer = engine.ask("analyze", Query(spec.key, text, pooling="declared", head="probe", task=task))
        np.testing.assert_allclose(answer.pooled, vector, atol=1e-6)
        np.testing.assert_allclose(np.diff(answer.logits), np.diff(expected), atol=2e-4)
        assert not answer.swapped


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("declared") / "checkpoint"
    return saved(folder, Pooling(WIDTH, "mean"), Dense(WIDTH, 8), Normalize())


ENDLESS = (("[" * 100_000, "cannot be read as JSON"), (" " * 4_000_001, "at most 4 MB"))
LONG = [{"texts": {MODULES: text}, "says": says} for text, says in ENDLESS]


@pytest.mark.parametrize("case", [*TABLES["refused"], *LONG], ids=itemgetter("says"))
def test_what_cannot_be_read_or_done_is_said(tmp_path: Path, whole: Path, case: dict[str, Any]) -> None:
    folder = shutil.copytree(whole, tmp_path / "checkpoint")
    alter(folder, case)
    if "last" in case:
        *others, last = json.loads((folder / MODULES).read_text())
        (folder / MODULES).write_text(json.dumps([*others, last | case["last"]]))
    if "fill" in case:
        reweigh(folder / DENSE, lambda tensors: tensors["linear.weight"].fill_(case["fill"]))
    with pytest.raises(RefusalError, match=case["says"]):
        read_declared(folder)


OWN = ("own", "narrow", "wrong", "spoilt", "plain")
STEPS: dict[str, tuple[nn.Module, ...]] = {
    "own": (Pooling(WIDTH, "mean"), Normalize()),
    "narrow": (Pooling(WIDTH, ["cls", "max"]), Dense(2 * WIDTH, 8), Normalize()),
    "wrong": (Pooling(WIDTH + 1, "mean"),),
    "spoilt": (Pooling(WIDTH, "mean"),),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One body: with steps as wide as a hidden state, narrower ones, unreadable ones, none."""
    folder = tmp_path_factory.mktemp("declaring")
    for key, steps in STEPS.items():
        saved(folder / key, *steps)
    shutil.copytree(SPECS[KEY].location, folder / "plain")
    change(folder / "spoilt" / f"{POOLING}/config.json", pooling_mode="mode")
    return folder


@pytest.fixture(scope="module")
def declaring(folder: Path) -> Engine:
    return engine_of(folder, *OWN)


def head_of(vectors: torch.Tensor) -> torch.Tensor:
    """What the body's own classifier says of other vectors in the place of [CLS]."""
    model = load_plain(SPECS[KEY].location).model
    with torch.no_grad():
        logits: torch.Tensor = model.classifier(torch.tanh(model.bert.pooler.dense(vectors)))
    return logits


def test_an_answer_pools_as_encode_does_and_puts_it_before_the_head(declaring: Engine, folder: Path) -> None:
    for text in TEXTS:
        analysis = declaring.ask("analyze", Query("own", text, pooling="declared"))
        expected = encode(folder / "own", text)
        np.testing.assert_allclose(analysis.pooled, expected, atol=1e-6)
        np.testing.assert_allclose(analysis.logits, head_of(torch.from_numpy(expected)), atol=1e-5)
        assert analysis.reads.positions.all()
        assert analysis.swapped


@pytest.mark.parametrize("key", TABLES["refusals"])
def test_what_cannot_be_had_is_said_and_other_poolings_stay(declaring: Engine, key: str) -> None:
    with pytest.raises(PoolscopeError, match=TABLES["refusals"][key]):
        declaring.ask("analyze", Query(key, "good", pooling="declared"))
    assert declaring.ask("analyze", Query(key, "good", pooling="mean")).logits.shape == (2,)


def test_backbones_tell_what_they_declare(declaring: Engine) -> None:
    own, narrow, _wrong, spoilt, plain = (spec.declared for spec in declaring.backbones())
    assert isinstance(own, Declaration)
    assert isinstance(narrow, Declaration)
    assert (own.poolings, own.size, own.prompt) == (("mean",), WIDTH, "")
    assert (narrow.poolings, narrow.size) == (("first", "max"), 8)
    assert "1_Pooling/config.json" in str(spoilt)
    assert plain is None


def test_what_is_declared_anew_is_read_anew(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "own", tmp_path / "own")
    engine, asked = engine_of(tmp_path, "own"), Query("own", TEXTS[0], pooling="declared")
    before, known = engine.ask("analyze", asked).pooled, version(engine.backbones()[0])
    change(tmp_path / "own" / f"{POOLING}/config.json", pooling_mode="max")
    assert version(engine.backbones()[0]) != known
    after = engine.ask("analyze", asked)
    np.testing.assert_allclose(after.pooled, encode(tmp_path / "own", TEXTS[0]), atol=1e-6)
    assert np.abs(after.pooled - before).max() > 0.01
    assert isinstance(after.backbone.declared, Declaration)
    assert after.backbone.declared.poolings == ("max",)


@pytest.mark.parametrize("kind", TABLES["treated"])
def test_what_encode_does_to_the_text_is_said_and_can_be_typed(tmp_path: Path, kind: str) -> None:
    case = TABLES["treated"][kind]
    pooling = Pooling(WIDTH, list(METHODS), include_prompt="leaves_out" not in case)
    steps = pooling, Dense(len(METHODS) * WIDTH, WIDTH)
    folder, said = saved(tmp_path / "own", *steps, body=SPECS[case.get("body", KEY)]), case["says"]
    for file in ("config_sentence_transformers", "sentence_bert_config"):
        change(folder / f"{file}.json", **case.get(file, {}))
    engine, expected = engine_of(tmp_path, "own"), encode(tmp_path / "own", TEXTS[1])
    analysis, other, again = (
        engine.ask("analyze", Query("own", text, pooling=pooling))
        for text, pooling in ((TEXTS[1], "declared"), (TEXTS[1], "mean"), (case["typed"], "declared"))
    )
    beside = [str(one) for one in analysis.warnings if one.key.startswith("warnings.encode")]
    assert [said in one for one in beside] == ([True] if said else [])
    assert not [one for one in other.warnings if one.key.startswith("warnings.encode")]
    assert (np.abs(analysis.pooled - expected).max() > 1e-4) == bool(said)
    np.testing.assert_allclose(again.pooled, expected, atol=1e-6)


def test_the_lens_makes_of_each_state_what_is_declared(declaring: Engine) -> None:
    asked = Query("own", "good", pooling="declared")
    looked = declaring.ask("lens", asked)
    last = load_plain(SPECS[KEY].location)("good").hidden_states[-1][0]
    said = head_of(last / last.norm(dim=1, keepdim=True))
    np.testing.assert_allclose(looked.lens.logits[-1], said, atol=1e-5)
    np.testing.assert_allclose(looked.lens.pooled[-1], declaring.ask("analyze", asked).logits, atol=1e-5)


def test_what_is_exported_gives_the_same(declaring: Engine, folder: Path) -> None:
    anatomy = declaring.ask("anatomy", Query("own", TEXTS[0], pooling="declared"))
    np.testing.assert_allclose(printed(anatomy.program, folder), anatomy.analysis.probabilities, atol=1e-6)
    before, after = printed(anatomy.module, folder)
    assert after < before


def test_padding_is_measured_of_it_too(declaring: Engine) -> None:
    found = {key: declaring.ask("padding", Query(key, "good")).cases for key in OWN}
    measured = {key for key, cases in found.items() if all("declared" in case.pooled for case in cases)}
    assert measured == {"own", "narrow"}
    assert all(case.pooled["declared"] < 1e-5 for case in found["own"] if case.name in ("batch", "right"))
