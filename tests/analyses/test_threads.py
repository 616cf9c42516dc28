"""Questions of public threads, answered by transformers and sentence-transformers alone."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import nn
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification

from components.analyses.detect import Way
from components.analyses.detect_score import DetectedScore, ScoreWay
from components.inference.engine import Engine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.analyses.test_detect_score import ACTIVATIONS, BERT, PAIRS, TINY, ask, logits_by_hand
from tests.analyses.test_planted import held_against, hidden
from tests.analyses.test_sees import looked
from tests.checkpoints import Loaded, Made, passport_of
from tests.families.cases import tiny_config
from tests.plain import SPECS, load_plain
from tests.serving import ROOT
from tests.tiny import checkpoint, tokenizer

THREADS = tomllib.loads((ROOT / "tests" / "threads.toml").read_text(encoding="utf-8"))["thread"]
TWO = PAIRS[:2]
SCORES = tomllib.loads(Path(__file__).with_name("threads.toml").read_text(encoding="utf-8"))["scores"]


@pytest.mark.parametrize("thread", THREADS, ids=lambda one: one["named"][0])
def test_each_thread_has_a_test_that_is_there(thread: dict[str, Any]) -> None:
    own = " ".join([Path(__file__).read_text(encoding="utf-8"), *SCORES])
    assert thread.get("held") or any(name in own for name in thread["named"])
    for file, _, name in (held.partition("::") for held in thread.get("held", ())):
        defined = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        assert name in {one.name for one in defined if isinstance(one, ast.FunctionDef)}


def ways_of(told: DetectedScore) -> list[ScoreWay]:
    return [one.way for one in (told.match, *told.ties) if one is not None]


@pytest.mark.parametrize("thread", SCORES)
def test_a_score_is_told_from_that_of_the_model(thread: str) -> None:
    done, activation, says = SCORES[thread]
    applied, logits = ACTIVATIONS[activation][1], [logits_by_hand(SPECS[BERT], *pair, done) for pair in TWO]
    ways = ways_of(ask(SPECS[BERT], TWO, [applied(one).tolist() for one in logits]))
    (way,) = (one for one in ways if ({*one.keys}, one.activation) == ({*done}, activation))
    assert says in " ".join(map(str, way.settings()))


def test_the_word_none_between_two_texts_is_read() -> None:
    """vllm#19522."""
    plain = load_plain(SPECS[BERT].location)
    rows = [plain(f"{text}{None}{pair}").logits[0].tolist() for text, pair in TWO]
    assert ("one", "None") in [(way.joined, way.between) for way in ways_of(ask(SPECS[BERT], TWO, rows))]


def test_softmax_over_one_logit_is_always_one(tmp_path: Path) -> None:
    """agentmemory#724."""
    spec = checkpoint(tmp_path / "one", num_labels=1)
    rows = [load_plain(spec.location)(text).logits.softmax(dim=-1)[0].tolist() for text in TINY[:2]]
    assert rows == [[1.0], [1.0]]
    told = ask(spec, [(text, "") for text in TINY[:2]], rows)
    assert (told.match, told.says[0].key) == (None, "score.ones")


def test_a_cross_encoder_that_is_loaded_as_an_embedding_model_is_found() -> None:
    """mem0#4033."""
    library = SentenceTransformer(SPECS[BERT].location, device="cpu")
    rows = [[float(library.similarity(*library.encode(list(pair))))] for pair in TWO]
    told = ask(SPECS[BERT], TWO, rows)
    assert told.match is not None
    assert (told.match.way.joined, told.match.way.token, told.ties) == ("apart", "mean", ())


@pytest.mark.parametrize("family", ["bert", "qwen3"])
def test_what_is_pooled_where_nothing_is_declared_is_said(tmp_path: Path, family: str) -> None:
    """sentence-transformers#400; the head of a generator is drawn at random, evalscope#1620."""
    folder, spec = tmp_path / family, BackboneSpec(family, family, "", "", "local", str(tmp_path / family))
    make = AutoModelForCausalLM if family == "qwen3" else AutoModelForSequenceClassification
    make.from_config(tiny_config(family)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    backbone, library = load(spec), SentenceTransformer(str(folder), device="cpu")
    found = passport_of(backbone)
    told = [dict(one.values) for one in found.says if one.key == "passport.declares_none"]
    assert (found.undeclared, told) == (
        library[1].pooling_mode,
        [] if family == "qwen3" else [{"pooling": "mean"}],
    )
    assert backbone.provenance.random_head == (("score.weight",) if family == "qwen3" else ())
    assert ("lasttoken" in found.equal) == (family == "qwen3")


def test_modernberts_head_reads_the_first_token_or_the_mean(tiny_family: Made) -> None:
    """vllm#20067; and whether the norm stands before the activation, llama.cpp#18330."""
    spec, texts = tiny_family("modernbert", classifier_pooling="cls"), [(text, "") for text in TINY[:3]]
    model = AutoModelForSequenceClassification.from_pretrained(spec.location, classifier_pooling="mean")
    inputs = [tokenizer()(text, return_tensors="pt") for text, _ in texts]
    with torch.no_grad():
        rows = [model.eval()(**one).logits[0].tolist() for one in inputs]
        (hidden,) = zip(*(model.model(**one).last_hidden_state[:, 0] for one in inputs), strict=True)
        head = model.head
        other = [model.classifier(head.act(head.norm(head.dense(one)))).tolist() for one in hidden]
    assert "token_mean" in [key for way in ways_of(ask(spec, texts, rows)) for key in way.keys]
    assert {way.head for way in ways_of(ask(spec, texts, other))} == {"norm_first"}


def test_a_mask_that_lets_a_decoder_look_ahead_is_told(tmp_path: Path, monkeypatch: Any) -> None:
    """candle#3567."""
    attend = nn.functional.scaled_dot_product_attention
    ahead = {"is_causal": False, "attn_mask": None}
    monkeypatch.setattr(
        nn.functional,
        "scaled_dot_product_attention",
        lambda *states, **given: attend(*states, **given | ahead),
    )
    found = looked(checkpoint(tmp_path / "gpt2", "gpt2", "gpt2"))
    assert (found.shape, [one.key for one in found.warnings]) == ("all", ["sees.ahead_though"])


def test_one_word_without_special_tokens_is_found(loaded: Loaded) -> None:
    """neuroai#265."""
    plain = load_plain(SPECS["bert-sentiment"].location)
    inputs = plain.tokenizer("good", add_special_tokens=False, return_tensors="pt")
    answer = held_against(loaded("bert-sentiment"), hidden(plain.model, inputs)[0], "good")
    assert Way("mean", 4, False, False) in answer.ways


def test_a_pooler_that_a_checkpoint_lacks_is_not_made_up(engine: Engine) -> None:
    """transformers#16210: another class draws one, and does not where the files hold it."""
    for key in ("roberta-sentiment", BERT, "gpt2-sentiment"):
        _body, info = AutoModel.from_pretrained(SPECS[key].location, output_loading_info=True)
        drawn = any("pooler" in name for name in info["missing_keys"])
        assert engine.ask("passport", Query(key, "")).draws_pooler == drawn == key.startswith("roberta")
