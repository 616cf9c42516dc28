"""What padding changes is what transformers alone says of the same text padded by its own tokenizer."""

import shutil
from contextlib import ExitStack
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from components.analyses.measuring.export import module
from components.analyses.measuring.padding import PADDED, audit
from components.analyses.padding import Padding, PaddingCase
from components.analyses.passport import passport
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import Query
from tests.checkpoints import Loaded, Made
from tests.plain import FIRST, SPECS, Plain, load_plain
from tests.tiny import SIZE, change, checkpoint, tokenizer

TEXT, PAIR = "the acting is not good at all", "the film moves me"
SAMPLE = {"bert-sentiment": "", "distilbert-paraphrase": PAIR, "xlnet-sentiment": "", "gpt2-paraphrase": PAIR}
SAMPLE |= {"roberta-sentiment": ""}  # counts positions from after the id of its padding, which is not 0
LONGER = "the acting is not good at all, " * 3


def padded(plain: Plain, length: int, side: str, text: str, pair: str = "") -> tuple[Any, Any]:
    """The inputs of a text on whose ``side`` its own tokenizer pads, and what transformers gives of them."""
    options = {"padding": "max_length", "max_length": length, "padding_side": side}
    inputs = plain.tokenizer([text], [pair] if pair else None, return_tensors="pt", **options)
    with torch.no_grad():
        return inputs, plain.model(**inputs, output_hidden_states=True)


def case_of(padding: Padding, name: str) -> PaddingCase:
    return next(case for case in padding.cases if case.name == name)


@pytest.mark.parametrize(("key", "pair"), SAMPLE.items())
def test_logits_and_states_are_those_of_transformers(engine: Engine, key: str, pair: str) -> None:
    plain, found = load_plain(SPECS[key].location), engine.ask("padding", Query(key, TEXT, pair))
    alone = plain(TEXT, pair)
    states, mean = alone.hidden_states[-1][0], alone.hidden_states[-1][0].mean(dim=0)
    for side in ("right", "left"):
        inputs, output = padded(plain, len(states) + PADDED, side, TEXT, pair)
        case = case_of(found, side)
        np.testing.assert_allclose(case.logits, output.logits[0], atol=1e-5)
        assert case.largest == pytest.approx(float((output.logits - alone.logits).abs().max()), abs=1e-5)
        own = output.hidden_states[-1][0][inputs["attention_mask"][0].bool()]
        assert case.moved == tuple(((own - states).abs().amax(dim=1) > 1e-3).nonzero()[:, 0].tolist())
        distance = float((own.mean(dim=0) - mean).norm() / mean.norm())
        assert case.pooled["mean"] == pytest.approx(distance, abs=1e-5)


@pytest.mark.parametrize("key", SAMPLE)
def test_a_batch_is_safe_and_causes_are_those_of_the_families(engine: Engine, key: str) -> None:
    found, plain = engine.ask("padding", Query(key, TEXT)), load_plain(SPECS[key].location)
    inputs = plain.tokenizer([TEXT, LONGER], padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = plain.model(**inputs).logits[0]
    batch = found.cases[0]
    assert found.verdict == batch.verdict == "safe"
    np.testing.assert_allclose(batch.logits, logits, atol=1e-5)
    assert batch.reads == tuple(found.analysis.reads.positions.nonzero()[0])
    assert max(found.pooled.values()) < 1e-4
    takes = "position_ids" in signature(plain.model.base_model.forward).parameters
    assert [case.name for case in found.cases[3:]] == ["left_positions"] * takes
    # As their papers and their code say: some read the first position, one counts from the padding.
    left, right = (case_of(found, side) for side in ("left", "right"))
    told = (left.verdict, left.cause), (right.verdict, right.cause)
    kind = plain.model.config.model_type
    if kind in FIRST:
        assert told == (("reads_padding", "head"), ("safe", ""))
    elif kind == "xlnet":  # reads the last position
        assert told == (("safe", ""), ("reads_padding", "head"))
    else:  # finds the last token, but counts positions from the first of the padding
        assert told == (("moves", "positions"), ("safe", ""))
        assert case_of(found, "left_positions").verdict == "safe"


def audited(backbone: Backbone) -> Padding:
    with repeatable(backbone.model):
        return audit(examine(backbone, Query("bert-sentiment", TEXT)))


def test_a_head_that_reads_the_last_position_is_caught(loaded: Loaded) -> None:
    """As a fault of transformers once had it: whatever stands last, padding or not."""
    backbone = loaded("bert-sentiment")
    pooler = backbone.model.get_submodule("bert.pooler")
    original = pooler.forward
    pooler.forward = lambda states: original(states.flip(1))
    try:
        found = audited(backbone)
    finally:
        del pooler.forward
    assert found.verdict == "reads_padding"
    assert found.cases[0].cause == "head"
    assert "the head reads padding" in str(found.says[0])


def test_attention_to_padding_is_told(loaded: Loaded) -> None:
    backbone = loaded("bert-sentiment")

    def unmasked(_module: Any, args: Any, named: dict[str, Any]) -> Any:
        return (args[0], None, *args[2:]), named

    with ExitStack() as hooks:
        for layer in backbone.model.get_submodule("bert.encoder.layer"):
            hooks.enter_context(layer.register_forward_pre_hook(unmasked, with_kwargs=True))
        found = audited(backbone)
    assert (found.verdict, found.cases[0].cause) == ("moves", "attention")
    assert "attend to the padding" in str(found.says[0])


def test_a_text_that_leaves_no_room_is_refused(engine: Engine) -> None:
    with pytest.raises(PoolscopeError, match="as many as the model takes"):
        engine.ask("padding", Query("bert-sentiment", "good " * 1000))


def test_a_tokenizer_that_cannot_pad_is_said(loaded: Loaded) -> None:
    backbone = loaded("bert-sentiment")
    token, backbone.tokenizer.pad_token = backbone.tokenizer.pad_token, None
    try:
        found = audited(backbone)
    finally:
        backbone.tokenizer.pad_token = token
    assert (found.verdict, found.cases, found.pooled) == ("alone", (), {})
    assert "one text at a time" in str(found.says[0])


@pytest.mark.parametrize(
    ("family", "cause"), [("fnet", "attention"), ("bert", "attention"), ("gpt2", ""), ("xlnet", "head")]
)
def test_a_tokenizer_that_gives_no_mask_pads_without_one(
    family: str, cause: str, tiny_family: Made, tmp_path: Path
) -> None:
    """As transformers runs what it gives; its passport and its module can be had all the same."""
    folder = tmp_path / family
    shutil.copytree(tiny_family(family).location, folder)
    change(folder / "tokenizer_config.json", model_input_names=["input_ids"])
    backbone, plain = load(replace(tiny_family(family), location=str(folder))), load_plain(str(folder))
    with repeatable(backbone.model):
        examined = examine(backbone, Query(family, "the film is not good"))
        found, passed = audit(examined), passport.function(backbone, ())
    for side in ("right", "left"):
        total = len(found.analysis.tokens.text) + found.padded
        inputs, output = padded(plain, total, side, "the film is not good")
        assert [*inputs] == ["input_ids"]
        np.testing.assert_allclose(case_of(found, side).logits, output.logits[0], atol=1e-5)
    assert found.cases[0].cause == cause
    assert passed.ways[0].name == "batch"
    assert "return_attention_mask=True" in module(examined)


@pytest.mark.parametrize("model_type", ["bart", "mbart", "mvp", "bert", "gpt2"])
@pytest.mark.parametrize("text", ["good [SEP] film", "[SEP]", "[SEP] [SEP] the film [SEP] is", "the film"])
def test_a_text_that_none_may_stand_beside_is_not_safe(tmp_path: Path, model_type: str, text: str) -> None:
    """Heads that read where a text ends take as many ends of each; the last pads without an embedding."""
    spec = checkpoint(tmp_path / "odd", model_type, model_type if model_type in SIZE else "bart")
    given, failed, unpadded = tokenizer(), "", model_type == "gpt2"
    if unpadded:
        given.add_special_tokens({"pad_token": "[ADDED]"})
        given.save_pretrained(tmp_path / "odd")
        change(tmp_path / "odd" / "config.json", pad_token_id=given.pad_token_id)
    backbone = load(spec)
    try:
        backbone.model(**given([text, "the film is not good at all"], padding=True, return_tensors="pt"))
    except (ValueError, IndexError) as error:
        failed = str(error).rstrip(".")
    assert bool(failed) == (unpadded or (model_type != "bert" and "[SEP]" in text))
    found = audit(examine(backbone, Query("odd", text)))
    assert (found.verdict == "alone") == bool(failed)
    assert failed in str(found.says[0])
    assert ("the model fails" in str(found.says[0])) == bool(failed)
