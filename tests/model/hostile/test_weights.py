"""Weights that lie, are cut short or are no numbers are refused, and memory comes back."""

import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from components.analyses.measuring.analyze import analyse
from components.model.examine import examine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.model.hostile.spoiling import INDEX, WEIGHTS, change, refusal
from tests.tiny import checkpoint


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
