"""Whatever lies in a checkpoint folder: refused with its reason, and the next checkpoint loads as before."""

import json
import os
import resource
import shutil
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from components.engine.analysis import analyse
from components.engine.examine import examine
from components.engine.loading import load
from components.errors import PoolscopeError
from components.types import BackboneSpec, Query
from tests.tiny import checkpoint

GB = 2**30
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> BackboneSpec:
    return checkpoint(tmp_path_factory.mktemp("checkpoints") / "good")


@pytest.fixture
def spec(good: BackboneSpec, tmp_path: Path) -> Iterator[BackboneSpec]:
    """A copy to spoil; whatever was done with it, the good one loads afterwards and answers."""
    folder = tmp_path / "spoilt"
    shutil.copytree(good.location, folder)
    yield replace(good, key="spoilt", location=str(folder))
    assert analyse(examine(load(good), Query("good", "the film is good"))).logits.shape == (2,)


def refusal(spec: BackboneSpec) -> str:
    """Why ``spec`` is not loaded; what is refused must not take more than 2 GB of addresses meanwhile."""
    with more_memory(2 * GB), pytest.raises(PoolscopeError) as caught:
        load(spec)
    assert str(Path(spec.location).parent) not in str(caught.value)  # no folder of this machine is told
    return str(caught.value)


@contextmanager
def more_memory(extra: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + extra, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def change(file: Path, **keys: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


# -- code of its own --------------------------------------------------------------------------------------


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


def test_an_adapter_that_names_another_folder_is_not_followed(spec: BackboneSpec, good: BackboneSpec) -> None:
    folder = Path(spec.location)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": good.location}))
    (folder / "config.json").unlink()
    assert "config.json cannot be read" in refusal(spec)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("inside", [False, True])
def test_code_of_its_own_is_refused(spec: BackboneSpec, tmp_path: Path, file: str, inside: bool) -> None:
    folder = Path(spec.location)
    (folder / "own.py").write_text(f"import os; os.mkdir({str(tmp_path / 'ran')!r})")
    names = {f"Auto{kind}": "own.Own" for kind in ("Config", "Tokenizer", "ModelForSequenceClassification")}
    own = {"auto_map": names}
    change(folder / file, **({"text_config": own} if inside else own))
    assert "Python code of its own" in refusal(spec)
    assert not (tmp_path / "ran").exists()


def test_a_kernel_on_the_hub_is_not_asked_for(spec: BackboneSpec) -> None:
    change(Path(spec.location) / "config.json", attn_implementation="somebody/kernel")
    assert load(spec).model.config._attn_implementation in ("sdpa", "eager")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("quantization_config", {"quant_method": "bitsandbytes", "load_in_8bit": True}, "quantised"),
        ("configuration_files", ["config.4.0.0.json"], "other files"),
        ("transformers_weights", "pytorch_model.bin", "other files"),
        ("transformers_weights", "../good/model.safetensors", "other files"),
        ("fusion_config", {"patch_embeddings": True}, "transformers' own classes"),
    ],
)
def test_a_config_that_leads_elsewhere_is_refused(
    spec: BackboneSpec, key: str, value: object, reason: str
) -> None:
    change(Path(spec.location) / "config.json", **{key: value})
    assert reason in refusal(spec)


# -- weights ----------------------------------------------------------------------------------------------


def header_of(file: Path) -> tuple[dict[str, Any], bytes]:
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def write_header(file: Path, header: dict[str, Any], body: bytes) -> None:
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + body)


def lying_shape(file: Path) -> None:
    header, body = header_of(file)
    header["classifier.weight"]["shape"] = [10**9, 10**3]
    write_header(file, header, body)


def lying_offsets(file: Path) -> None:
    header, body = header_of(file)
    header["classifier.weight"]["data_offsets"] = [0, 10**12]
    header["classifier.weight"]["shape"] = [250, 10**9]
    write_header(file, header, body)


def overlapping(file: Path) -> None:
    header, body = header_of(file)
    header["classifier.bias"]["data_offsets"] = [4, 12]
    write_header(file, header, body)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


SPOILT_WEIGHTS = [
    lying_shape,
    lying_offsets,
    overlapping,
    truncated,
    lambda file: file.write_bytes(b""),
    lambda file: file.write_bytes(b"\x00" * 1000),
    lambda file: file.write_bytes(b"\xff" * 1000),
    lambda file: file.write_bytes(struct.pack("<Q", 99_000_000) + b"{"),
    lambda file: file.write_bytes(struct.pack("<Q", 100_000) + b"[" * 100_000),
    lambda file: write_header(file, {}, b"more"),
]


@pytest.mark.parametrize("spoil", SPOILT_WEIGHTS)
def test_damaged_weights_are_refused(spec: BackboneSpec, spoil: Callable[[Path], None]) -> None:
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


def test_shards_are_one_checkpoint(spec: BackboneSpec, good: BackboneSpec) -> None:
    sharded(Path(spec.location))
    backbone = load(spec)
    assert backbone.head_trained
    for name, tensor in load(good).model.state_dict().items():
        assert torch.equal(backbone.model.state_dict()[name], tensor)


def test_every_shard_is_validated(spec: BackboneSpec) -> None:
    truncated(sharded(Path(spec.location))[1])
    assert "its two.safetensors is damaged" in refusal(spec)


@pytest.mark.parametrize(
    "named", ["three.safetensors", "../good/model.safetensors", "/etc/passwd", 7, [], ""]
)
def test_an_index_names_files_of_its_own_folder_alone(spec: BackboneSpec, named: object) -> None:
    folder = Path(spec.location)
    sharded(folder)
    change(folder / INDEX, weight_map={"classifier.bias": named})
    assert "names a file that is not in the folder" in refusal(spec)


@pytest.mark.parametrize("weight_map", [None, {}, [], "one.safetensors"])
def test_an_index_without_files_is_refused(spec: BackboneSpec, weight_map: object) -> None:
    folder = Path(spec.location)
    sharded(folder)
    change(folder / INDEX, weight_map=weight_map)
    assert "names no file" in refusal(spec)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_weights_that_are_no_numbers_are_refused(
    spec: BackboneSpec, number: float, dtype: torch.dtype
) -> None:
    file = Path(spec.location) / WEIGHTS
    tensors = {name: tensor.to(dtype) for name, tensor in load_file(file).items()}
    tensors["bert.embeddings.word_embeddings.weight"][17, 3] = number  # of a word that is not tried
    save_file(tensors, file, {"format": "pt"})
    assert "word_embeddings.weight holds NaN or infinity" in refusal(spec)


def test_weights_that_overflow_are_refused(spec: BackboneSpec) -> None:
    file = Path(spec.location) / WEIGHTS
    tensors = load_file(file)
    tensors["classifier.weight"][:] = 3e38
    save_file(tensors, file, {"format": "pt"})
    assert "its outputs are not finite" in refusal(spec)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is mapped")
def test_a_file_that_is_shortened_later_does_no_harm(spec: BackboneSpec) -> None:
    """Reading a mapped file beyond its new end would kill the process."""
    file = Path(spec.location) / WEIGHTS
    backbone = load(spec)
    assert str(file) not in Path("/proc/self/maps").read_text()
    before = analyse(examine(backbone, Query("x", "the film"))).logits
    file.write_bytes(b"")
    assert (analyse(examine(backbone, Query("x", "the film"))).logits == before).all()


# -- config -----------------------------------------------------------------------------------------------


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
        ({"id2label": {str(n): "x" for n in range(30_000)}}, "30,000 labels"),
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


def test_a_rotary_base_is_no_size(spec: BackboneSpec) -> None:
    change(Path(spec.location) / "config.json", rope_theta=10**9)
    assert load(spec).head_trained


DEEP = 100_000


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
        ("config.json", 8),
        ("tokenizer_config.json", 8),
        ("tokenizer.json", 64),
        ("vocab.txt", 64),
        (INDEX, 64),
    ],
)
def test_a_text_too_large_is_not_read(spec: BackboneSpec, file: str, limit: int) -> None:
    with (Path(spec.location) / file).open("ab") as text:
        text.truncate(500_000_000)  # zeros that take no room on the disk
    assert f"its {file} has 500 MB; at most {limit} MB are read" in refusal(spec)


# -- tokenizer --------------------------------------------------------------------------------------------


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
        [replacing("a", "b" * 10_000)],
        [replacing("a", "b" * 100), replacing("b", "c" * 100)],
        [{"type": "Prepend", "prepend": "a" * 10_000}],
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
    tokenizer["post_processor"]["single"] *= 1000
    file.write_text(json.dumps(tokenizer))
    assert "its tokenizer makes 5,000 tokens of three letters" in refusal(spec)


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


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
