"""Tokenizers written in Python, which do not tell where in the text a token stands."""

from pathlib import Path

import numpy as np
import pytest
from transformers import CanineTokenizer, EsmTokenizer, PerceiverTokenizer, PreTrainedTokenizerBase

from components.analyses.measuring.analyze import analyse
from components.model.examine import examine
from components.model.loading import load
from components.types import Analysis, BackboneSpec, Query
from tests.families.making import tiny_model

pytestmark = pytest.mark.families
ACIDS = ("<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>")


def esm(folder: Path) -> PreTrainedTokenizerBase:
    file = folder / "acids.txt"
    file.write_text("\n".join(ACIDS))
    return EsmTokenizer(str(file))


def answered(folder: Path, family: str, tokenizer: PreTrainedTokenizerBase, *texts: str) -> Analysis:
    tiny_model(family, vocab_size=max(64, len(tokenizer)), max_position_embeddings=256).save_pretrained(
        folder
    )
    tokenizer.save_pretrained(folder)
    backbone = load(BackboneSpec(family, family, "made up", "", "local", str(folder)))
    return analyse(examine(backbone, Query(family, *texts)))


@pytest.mark.parametrize("texts", [("MKTAY",), ("MKTAY", "LAG"), ("MKJAY", "LAG")])
def test_what_follows_from_the_ids_is_known(tmp_path: Path, texts: tuple[str, ...]) -> None:
    tokens = answered(tmp_path, "esm", esm(tmp_path), *texts).tokens
    pieces = [["<unk>" if letter == "J" else letter for letter in text] for text in texts]
    expected = [("<cls>", -1)]
    for segment, text in enumerate(pieces):
        expected += [*((piece, segment) for piece in text), ("<eos>", -1)]
    assert list(zip(tokens.text, tokens.segment.tolist(), strict=True)) == expected
    np.testing.assert_array_equal(tokens.special, tokens.segment == -1)
    assert tokens.cls == 0
    assert not tokens.span.any()


def test_the_visitor_is_told(tmp_path: Path) -> None:
    warnings = list(map(str, answered(tmp_path, "esm", esm(tmp_path), "MKJAY").warnings))
    assert "does not tell where in the text" in warnings[0]
    assert warnings[1] == "1 of 7 tokens are unknown to this vocabulary and stand as <unk>."


@pytest.mark.parametrize(
    ("family", "tokenizer"), [("canine", CanineTokenizer), ("perceiver", PerceiverTokenizer)]
)
def test_a_tokenizer_without_a_vocabulary_file(tmp_path: Path, family: str, tokenizer: type) -> None:
    analysis = answered(tmp_path, family, tokenizer(), "good film")
    assert np.isfinite(analysis.logits).all()
    assert any("stands for one token" in str(warning) for warning in analysis.warnings)
