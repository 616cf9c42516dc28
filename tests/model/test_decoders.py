"""Heads of decoders: which token they read and why, against transformers alone."""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import processors
from transformers import PreTrainedTokenizerFast

from components.analyses.fit.embedding import embed
from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.detect_score import found
from components.analyses.measuring.padding import audit
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import Analysis, BackboneSpec, Query
from tests.analyses.test_padding import padded
from tests.checkpoints import Made
from tests.families.cases import boundless
from tests.plain import SPECS, load_plain
from tests.tiny import change, engine_on

KINDS = ("gpt2", "llama", "qwen3", "gemma3_text", "mistral", "phi")
TEXT = "not good"
TEXTS = ("not good", "not good at all", "the film is bad", "good")
ASKED = {
    **{"analyze": {}, "anatomy": {}, "lens": {}, "importance": {}, "padding": {}, "origin": {}},
    **{"passport": {}, "trace": {"other": "the film"}, "detect": {"vector": [0.5] * 128}},
}


@pytest.fixture(scope="session")
def unpadded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, Path]:
    """An engine on GPT-2 mini without a padding token in its config, and the checkpoint's folder."""
    folder = tmp_path_factory.mktemp("unpadded") / "gpt2"
    shutil.copytree(SPECS["gpt2-sentiment"].location, folder)
    change(folder / "config.json", pad_token_id=None)
    return engine_on(folder.parent, {"gpt2": folder}), folder


@pytest.mark.parametrize("name", ASKED)
def test_every_analysis_answers_where_the_config_has_no_pad_token(
    unpadded: tuple[Engine, Path], name: str
) -> None:
    engine, folder = unpadded
    plain = load_plain(str(folder))
    with pytest.raises(ValueError, match="no padding token"), torch.no_grad():
        plain.model(**plain.tokenizer([TEXT, TEXTS[1]], padding=True, return_tensors="pt"))
    output, found = plain(TEXT), engine.ask(name, Query("gpt2", TEXT), **ASKED[name])
    if (answer := getattr(found, "analysis", found)) is not found or name == "analyze":
        np.testing.assert_allclose(answer.logits, output.logits[0], atol=1e-5)
        assert answer.reads.indices == [len(output.hidden_states[-1][0]) - 1]
    if name == "lens":
        with torch.no_grad():
            each = plain.model.score(output.hidden_states[-1][0])
        np.testing.assert_allclose(found.lens.logits[-1], each, atol=1e-5)
    if name in ("padding", "passport"):
        said = "No pad token in its config: transformers refuses a batch of two"
        assert any(said in str(one) for one in found.says)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_run_one_by_one_where_a_batch_is_refused(kind: str, tiny_family: Made) -> None:
    spec = tiny_family(kind, pad_token_id=None)
    backbone, plain = kept(spec), load_plain(spec.location)
    outputs = [plain(text) for text in TEXTS]
    last = len(outputs[0].hidden_states) - 1
    with repeatable(backbone.model):
        examined = examine(backbone, Query(kind, TEXT))
        rows = embed(backbone, ["native"], False, np.arange(len(TEXTS)), [(text,) for text in TEXTS])
        audited = audit(examined)
    np.testing.assert_allclose(examined.outputs.logits, outputs[0].logits, atol=1e-5)
    expected = torch.stack([output.hidden_states[-1][0, -1] for output in outputs])
    np.testing.assert_allclose(rows.vectors["native", last], expected, atol=1e-5)
    assert (audited.verdict, audited.says[0].key) == ("alone", "padding.refused_config")
    for case in audited.cases[:2]:  # one text with padding is no batch: transformers reads what stands last
        _inputs, output = padded(plain, 4 + audited.padded, case.name, TEXT)
        np.testing.assert_allclose(case.logits, output.logits[0], atol=1e-5)
        assert case.reads_padding == (case.name == "right")


def test_a_model_that_takes_a_batch_does_not_refuse_it(tiny_family: Made) -> None:
    """Without a padding token in its config, too: its head does not look for one."""
    assert load(tiny_family("bert", pad_token_id=None)).alone is None


CHAT = "{% for turn in messages %}[CLS] {{ turn['content'] }} [SEP]{% endfor %}"
ONE = "[CLS]{{ messages | selectattr('role', 'eq', 'ROLE') | map(attribute='content') | first }}"
RANKS = "".join(ONE.replace("ROLE", role) for role in ("query", "document"))


def bare(chat: str | None = None) -> PreTrainedTokenizerFast:
    """Whole words, with nothing added to them; the end token is [SEP]."""
    words = boundless()
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1")
    words.eos_token, words.chat_template = "[SEP]", chat
    return words


@cache
def kept(spec: BackboneSpec) -> Backbone:
    return load(spec)


def answered(kind: str, spec: BackboneSpec, words: PreTrainedTokenizerFast, *texts: str) -> Analysis:
    backbone = replace(kept(spec), tokenizer=words)
    with repeatable(backbone.model):
        return analyse(examine(backbone, Query(kind, *texts)))


def warned(found: Analysis) -> dict[str, dict[str, object]]:
    """The values of what is said of the token that is read, by its key."""
    return {one.key.removeprefix("warnings."): dict(one.values) for one in found.warnings}


@pytest.mark.parametrize(("kind", "labels"), [("gpt2", 2), ("qwen3", 1)])
def test_an_end_token_or_a_chat_is_typed_and_what_it_moves_is_said(
    kind: str, labels: int, tiny_family: Made
) -> None:
    """With one label it is a reward model."""
    spec, words = tiny_family(kind, num_labels=labels), bare(CHAT)
    model = load_plain(spec.location).model
    for texts in ((TEXT, ""), (TEXT, "the film")):
        ids = words(texts[0], texts[1] or None)["input_ids"]
        turns = [
            {"role": role, "content": one} for role, one in zip(("user", "assistant"), texts, strict=True)
        ]
        chat = words.apply_chat_template(turns[: 1 + bool(texts[1])])["input_ids"]
        plain = answered(kind, spec, words, *texts)
        assert {"skips", "no_end", "no_chat"}.isdisjoint(warned(plain))
        logits = model(torch.tensor([ids])).logits[0].detach()
        likeliest, share = int(logits.argmax()), 100 * float(logits.softmax(dim=0).max())
        value = f"{float(logits[0]):.2f}".replace("-", "−") if labels == 1 else f"{share:.3g} %"
        says = f"{model.config.id2label[likeliest]} {value}"
        last = (texts[1] or texts[0]).split()[-1]
        for name, expected in (("end", [*ids, words.eos_token_id]), ("chat", chat)):
            written = answered(kind, spec, words, *plain.ways[name])
            theirs = model(torch.tensor([expected])).logits[0].detach()
            np.testing.assert_allclose(written.logits, theirs, atol=1e-5)
            assert written.ways[f"no_{name}"] == texts
            assert warned(written)[f"no_{name}"] == {"end": "[SEP]", "token": last, "says": says}
            assert f"no_{'chat' if name == 'end' else 'end'}" not in warned(written)


def test_a_score_of_a_chat_is_found_and_written(tiny_family: Made) -> None:
    """reward-bench#226; rerankers of sentence-transformers have roles of their own."""
    spec, words, written = tiny_family("qwen3", num_labels=1), bare(RANKS), "[CLS]not good[CLS]the film"
    (score,) = load_plain(spec.location).model(**words(written, return_tensors="pt")).logits.tolist()
    told = found(replace(kept(spec), tokenizer=words), [Query("qwen3", TEXT, "the film")], [(score, -1, ())])
    assert answered("qwen3", spec, words, TEXT, "the film").ways["chat"] == (written, "")
    assert (told.candidates[0].way.keys, told.candidates[0].sure) == (("chat",), True)


@pytest.mark.parametrize("kind", KINDS)
def test_an_end_token_that_also_pads_is_skipped_and_this_is_said(kind: str, tiny_family: Made) -> None:
    for padding, words, key in ((3, bare(), "skips_end"), (3, boundless(), "skips"), (0, bare(), "")):
        spec = tiny_family(kind, pad_token_id=padding)
        found = answered(kind, spec, words, "not good" if key == "skips" else "not good[SEP]")
        score = load_plain(spec.location).model.score
        inputs = words("not good" if key == "skips" else "not good[SEP]", return_tensors="pt")
        with torch.no_grad():
            states = load_plain(spec.location).model(**inputs, output_hidden_states=True).hidden_states[-1]
            np.testing.assert_allclose(found.logits, score(states[0, -2 if key else -1]), atol=1e-5)
        said = {one: values for one, values in warned(found).items() if one.startswith("skips")}
        assert said == ({key: {"end": "[SEP]", "token": "good"}} if key else {})


def test_what_its_tokenizer_would_not_read_so_is_not_offered(tiny_family: Made) -> None:
    spec = tiny_family("llama")
    for chat in (
        "{{ raise_exception('no') }}",
        "{{ messages[2]['content'] }}",
        "{% for %}",
        "{{ 'a' * 10**6 }}",
        "{{ messages[0]['content'] }}",  # adds nothing
    ):
        assert {"chat", "no_chat"}.isdisjoint(answered("llama", spec, bare(chat), TEXT).ways)
    words = boundless()  # which adds [SEP] behind whatever is typed
    words.eos_token = "!"
    assert answered("llama", spec, words, TEXT).ways == {}
    long = " ".join(["good"] * kept(spec).limit)  # nothing more fits
    assert answered("llama", spec, bare(), long).ways == {}
    roberta = SPECS["roberta-sentiment"]
    adds = load_plain(roberta.location).tokenizer  # the end token, behind another one that is typed
    assert answered(roberta.key, roberta, adds, "good</s>").ways == {}
    assert answered("bert", tiny_family("bert"), bare(), TEXT).ways == {}  # whose head reads the first
