"""Heads of decoders: which token they read and why, against transformers alone."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from components.analyses.fit.embedding import embed
from components.analyses.measuring.padding import audit
from components.inference.engine import Engine
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.plain import SPECS, load_plain
from tests.tiny import catalogue, change

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
    return Engine(Settings(catalogue=catalogue(folder.parent, {"gpt2": folder}))), folder


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
def test_rows_are_run_one_by_one_where_a_batch_is_refused(
    kind: str, tiny_family: Callable[..., BackboneSpec]
) -> None:
    spec = tiny_family(kind, pad_token_id=None)
    backbone, plain = load(spec), load_plain(spec.location)
    outputs = [plain(text) for text in TEXTS]
    last = len(outputs[0].hidden_states) - 1
    with repeatable(backbone.model):
        examined = examine(backbone, Query(kind, TEXT))
        rows = embed(backbone, ["native"], False, np.arange(len(TEXTS)), [(text,) for text in TEXTS])
        audited = audit(examined)
    np.testing.assert_allclose(examined.outputs.logits, outputs[0].logits, atol=1e-5)
    expected = torch.stack([output.hidden_states[-1][0, -1] for output in outputs])
    np.testing.assert_allclose(rows.vectors["native", last], expected, atol=1e-5)
    assert audited.verdict == "alone"
    assert [one.key for one in audited.says] == ["padding.refused_config"]


def test_a_model_that_takes_a_batch_does_not_refuse_it(
    tiny_family: Callable[..., BackboneSpec],
) -> None:
    """Without a padding token in its config, too: its head does not look for one."""
    assert load(tiny_family("bert", pad_token_id=None)).refusal is None
