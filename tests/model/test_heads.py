"""Heads that stand in modules.json give what sentence-transformers' own classes give, or are named."""

import json
import shutil
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder, MultiVectorEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.base.model import BaseModel
from sentence_transformers.base.modules import Dense, Normalize, Router, Transformer
from sentence_transformers.cross_encoder.modules import LogitScore
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sentence_transformer import modules as parts
from sentence_transformers.sentence_transformer.modules import Dropout, LayerNorm, Pooling
from sentence_transformers.sparse_encoder.modules import SpladePooling
from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM

from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import batch_states
from components.model.declaration import ACTIVATIONS, read_declaration
from components.model.examine import examine
from components.model.files import RefusalError
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.types import Declaration, Query
from tests.analyses.test_export import printed
from tests.families.cases import boundless, tiny_config
from tests.tiny import SIZE, WORDS, change, checkpoint, engine_on, reweigh, tokenizer
from tests.vectors import loaded

TABLES = tomllib.loads(Path(__file__).with_name("heads.toml").read_text(encoding="utf-8"))
TEXTS = (("the film is good", "a man sleeps , not bad"), ("the film is not good at all", ""))
TOKENS = {"module_input_name": "token_embeddings"}
SCORES, PLAIN = {"module_output_name": "scores"}, nn.Identity()
Modules = tuple[nn.Module, ...]


def scored(labels: int = 1, poolings: Any = "cls", width: int = 32) -> Modules:
    """A head as that of ModernBERT: pooled, a dense layer, a norm, scores."""
    first = Dense(width, 16, bias=False, activation_function=nn.GELU())
    last = Dense(16, labels, activation_function=PLAIN, **SCORES)
    return Pooling(32, poolings), first, LayerNorm(16), Dropout(), last


# Of each: what it is, the body, the modules behind it, and settings of the transformer.
Kind = tuple[type[BaseModel], str, Callable[[], Modules], dict[str, Any]]
word = {"transformer_task": "text-generation"}
masked = {"transformer_task": "fill-mask"}
routes = partial(Router.for_query_document, [Dense(32, 8)], [Dense(32, 24), Normalize()])
KINDS: dict[str, Kind] = {
    "cls": (CrossEncoder, "bert", scored, {}),
    "several": (CrossEncoder, "bert", lambda: scored(3, ("mean", "max", "lasttoken"), 96), {}),
    "dense": (CrossEncoder, "bert", lambda: (Pooling(32, "mean"), Normalize(), Dense(32, 1, **SCORES)), {}),
    "words": (CrossEncoder, "gpt2", lambda: (LogitScore(4, 5),), word),
    "word": (CrossEncoder, "gpt2", lambda: (LogitScore(4),), word),
    "own": (CrossEncoder, "bert", tuple, {"transformer_task": "sequence-classification"}),
    "mixed": (SentenceTransformer, "bert", lambda: (parts.WeightedLayerPooling(32), Pooling(32)), {}),
    "routed": (SentenceTransformer, "bert", lambda: (Pooling(32), routes()), {}),
    "early": (SentenceTransformer, "bert", lambda: (Dense(32, 32, **TOKENS), Pooling(32)), {}),
    "masked": (SentenceTransformer, "bert", lambda: (MultiVectorMask(["the"]), Pooling(32)), {}),
    "twice": (CrossEncoder, "bert", lambda: (*scored(4), Dense(4, 1, module_input_name="scores")), {}),
    "splade": (SparseEncoder, "mlm", lambda: (SpladePooling(),), masked),
    "summed": (SparseEncoder, "mlm", lambda: (SpladePooling("sum", "log1p_relu"),), masked),
    "colbert": (MultiVectorEncoder, "bert", tuple, {}),
}
HEADS = ("cls", "several", "dense", "words", "word")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of each kind, saved by the library itself; and some whose heads cannot be read."""
    folder = tmp_path_factory.mktemp("heads")
    checkpoint(folder / "bert", headless=True)
    common = {"vocab_size": len(WORDS), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    for name, family, make in (("gpt2", "gpt2", AutoModelForCausalLM), ("mlm", "bert", AutoModelForMaskedLM)):
        torch.manual_seed(0)
        config = AutoConfig.for_model(family, **common, **SIZE[family])
        make.from_config(config).save_pretrained(folder / name)
        tokenizer().save_pretrained(folder / name)
    for key, (kind, body, behind, settings) in KINDS.items():
        torch.manual_seed(1)
        modules = [Transformer(str(folder / body), **settings), *behind()]
        model = kind(str(folder / body)) if key == "colbert" else kind(modules=modules, device="cpu")
        model.save(str(folder / key), create_model_card=False)
    for key in ("unknown", "infinite"):
        CrossEncoder(str(folder / "cls"), device="cpu").save(str(folder / key), create_model_card=False)
    change(folder / "own" / "config_sentence_transformers.json", activation_fn=None)  # it is the sigmoid then
    older = shutil.copytree(folder / "colbert", folder / "pylate")  # as pylate saved it: no mask, no norm
    listed = json.loads((older / "modules.json").read_text("utf-8"))[:2]
    listed[1]["type"] = "pylate.models.Dense.Dense"
    (older / "modules.json").write_text(json.dumps(listed), "utf-8")
    settings = {"model_type": "ColBERT", "query_prefix": "the ", "document_prefix": "a "}
    change(older / "config_sentence_transformers.json", **settings, do_query_expansion=False)
    change(folder / "unknown" / "2_Dense" / "config.json", activation_function="os.system")
    reweigh(folder / "infinite" / "5_Dense", lambda tensors: tensors["linear.bias"].fill_(torch.nan))
    return folder


@pytest.fixture(scope="module")
def asked(folder: Path) -> Engine:
    return engine_on(folder, {key: folder / key for key in (*KINDS, "pylate", "unknown", "infinite")})


def told(engine: Engine, key: str, text: str = TEXTS[1][0], **more: Any) -> tuple[Any, dict[str, str]]:
    """The answer, and its warnings by their keys."""
    found = engine.ask("analyze", Query(key, text, **more))
    return found, {one.key.removeprefix("warnings."): str(one) for one in found.warnings}


@pytest.mark.parametrize("key", [*HEADS, "own"])
def test_a_head_gives_what_its_own_library_predicts(asked: Engine, folder: Path, key: str) -> None:
    theirs = CrossEncoder(str(folder / key), device="cpu").eval()
    for text, pair in TEXTS:
        given = theirs.preprocess([(text, pair) if pair else text])
        with torch.no_grad():
            expected = theirs(given)["scores"][0]
        found, warnings = told(asked, key, text, text_pair=pair)
        np.testing.assert_allclose(found.logits, expected, atol=1e-6)
        assert (found.head_trained, found.body_trained, found.swapped) == (True, True, False)
        assert {"untrained", "head_unread", "constant", "other_head"}.isdisjoint(warnings)
        assert ("makes_logits" in warnings) == (key in ("words", "word"))
        assert (found.backbone.declared is None) == (key == "own")  # behind whose head stands no module
        if pair and len(expected) == 1:
            assert f"makes {theirs.predict([(text, pair)])[0]:.4f}" in warnings["predict"]
    backbone, pairs = loaded(asked, key), [TEXTS[0], ("good", "bad")]  # the shorter is padded
    inputs = backbone.tokenizer(pairs, padding=True, return_tensors="pt")
    together = backbone.model(**inputs).logits.detach().squeeze(1)
    np.testing.assert_allclose(together, theirs.predict(pairs, activation_fn=PLAIN), atol=1e-6)


def test_what_predict_puts_behind_logits_is_said(tmp_path: Path) -> None:
    """A path that is its own is not taken, and an older key is not asked where the other one stands."""
    spec, pair = checkpoint(tmp_path / "x", num_labels=1), ("the film is good", "bad")
    unread = json.dumps({"activation_fn": "torch.nn.modules.activation.Tanh"})  # as there are no modules
    (tmp_path / "x" / "config_sentence_transformers.json").write_text(unread, "utf-8")
    backbone, theirs, older = load(spec), CrossEncoder(spec.location, device="cpu"), [*ACTIVATIONS][-2]
    assert isinstance(theirs.activation_fn, nn.Sigmoid)
    for stated in ({}, *({"activation_fn": path} for path in (*ACTIVATIONS, "own.Tanh", None))):
        for config in (backbone.model.config, theirs.config):
            config.update({"sentence_transformers": stated, "sbert_ce_default_activation_function": older})
        usual = theirs.get_default_activation_fn()
        says = f"a {type(usual).__name__} behind"
        score = f"makes {theirs.predict([pair], activation_fn=usual)[0]:.4f} of"
        found = [str(one) for one in analyse(examine(backbone, Query("x", *pair))).warnings]
        assert [says in one and score in one for one in found] == [True] * (
            not isinstance(usual, nn.Identity)
        )


@pytest.mark.parametrize("key", ["own", "dense"])
@pytest.mark.parametrize("treatment", TABLES["treated"])
def test_what_predict_does_first_is_said(folder: Path, tmp_path: Path, treatment: str, key: str) -> None:
    place, case = shutil.copytree(folder / key, tmp_path / "x"), TABLES["treated"][treatment]
    change(place / case["file"], **case["keys"])
    pair = ("the film is good", "bad")
    expected = CrossEncoder(str(place), device="cpu").predict([pair], activation_fn=PLAIN)
    engine = engine_on(tmp_path, {"x": place})
    found, warnings = told(engine, "x", pair[0], text_pair=pair[1])
    typed, left = told(engine, "x", case["typed"], text_pair=pair[1])
    assert (case["says"] in warnings, "encode_prompt" in left) == (True, False)
    assert np.abs(found.logits - expected).max() > 1e-4
    np.testing.assert_allclose(typed.logits, expected, atol=1e-6)


@pytest.mark.parametrize("key", HEADS)
def test_it_is_taken_apart_read_and_exported_as_any_head(asked: Engine, folder: Path, key: str) -> None:
    anatomy = asked.ask("anatomy", Query(key, *TEXTS[1]))
    places = {"cls": [0], "several": range(9), "dense": range(9), "words": [8], "word": [8]}
    assert anatomy.analysis.reads.indices == [*places[key]]
    assert {weight.origin for weight in anatomy.weights} == {"checkpoint"}
    np.testing.assert_allclose(printed(anatomy.program, folder), anatomy.analysis.probabilities, atol=1e-6)


def test_its_body_hands_out_attention_as_by_itself(asked: Engine, folder: Path) -> None:
    found = asked.ask("importance", Query("cls", *TEXTS[0])).attention
    plain = AutoModel.from_pretrained(folder / "cls", attn_implementation="eager")
    with torch.no_grad():
        given = plain(**tokenizer()(*TEXTS[0], return_tensors="pt"), output_attentions=True).attentions
    np.testing.assert_allclose(found, np.stack([layer[0, :, 0] for layer in given]), atol=1e-6)


@pytest.mark.parametrize(
    ("key", "reason"), [("unknown", "activation_function"), ("infinite", "not all finite numbers")]
)
def test_a_head_that_cannot_be_read_is_named_and_never_called_untrained(
    asked: Engine, key: str, reason: str
) -> None:
    found, warnings = told(asked, key)
    assert reason in warnings["head_unread"]
    assert "predict" not in warnings  # these are no logits of its own
    assert ("untrained" in warnings, found.head_trained) == (False, False)
    says = [str(one) for one in asked.ask("passport", Query(key, "")).says]
    assert sum("cannot be read" in one for one in says) == 2  # the head, and what is declared
    assert not any("untrained" in one for one in says)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        *(("early", "an order"), ("masked", "an order"), ("twice", "module_input_name")),
        *(("mixed", "not known here: .*WeightedLayerPooling"), ("routed", "not known here: .*Router")),
    ],
)
def test_steps_that_are_not_run_or_in_another_order_are_refused(folder: Path, key: str, says: str) -> None:
    with pytest.raises(RefusalError, match=says):
        read_declaration(folder / key)


def test_a_model_that_is_no_transformer_is_named_as_what_it_is(folder: Path, tmp_path: Path) -> None:
    static = parts.StaticEmbedding(tokenizer(), embedding_dim=8)
    routes: Any = {"query": [static], "document": [Transformer(str(folder / "bert")), Pooling(32)]}
    table, router = "never from their order", "begins with a Router, which leads queries"
    said, turned = SentenceTransformer(modules=[static], device="cpu").encode(["not so good", "good so not"])
    np.testing.assert_allclose(said, turned, atol=1e-6)
    made = {"static": (static, table), "model2vec": (static, table), "routed": (Router(routes), router)}
    for key, (module, _) in made.items():
        SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path / key))
    (tmp_path / "model2vec" / "config.json").write_text('{"model_type": "model2vec"}', "utf-8")
    engine = engine_on(tmp_path, {key: tmp_path / key for key in made})
    for key, (_, says) in made.items():
        with pytest.raises(PoolscopeError, match=says):
            told(engine, key)
    model = next((tmp_path / "routed").glob("document_0_*"))  # which can be asked by itself
    alone = engine_on(tmp_path, {"one": model})
    assert told(alone, "one")[0].backbone.key == "one"


@pytest.mark.parametrize(("key", "size"), [("splade", len(WORDS)), ("colbert", 128)])
def test_other_shapes_are_told_as_what_they_are(asked: Engine, key: str, size: int) -> None:
    spec = next(spec for spec in asked.backbones() if spec.key == key)
    assert isinstance(spec.declared, Declaration)
    assert (spec.declared.size, spec.declares) == (size, False)
    with pytest.raises(PoolscopeError, match=r"they give a vector for each|the own head takes 32"):
        told(asked, key, pooling="declared")
    word = {"splade": "SPLADE", "colbert": "vector of 128 numbers for each token"}[key]
    _found, warnings = told(asked, key)
    assert any(word in one for one in warnings.values())
    assert any(word in str(one) for one in asked.ask("passport", Query(key, "")).says)


@pytest.mark.parametrize("key", ["splade", "summed"])
def test_a_sparse_vector_is_what_its_own_library_encodes(asked: Engine, folder: Path, key: str) -> None:
    theirs = SparseEncoder(str(folder / key), device="cpu")
    texts = [TEXTS[1][0], "good"]
    expected = theirs.encode(texts, convert_to_sparse_tensor=False).numpy()
    backbone = loaded(asked, key)
    padded = batch_states(backbone, texts)
    assert not padded.mask.all()
    np.testing.assert_allclose(POOLINGS["declared"](padded), expected, atol=1e-5)
    found = asked.ask("detect", Query(key, texts[0]), vector=expected[0].tolist())
    assert found.match is not None
    name = "splade_sum_log1p" if key == "summed" else key
    assert (found.match.way.pooling, found.says[-1].key) == (name, "detect.as_declared")
    options = {one["engine"]: one["options"] for one in found.to_json()["settings"]}
    assert options["sentence-transformers"] == ["SparseEncoder(...)"]
    assert ("--pooling splade" in str(options)) == (key == "splade")
    strong = theirs.decode(theirs.encode(texts[0]), top_k=10)
    named = ", ".join(f"“{word}” {weight:.2f}" for word, weight in strong[:9])
    _found, warnings = told(asked, key)
    assert named in warnings["words"]
    assert f"{len(WORDS)} numbers of this text, {np.count_nonzero(expected[0])} of" in warnings["words"]
    assert any("strongest words" in str(one) for one in asked.ask("passport", Query(key, "")).says)


@pytest.mark.parametrize("path", ["config_sentence_transformers.json", "1_SpladePooling/config.json"])
def test_a_sparse_vector_of_another_kind_is_refused(folder: Path, tmp_path: Path, path: str) -> None:
    change(shutil.copytree(folder / "splade", tmp_path / "it") / path, max_active_dims=5, pooling_strategy="")
    with pytest.raises(RefusalError, match=r"max_active_dims|pooling_strategy"):
        read_declaration(tmp_path / "it")


HEAD = "cls.predictions."
SPOILT: dict[str, tuple[Callable[..., Any], str]] = {
    "declares_unread": (lambda tensors: tensors.pop(f"{HEAD}transform.dense.weight"), "none that is whole"),
    "no_words": (lambda tensors: tensors[f"{HEAD}bias"].fill_(-1000), "none of them above 0"),
}


@pytest.mark.parametrize("key", SPOILT)
def test_words_that_cannot_be_had_are_not_named(folder: Path, tmp_path: Path, key: str) -> None:
    spoil, says = SPOILT[key]
    reweigh(place := shutil.copytree(folder / "splade", tmp_path / "splade"), spoil)
    engine = engine_on(tmp_path, {"splade": place})
    warnings = {one.key.partition(".")[2]: str(one) for one in told(engine, "splade")[0].warnings}
    assert says in warnings[key]
    passport = [str(one) for one in engine.ask("passport", Query("splade", "")).says]
    assert not any("strongest" in one for one in (*warnings.values(), *passport))
    assert any(says in one for one in passport) == (key == "declares_unread")


@pytest.mark.parametrize("key", ["colbert", "pylate"])
def test_late_interaction_is_what_its_own_library_scores(asked: Engine, folder: Path, key: str) -> None:
    theirs = MultiVectorEncoder(str(folder / key), device="cpu")
    query, document = TEXTS[0]
    rows, columns = theirs.encode_query([query], prompt=""), theirs.encode_document([document], prompt="")
    found = asked.ask("maxsim", Query(key, query, document))
    assert found.highest.sum() == pytest.approx(float(theirs.similarity(rows, columns)), abs=1e-5)
    left = [key != "pylate" or mark != "," for mark in found.tokens_pair.text]
    np.testing.assert_allclose(found.similarity[:, left], rows[0] @ columns[0].T, atol=1e-6)
    said = {one.key.removeprefix("maxsim."): str(one) for one in found.warnings}
    assert "128 numbers" in said["projected"]
    assert ("“the ” · “a ”" in said.get("prompts", ""), "here 1" in said.get("skipped", "")) == (
        not all(left),
    ) * 2


FILLED = {
    "colbert": ("sentence_bert_config.json", {"query_expansion": {"strategy": "min", "length": 9}}, 9),
    "pylate": ("config_sentence_transformers.json", {"do_query_expansion": True, "query_length": None}, 32),
}


@pytest.mark.parametrize("key", FILLED)
def test_a_query_that_its_own_library_fills_up_is_said_to_be(folder: Path, tmp_path: Path, key: str) -> None:
    place, (file, stated, length) = shutil.copytree(folder / key, tmp_path / key), FILLED[key]
    change(place / file, **stated)
    change(place / "tokenizer_config.json", mask_token="[UNK]")
    theirs = MultiVectorEncoder(str(place), device="cpu").encode_query([TEXTS[0][0]], prompt="")
    found = engine_on(tmp_path, {key: place}).ask("maxsim", Query(key, *TEXTS[0]))
    assert (len(theirs[0]), len(found.highest)) == (length, 6)
    assert f"up to {length} tokens" in " ".join(map(str, found.warnings))


LEFT_OUT = {"skiplist_tasks": ["query"], "keep_only_token_ids": [4], "skiplist_words": 5}


@pytest.mark.parametrize("key", LEFT_OUT)
def test_tokens_that_are_left_out_otherwise_are_refused(folder: Path, tmp_path: Path, key: str) -> None:
    place = shutil.copytree(folder / "colbert", tmp_path / "colbert")
    change(next(place.glob("*_MultiVectorMask")) / "config.json", **{key: LEFT_OUT[key]})
    engine = engine_on(tmp_path, {"colbert": place})
    with pytest.raises(PoolscopeError, match=key):
        engine.ask("maxsim", Query("colbert", *TEXTS[0]))


@pytest.mark.families
@pytest.mark.parametrize("family", [*TABLES["bodies"], *TABLES["decoders"]])
def test_heads_behind_bodies_of_other_families(tmp_path: Path, family: str) -> None:
    make, task = (AutoModelForCausalLM, word) if family in TABLES["decoders"] else (AutoModel, {})
    torch.manual_seed(0)
    model = make.from_config(tiny_config(family))
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and "norm" not in name:
            nn.init.normal_(parameter, std=0.2)
    model.save_pretrained(tmp_path / "body")
    boundless().save_pretrained(tmp_path / "body")
    first = Transformer(str(tmp_path / "body"), **task)
    width = first.get_embedding_dimension()
    last = Dense(width, 1, activation_function=PLAIN, **SCORES)
    behind = [LogitScore(4, 5)] if task else [Pooling(width), last]
    CrossEncoder(modules=[first, *behind], device="cpu").save(str(tmp_path / family))
    engine = engine_on(tmp_path, {family: tmp_path / family})
    theirs = CrossEncoder(str(tmp_path / family), device="cpu")
    expected = theirs.predict([TEXTS[0]], activation_fn=PLAIN)
    found, warnings = told(engine, family, TEXTS[0][0], text_pair=TEXTS[0][1])
    np.testing.assert_allclose(found.logits, expected, atol=1e-6)
    assert (found.head_trained, found.body_trained, "predict" in warnings) == (True, True, True)
