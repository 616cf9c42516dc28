"""A text on which the model itself fails: the visitor is told, and the next text is answered."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from components.errors import PoolscopeError
from components.model.examine import examine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.tiny import WORDS, checkpoint, tokenizer


@pytest.mark.families
def test_a_text_that_the_model_cannot_take(tiny_family: Callable[..., BackboneSpec]) -> None:
    """Three tokens are fewer than one group of four."""
    backbone = replace(load(tiny_family("canine")), tokenizer=tokenizer())
    with pytest.raises(PoolscopeError, match="text: '3 tokens' was given; the model fails on them"):
        examine(backbone, Query("canine", "good"))
    assert examine(backbone, Query("canine", "not good")).kept.logits.shape == (1, 2)


def test_a_text_whose_numbers_overflow(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "x")
    file = tmp_path / "x" / "model.safetensors"
    tensors = load_file(file)
    tensors["bert.embeddings.word_embeddings.weight"][WORDS.index("bad")] = 3e38  # finite, their sum is not
    save_file(tensors, file, {"format": "pt"})
    backbone = load(spec)
    with pytest.raises(PoolscopeError, match="grow beyond what can be computed"):
        examine(backbone, Query("x", "the film is bad"))
    assert examine(backbone, Query("x", "the film is good")).kept.logits.isfinite().all()
