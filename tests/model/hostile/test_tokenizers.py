"""Tokenizers that do not fit, are broken or make gigabytes of a text are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.types import BackboneSpec
from tests.model.hostile.spoiling import DEEP, change, refusal


def test_a_tokenizer_with_ids_beyond_the_embeddings_is_refused(spec: BackboneSpec) -> None:
    file = Path(spec.location) / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["model"]["vocab"]["beyond"] = 19
    file.write_text(json.dumps(tokenizer))
    assert "it has ids up to 19, and there are embeddings for 0 to 18" in refusal(spec)


def test_an_added_token_beyond_the_embeddings_is_refused(spec: BackboneSpec) -> None:
    file = Path(spec.location) / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["added_tokens"].append(tokenizer["added_tokens"][0] | {"id": 2_000_000_000, "content": "far"})
    file.write_text(json.dumps(tokenizer))
    refusal(spec)


@pytest.mark.parametrize("content", ["", "{}", "null", "[]", '{"model": {"type": "WordLevel"}}', "[" * DEEP])
def test_a_broken_tokenizer_is_refused(spec: BackboneSpec, content: str) -> None:
    (Path(spec.location) / "tokenizer.json").write_text(content)
    assert "its tokenizer" in refusal(spec)


def test_a_tokenizer_without_the_token_for_unknown_words_is_refused(spec: BackboneSpec) -> None:
    file = Path(spec.location) / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["model"]["unk_token"] = "[NONE]"
    file.write_text(json.dumps(tokenizer))
    assert "its tokenizer fails on a short text" in refusal(spec)


def replacing(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


@pytest.mark.parametrize(
    "normalizers",
    [
        [replacing("a", "b" * 1_000), replacing("b", "cc")],
        [replacing("a", "b" * 100), replacing("b", "c" * 100)],
        [{"type": "Prepend", "prepend": "a" * 1_000}, replacing("a", "bb")],
    ],
)
def test_a_tokenizer_that_makes_gigabytes_of_a_text_is_refused(
    spec: BackboneSpec, normalizers: list[dict[str, Any]]
) -> None:
    change(
        Path(spec.location) / "tokenizer.json", normalizer={"type": "Sequence", "normalizers": normalizers}
    )
    assert "more than 1,000 times as long" in refusal(spec)


def test_a_tokenizer_that_adds_a_thousand_tokens_is_refused(spec: BackboneSpec) -> None:
    file = Path(spec.location) / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["post_processor"]["single"] += [tokenizer["post_processor"]["single"][0]] * 1000
    file.write_text(json.dumps(tokenizer))
    assert "its tokenizer makes 1,005 tokens of three letters" in refusal(spec)


@pytest.mark.parametrize("template", ["single", "pair"])
def test_a_tokenizer_that_panics_is_refused(spec: BackboneSpec, template: str) -> None:
    """What its Rust raises then is no Exception."""
    file = Path(spec.location) / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["post_processor"][template].append({"SpecialToken": {"id": "[NONE]", "type_id": 0}})
    file.write_text(json.dumps(tokenizer))
    assert "its tokenizer fails on a short text (PanicException" in refusal(spec)


def test_a_checkpoint_without_a_tokenizer_is_refused(spec: BackboneSpec) -> None:
    for file in Path(spec.location).glob("tokenizer*"):
        file.unlink()
    assert "its tokenizer" in refusal(spec)
