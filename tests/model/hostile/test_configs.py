"""Configs beyond reason are refused before anything is built."""

from pathlib import Path
from typing import Any

import pytest

from components.errors import PoolscopeError
from components.model.loading import load
from components.types import BackboneSpec
from tests.model.hostile.spoiling import DEEP, GB, INDEX, change, more_memory, refusal


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"num_hidden_layers": 10**9}, r"num_hidden_layers = 1e\+09; at most 20,000"),
        ({"num_hidden_layers": 10_000}, "more than 50,000 parts"),
        ({"num_attention_heads": 10**9}, r"num_attention_heads = 1e\+09"),
        ({"intermediate_size": 10**7}, "describes 1,300,027,010 weights and its files hold 31,820"),
        ({"vocab_size": 10**12}, r"vocab_size = 1e\+12; at most 16,777,216"),
        ({"hidden_size": 10**9}, r"hidden_size = 1e\+09"),
        ({"intermediate_size": -(10**30)}, r"intermediate_size = -1e\+30"),
        ({"num_labels": 10**7}, "num_labels"),
        ({"text_config": {"num_hidden_layers": 10**9}}, "num_hidden_layers"),
        ({"text_config": {"deeper": [{"n_layer": 10**9}]}}, "n_layer"),
        ({"model_type": "modernbert", "num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"model_type": "nobody's"}, "cannot be understood"),
        ({"model_type": ["bert"]}, "cannot be understood"),
        ({"model_type": "vit"}, "no text classifier"),
        ({"hidden_size": "32"}, "cannot be understood"),
        ({"hidden_size": None}, "cannot be understood"),
        ({"num_attention_heads": 0}, "no text classifier"),
        ({"num_attention_heads": 5}, "no text classifier"),
        ({"hidden_act": "import os"}, "no text classifier"),
        ({"pad_token_id": 500}, "no text classifier"),
        ({"id2label": {"one": "x"}}, "cannot be understood"),
        ({"id2label": {}}, "one number for each of its 0 labels|zero-element"),
        ({"problem_type": "guessing"}, "problem_type"),
        ({"get_text_config": 5}, "cannot be understood|no text classifier"),
    ],
)
def test_a_config_beyond_reason_is_refused(spec: BackboneSpec, keys: dict[str, Any], reason: str) -> None:
    change(Path(spec.location) / "config.json", **keys)
    with more_memory(2 * GB), pytest.raises(PoolscopeError, match=reason):
        load(spec)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"id2label": {str(n): "x" for n in range(1_001)}}, "1,001 labels; at most 1,000"),
        ({"num_labels": 5_000}, r"num_labels = 5e\+03; at most 1,000"),
        ({"id2label": {"1" * 5_000: "x"}}, "numbers a label with 5,000 digits"),
        ({"id2label": {"0": "x" * 3_800_000}}, "a label of 3,800,000 characters; at most 1,000"),
        ({"label2id": {"x" * 3_800_000: 0}}, "a label of 3,800,000 characters; at most 1,000"),
    ],
)
def test_labels_beyond_reason_are_refused(unread: BackboneSpec, keys: dict[str, Any], reason: str) -> None:
    change(Path(unread.location) / "config.json", **keys)
    with pytest.raises(PoolscopeError, match=reason):
        load(unread)


def test_a_rotary_base_is_no_size(spec: BackboneSpec) -> None:
    change(Path(spec.location) / "config.json", rope_theta=10**9)
    assert load(spec).head_trained


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * DEEP + b"]" * DEEP, "cannot be read"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "is nested deeper"),
        (b"[]", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b"{", "cannot be read"),
        (b"", "cannot be read"),
        (b"\xff\xfe{}", "cannot be read"),
        (b'{"hidden_size": 1' + b"0" * 5000 + b"}", "cannot be read"),
        (b"{}", "cannot be understood"),
    ],
)
def test_a_config_that_is_no_config_is_refused(spec: BackboneSpec, content: bytes, reason: str) -> None:
    (Path(spec.location) / "config.json").write_bytes(content)
    assert f"its config.json {reason}" in refusal(spec)


@pytest.mark.parametrize(
    ("file", "limit"),
    [
        ("config.json", 4),
        ("tokenizer_config.json", 4),
        ("tokenizer.json", 64),
        ("vocab.txt", 64),
        (INDEX, 4),
    ],
)
def test_a_text_too_large_is_not_read(spec: BackboneSpec, file: str, limit: int) -> None:
    with (Path(spec.location) / file).open("ab") as text:
        text.truncate(500_000_000)  # zeros that take no room on the disk
    assert f"its {file} has 500 MB; at most {limit} MB are read" in refusal(spec)
