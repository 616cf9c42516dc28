"""Tokenizers that would crash, freeze or fill a process are refused before their library reads them."""

import base64
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.model.safety.tokenizing import check_tokenizer
from components.types import BackboneSpec
from tests.model.hostile.spoiling import change, refusal

Json = dict[str, Any]
LONG = "x" * 200_000


def mapped(*texts: bytes) -> str:
    """A map of characters as sentencepiece writes it, with an empty table."""
    table = bytes(1024)
    return base64.b64encode(
        struct.pack("<I", len(table)) + table + b"".join(t + b"\0" for t in texts)
    ).decode()


def unigram(tokenizer: Json) -> None:
    tokenizer["model"] = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], [LONG, -1.0]]}


def wordpiece(most: int) -> Callable[[Json], None]:
    def spoil(tokenizer: Json) -> None:
        vocab = tokenizer["model"]["vocab"]
        tokenizer["model"] = {
            "type": "WordPiece",
            "vocab": vocab,
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": most,
        }

    return spoil


def unknown(tokenizer: Json) -> None:
    tokenizer["model"]["unk_token"] = "u" * 6_000_000


def added(tokenizer: Json) -> None:
    tokenizer["added_tokens"][0]["content"] = LONG


def many_added(tokenizer: Json) -> None:
    first = tokenizer["added_tokens"][0]
    tokenizer["added_tokens"] = [first | {"id": n, "content": f"[{n}]"} for n in range(100_001)]


def chained(*steps: Json) -> Callable[[Json], None]:
    def spoil(tokenizer: Json) -> None:
        tokenizer["normalizer"] = {"type": "Sequence", "normalizers": list(steps)}

    return spoil


def twice(tokenizer: Json) -> None:
    single = tokenizer["post_processor"]["single"]
    single.append(next(part for part in single if "Sequence" in part))


def special(tokenizer: Json) -> None:
    tokenizer["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [2] * 1_000_000


def padded(tokenizer: Json) -> None:
    tokenizer["padding"] = {
        "strategy": {"Fixed": 10**9},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }


LOWER = {"type": "Lowercase"}
MAP = {"type": "Precompiled", "precompiled_charsmap": mapped(b"y" * 50)}
EMPTY = {"type": "Replace", "pattern": {"Regex": ""}, "content": "z"}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (unigram, "its tokenizer.json holds a text of 200,000 characters; at most 1,000"),
        (unknown, "its tokenizer.json holds a text of 6,000,000 characters"),
        (added, "its tokenizer.json holds a text of 200,000 characters"),
        (many_added, "100,001 tokens besides its vocabulary"),
        (wordpiece(10**9), r"max_input_chars_per_word = 1e\+09; at most 1,000"),
        (chained(*[LOWER] * 70), "takes a text through 72 steps; at most 64"),
        (chained(MAP, MAP), "more than 1,000 times as long"),
        (chained(*[EMPTY] * 10), "more than 1,000 times as long"),
        (chained(*[{"type": "ByteLevel"}] * 6), "more than 1,000 times as long"),
        (twice, "takes a text more than once"),
        (special, "puts more than 64 tokens of its own around a text"),
        (padded, r"Fixed = 1e\+09; at most 100,000"),
    ],
)
def test_a_tokenizer_out_of_bounds_is_refused(
    unread: BackboneSpec, spoil: Callable[[Json], None], reason: str
) -> None:
    file = Path(unread.location) / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    spoil(tokenizer)
    file.write_text(json.dumps(tokenizer))
    assert reason.replace("\\", "") in refusal(unread)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("special_tokens_map.json", json.dumps({"unk_token": LONG})),
        ("added_tokens.json", json.dumps({LONG: 5})),
        ("vocab.txt", f"a\n{LONG}\n"),
        ("vocab.json", json.dumps({LONG: 0})),
        ("merges.txt", f"#version\n{LONG} b\n"),
    ],
)
def test_the_other_files_of_a_tokenizer_have_the_same_bounds(
    unread: BackboneSpec, name: str, content: str
) -> None:
    (Path(unread.location) / name).write_text(content)
    assert f"its {name} holds a text of 200,00" in refusal(unread)


def test_settings_of_a_tokenizer_have_the_same_bounds(unread: BackboneSpec) -> None:
    file = Path(unread.location) / "tokenizer_config.json"
    change(file, max_input_chars_per_word=10**9)
    assert "max_input_chars_per_word" in refusal(unread)
    change(file, max_input_chars_per_word=100, mask_token=LONG)
    assert "holds a text of 200,000 characters" in refusal(unread)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt"])
def test_what_is_no_plain_file_is_not_opened(unread: BackboneSpec, name: str) -> None:
    file = Path(unread.location) / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    assert f"its {name} is no plain file" in refusal(unread)
    file.unlink()
    file.symlink_to("/dev/zero")
    assert f"its {name} is no plain file" in refusal(unread)


def field(number: int, content: bytes) -> bytes:
    """A field of Protocol Buffers that holds bytes: https://protobuf.dev/programming-guides/encoding/"""
    length, told = len(content), b""
    while length > 127:
        told, length = told + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + told + bytes([length]) + content


def sentencepieces(*pieces: bytes, charsmap: bytes = b"") -> bytes:
    """A file of sentencepiece's: pieces, each with a score and a kind, what it was trained on, and a map."""
    scored = b"\x15\x00\x00\x80\xbf" + b"\x18\x01"
    every = b"".join(field(1, field(1, piece) + scored) for piece in pieces)
    return every + field(2, field(1, b"x" * 9_000)) + field(3, field(1, b"nmt_nfkc") + field(2, charsmap))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (sentencepieces(b"<unk>", b"x" * 200_000), "a text of 200,000 characters"),
        (sentencepieces(b"<unk>", charsmap=b"x" * 5_000_000), "a text of 5,000,000 characters"),
        (sentencepieces(b"<unk>")[:-3], "is damaged"),
        (b"\xff" * 40, "is damaged"),
        (b"\x0f", "is damaged"),
    ],
)
@pytest.mark.parametrize("name", ["spiece.model", "sentencepiece.bpe.model"])
def test_a_sentencepiece_file_is_looked_through_first(
    spec: BackboneSpec, name: str, content: bytes, said: str
) -> None:
    (Path(spec.location) / name).write_bytes(content)
    told = refusal(spec)
    assert name in told
    assert said in told


def test_a_sound_sentencepiece_file_is_let_through(tmp_path: Path) -> None:
    from google.protobuf.internal.encoder import TagBytes  # an independent writer of the same

    assert TagBytes(3, 2) == field(3, b"")[:1]
    (tmp_path / "spm.model").write_bytes(
        sentencepieces(*[f"▁{n}".encode() for n in range(1_000)], charsmap=b"x" * 300_000)
    )
    check_tokenizer(tmp_path)
