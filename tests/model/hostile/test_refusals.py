"""What spoils a checkpoint is refused with its reason: code, other files, absurd sizes, damaged weights."""

import json
import os
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model.examine import examine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.model.hostile.spoiling import DEEP, INDEX, WEIGHTS, change, refusal, resident
from tests.tiny import checkpoint

CONFIG, SETTINGS, TOKENIZER = "config.json", "tokenizer_config.json", "tokenizer.json"
Spoil = Callable[[Path], None]  # what is done to a checkpoint's folder


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.made),)


def test_pickled_weights_are_not_opened(spec: BackboneSpec, tmp_path: Path) -> None:
    folder = Path(spec.location)
    (folder / WEIGHTS).unlink()
    torch.save(Bomb(tmp_path / "ran"), folder / "pytorch_model.bin")
    assert "pickled weights are never read" in refusal(spec)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("file", [CONFIG, SETTINGS])
@pytest.mark.parametrize("inside", [False, True])
def test_code_of_its_own_is_refused(spec: BackboneSpec, tmp_path: Path, file: str, inside: bool) -> None:
    folder = Path(spec.location)
    (folder / "own.py").write_text(f"import os; os.mkdir({str(tmp_path / 'ran')!r})")
    names = {f"Auto{kind}": "own.Own" for kind in ("Config", "Tokenizer", "ModelForSequenceClassification")}
    own = {"auto_map": names}
    change(folder / file, **({"text_config": own} if inside else own))
    assert "Python code of its own" in refusal(spec)
    assert not (tmp_path / "ran").exists()


def test_an_adapter_that_names_another_folder_is_not_followed(spec: BackboneSpec, good: BackboneSpec) -> None:
    folder = Path(spec.location)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": good.location}))
    (folder / CONFIG).unlink()
    assert "config.json cannot be read" in refusal(spec)


@pytest.mark.parametrize("keys", [{"attn_implementation": "somebody/kernel"}, {"rope_theta": 10**9}])
def test_what_only_looks_hostile_is_loaded(spec: BackboneSpec, keys: dict[str, Any]) -> None:
    change(Path(spec.location) / CONFIG, **keys)
    backbone = load(spec)
    assert backbone.head_trained
    assert backbone.model.config._attn_implementation in ("sdpa", "eager")


CONFIGS: list[tuple[dict[str, Any], str]] = [
    ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}, "quantised"),
    ({"configuration_files": ["config.4.0.0.json"]}, "other files"),
    ({"transformers_weights": "../good/model.safetensors"}, "other files"),
    ({"fusion_config": {"patch_embeddings": True}}, "transformers' own classes"),
    ({"num_hidden_layers": 10**9}, r"num_hidden_layers = 1e\+09; at most 20,000"),
    ({"num_attention_heads": 10**9}, r"num_attention_heads = 1e\+09"),
    ({"intermediate_size": 10**7}, "describes 1,300,027,010 weights and its files hold 31,820"),
    ({"vocab_size": 10**12}, r"vocab_size = 1e\+12; at most 16,777,216"),
    ({"intermediate_size": -(10**30)}, r"intermediate_size = -1e\+30"),
    ({"num_labels": 5_000}, r"num_labels = 5e\+03; at most 1,000"),
    ({"text_config": {"deeper": [{"n_layer": 10**9}]}}, "n_layer"),
    ({"model_type": "nobody's"}, "cannot be understood"),
    ({"model_type": "vit"}, "no text classifier"),
    ({"hidden_size": "32"}, "cannot be understood"),
    ({"num_attention_heads": 0}, "no text classifier"),
    ({"hidden_act": "import os"}, "no text classifier"),
    ({"id2label": {"one": "x"}}, "cannot be understood"),
    ({"id2label": {}}, "one number for each of its 0 labels|zero-element"),
    ({"id2label": {str(n): "x" for n in range(1_001)}}, "1,001 labels; at most 1,000"),
    ({"id2label": {"1" * 5_000: "x"}}, "numbers a label with 5,000 digits"),
    ({"id2label": {"0": "x" * 3_800_000}}, "a label of 3,800,000 characters; at most 1,000"),
    ({"label2id": {"x" * 3_800_000: 0}}, "a label of 3,800,000 characters; at most 1,000"),
    ({"problem_type": "guessing"}, "problem_type"),
    ({"get_text_config": 5}, "cannot be understood|no text classifier"),
]


@pytest.mark.parametrize(("keys", "reason"), CONFIGS)
def test_a_config_that_leads_away_or_is_beyond_reason_is_refused(
    spec: BackboneSpec, keys: dict[str, Any], reason: str
) -> None:
    change(Path(spec.location) / CONFIG, **keys)
    with pytest.raises(PoolscopeError, match=reason):
        load(spec)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * DEEP + b"]" * DEEP, "cannot be read"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "is nested deeper"),
        (b"[]", "is not a JSON object"),
        (b"", "cannot be read"),
        (b"\xff\xfe{}", "cannot be read"),
        (b'{"hidden_size": 1' + b"0" * 5000 + b"}", "cannot be read"),
        (b"{}", "cannot be understood"),
    ],
)
def test_a_config_that_is_no_config_is_refused(spec: BackboneSpec, content: bytes, reason: str) -> None:
    (Path(spec.location) / CONFIG).write_bytes(content)
    assert f"its config.json {reason}" in refusal(spec)


@pytest.mark.parametrize(
    ("file", "limit"), [(CONFIG, 4), (SETTINGS, 4), (INDEX, 4), (TOKENIZER, 64), ("vocab.txt", 64)]
)
def test_a_text_too_large_or_no_plain_file_is_not_opened(unread: BackboneSpec, file: str, limit: int) -> None:
    place = Path(unread.location) / file
    with place.open("ab") as text:
        text.truncate(500_000_000)  # zeros that take no room on the disk
    assert f"its {file} has 500 MB; at most {limit} MB are read" in refusal(unread)
    place.unlink()
    os.mkfifo(place)
    assert f"its {file} is no plain file" in refusal(unread)
    place.unlink()
    place.symlink_to("/dev/zero")
    assert f"its {file} is no plain file" in refusal(unread)


def tokenizer(edit: Callable[[dict[str, Any]], object]) -> Spoil:
    """A change of what stands in tokenizer.json."""

    def spoil(folder: Path) -> None:
        read = json.loads((folder / TOKENIZER).read_text())
        edit(read)
        (folder / TOKENIZER).write_text(json.dumps(read))

    return spoil


def written(content: str) -> Spoil:
    return lambda folder: (folder / TOKENIZER).write_text(content) and None


def templated(template: str, *parts: dict[str, Any]) -> Spoil:
    return tokenizer(lambda read: read["post_processor"][template].extend(parts))


NONE = {"SpecialToken": {"id": "[NONE]", "type_id": 0}}
CLS = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
FAR = {"id": 2_000_000_000, "content": "far"}
TOKENIZERS: list[tuple[Spoil, str]] = [
    (tokenizer(lambda read: read["model"]["vocab"].update(beyond=19)), "it has ids up to 19, and there are"),
    (tokenizer(lambda read: read["added_tokens"].append(read["added_tokens"][0] | FAR)), "its tokenizer"),
    (tokenizer(lambda read: read["model"].update(unk_token="[NONE]")), "fails on a short text"),
    (written(""), "its tokenizer"),
    (written('{"model": {"type": "WordLevel"}}'), "its tokenizer"),
    (written("[" * DEEP), "its tokenizer"),
    (templated("single", *[CLS] * 1000), "its tokenizer makes 1,005 tokens of three letters"),
    (
        templated("single", NONE),
        "its tokenizer fails on a short text (PanicException",
    ),  # which is no Exception
    (templated("pair", NONE), "its tokenizer fails on a short text (PanicException"),
    (lambda folder: [each.unlink() for each in folder.glob("tokenizer*")] and None, "its tokenizer"),
]


@pytest.mark.parametrize(("spoil", "reason"), TOKENIZERS)
def test_a_tokenizer_that_is_broken_or_does_not_fit_is_refused(
    spec: BackboneSpec, spoil: Spoil, reason: str
) -> None:
    spoil(Path(spec.location))
    assert reason in refusal(spec)


def header_of(file: Path) -> tuple[dict[str, Any], bytes]:
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def write_header(file: Path, header: dict[str, Any], body: bytes) -> None:
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + body)


def lying(name: str, file: Path, **said: object) -> None:
    header, body = header_of(file)
    header[name] |= said
    write_header(file, header, body)


DAMAGES: list[Spoil] = [
    partial(lying, "classifier.weight", shape=[10**9, 10**3]),
    partial(lying, "classifier.weight", data_offsets=[0, 10**12], shape=[250, 10**9]),
    partial(lying, "classifier.bias", data_offsets=[4, 12]),  # where another one lies
    lambda file: file.write_bytes(file.read_bytes()[:-100]) and None,
    lambda file: file.write_bytes(b"") and None,
    lambda file: file.write_bytes(b"\xff" * 1000) and None,
    lambda file: file.write_bytes(struct.pack("<Q", 99_000_000) + b"{") and None,
    lambda file: file.write_bytes(struct.pack("<Q", 100_000) + b"[" * 100_000) and None,
    lambda file: write_header(file, {}, b"more"),
]


@pytest.mark.parametrize("spoil", DAMAGES)
def test_damaged_weights_are_refused(spec: BackboneSpec, spoil: Spoil) -> None:
    spoil(Path(spec.location) / WEIGHTS)
    assert "its model.safetensors is damaged" in refusal(spec)


def sharded(folder: Path) -> tuple[Path, Path]:
    """Write the weights again as two files and an index."""
    tensors = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names = sorted(tensors)
    parts = {"one.safetensors": names[::2], "two.safetensors": names[1::2]}
    for file, held in parts.items():
        save_file({name: tensors[name] for name in held}, folder / file, {"format": "pt"})
    weight_map = {name: file for file, held in parts.items() for name in held}
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))
    return folder / "one.safetensors", folder / "two.safetensors"


def test_shards_are_one_checkpoint_and_each_is_validated(spec: BackboneSpec, good: BackboneSpec) -> None:
    _, second = sharded(Path(spec.location))
    backbone = load(spec)
    assert backbone.head_trained
    for name, tensor in load(good).model.state_dict().items():
        assert torch.equal(backbone.model.state_dict()[name], tensor)
    second.write_bytes(second.read_bytes()[:-100])
    assert "its two.safetensors is damaged" in refusal(spec)


@pytest.mark.parametrize(
    ("weight_map", "reason"),
    [
        *[
            ({"classifier.bias": named}, "names a file that is not in the folder")
            for named in ("three.safetensors", "../good/model.safetensors", "/etc/passwd", 7, [], "")
        ],
        *[(none, "names no file") for none in (None, {}, [], "one.safetensors")],
    ],
)
def test_an_index_names_files_of_its_own_folder(spec: BackboneSpec, weight_map: object, reason: str) -> None:
    folder = Path(spec.location)
    sharded(folder)
    change(folder / INDEX, weight_map=weight_map)
    assert reason in refusal(spec)


@pytest.mark.parametrize(
    ("name", "place", "number", "dtype", "reason"),
    [
        ("bert.embeddings.word_embeddings.weight", (17, 3), float("nan"), torch.float32, "NaN or infinity"),
        ("bert.embeddings.word_embeddings.weight", (17, 3), float("-inf"), torch.float16, "NaN or infinity"),
        ("bert.embeddings.word_embeddings.weight", (17, 3), float("inf"), torch.bfloat16, "NaN or infinity"),
        ("classifier.weight", ..., 3e38, torch.float32, "its outputs are not finite"),
    ],
)
def test_weights_that_are_no_numbers_or_overflow_are_refused(
    spec: BackboneSpec, name: str, place: Any, number: float, dtype: torch.dtype, reason: str
) -> None:
    """Word 17 is none that is tried on a short text."""
    file = Path(spec.location) / WEIGHTS
    tensors = {key: tensor.to(dtype) for key, tensor in load_file(file).items()}
    tensors[name][place] = number
    save_file(tensors, file, {"format": "pt"})
    assert reason in refusal(spec)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is mapped")
def test_a_file_that_is_shortened_later_does_no_harm(spec: BackboneSpec) -> None:
    """Reading a mapped file beyond its new end would kill the process."""
    file = Path(spec.location) / WEIGHTS
    backbone = load(spec)
    assert str(file) not in Path("/proc/self/maps").read_text()
    before = analyse(examine(backbone, Query("x", "the film"))).logits
    file.write_bytes(b"")
    assert (analyse(examine(backbone, Query("x", "the film"))).logits == before).all()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is resident")
def test_memory_comes_back_after_a_refusal(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "large", max_position_embeddings=800_000)  # 32 numbers of 4 bytes each
    file = tmp_path / "large" / WEIGHTS
    tensors = load_file(file)
    tensors["classifier.weight"][0, 0] = float("nan")  # found when all is in memory
    save_file(tensors, file, {"format": "pt"})
    size = file.stat().st_size
    del tensors
    refusal(spec)  # once, for what stays for good
    before = resident()
    for _again in range(3):
        refusal(spec)
    assert resident() - before < size / 2
