"""Probes on disk: one file per backbone, of which only what is asked for is read."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from components.errors import PoolscopeError
from components.model.probes import Probe, half, probed, read_probe, write_probes

RNG = np.random.default_rng(0)


def made(labels: int = 2, width: int = 4, query: bool = False) -> Probe:
    numbers = [RNG.normal(size=shape).astype(np.float32) for shape in ((labels, width), (labels,), (width,))]
    return Probe(numbers[0], numbers[1], numbers[2] if query else None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "new" / "folder" / "a.safetensors"
    places = [("topic", "cls"), ("topic", "mean"), ("sentiment", "flatten")]
    probes = {place: made() for place in places} | {("sentiment", "attention"): made(query=True)}
    write_probes(probes, path)
    return path


def test_names_and_precision_on_disk(file: Path) -> None:
    tensors = load_file(file)
    assert sorted(tensors) == [
        *(f"sentiment/attention/{part}" for part in ("bias", "query", "weight")),
        *(f"sentiment/flatten/{part}" for part in ("bias", "weight")),
        *(f"topic/{pooling}/{part}" for pooling in ("cls", "mean") for part in ("bias", "weight")),
    ]
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float16)}
    assert probed(file) == ("sentiment", "topic")


@pytest.mark.parametrize("query", [True, False])
def test_what_is_written_comes_back_in_single_precision(tmp_path: Path, query: bool) -> None:
    file, probe = tmp_path / "a.safetensors", made(labels=3, query=query)
    write_probes({("topic", "attention"): probe}, file)
    back = read_probe(file, "topic", "attention")
    for name, values in vars(probe).items():
        if values is None:
            assert getattr(back, name) is None
        else:
            assert getattr(back, name).dtype == np.float32
            np.testing.assert_array_equal(getattr(back, name), half(values))
            np.testing.assert_allclose(getattr(back, name), values, rtol=2**-11)


def test_a_pooling_without_a_probe_names_those_that_have_one(file: Path) -> None:
    with pytest.raises(
        PoolscopeError, match="'max' was given; this backbone has probes for topic on cls, mean"
    ):
        read_probe(file, "topic", "max")


def test_a_number_too_large_for_half_precision_is_not_written(tmp_path: Path) -> None:
    probe = Probe(np.full((2, 4), 1e6, dtype=np.float32), np.zeros(2, dtype=np.float32))
    with pytest.raises(FloatingPointError):
        write_probes({("topic", "cls"): probe}, tmp_path / "a.safetensors")


def test_listing_tasks_loads_no_torch(file: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from components.model.probes import probed; "
        "probed(Path(sys.argv[1])); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == 0
