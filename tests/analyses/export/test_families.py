"""Programs of families beyond the bundled ones: they print what Poolscope says, or say why there are none."""

import io
from collections.abc import Callable
from contextlib import chdir, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.export.module import module
from components.analyses.measuring.export.program import program
from components.model.examine import examine
from components.model.loading import load
from components.model.torch_internals import repeatable
from components.types import BackboneSpec, Query

pytestmark = pytest.mark.families
TEXT = "the film is not good at all"
POOLED = ("albert", "bart", "big_bird", "gpt_neox", "modernbert", "squeezebert", "xlnet", "zamba2")
INSIDE = ("t5", "t5gemma", "longformer", "canine", "perceiver", "funnel")


def printed(source: str, spec: BackboneSpec) -> list[float]:
    """What a program prints as probabilities, run where the folder of its checkpoint is."""
    with chdir(Path(spec.location).parent), redirect_stdout(io.StringIO()) as output:
        exec(compile(source, "exported", "exec"), {"__name__": "__main__"})
    return [float(line.rsplit(": ", 1)[1]) for line in output.getvalue().splitlines() if ": " in line]


@pytest.mark.parametrize("family", [*POOLED, *INSIDE])
def test_the_own_head_as_a_program(tiny_family: Callable[..., BackboneSpec], family: str) -> None:
    backbone = load(tiny_family(family))
    examined = examine(backbone, Query(family, TEXT))
    np.testing.assert_allclose(
        printed(program(examined), backbone.spec), analyse(examined).probabilities, atol=1e-5
    )


@pytest.mark.parametrize("family", POOLED)
def test_a_swap_and_a_module(tiny_family: Callable[..., BackboneSpec], family: str) -> None:
    backbone = load(tiny_family(family))
    with repeatable(backbone.model):
        examined = examine(backbone, Query(family, TEXT, pooling="first_last_avg"))
        expected, source = analyse(examined).probabilities, module(examined)
    np.testing.assert_allclose(printed(program(examined), backbone.spec), expected, atol=1e-5)
    before, after = printed(source, backbone.spec)
    assert after < before


@pytest.mark.parametrize("family", INSIDE)
def test_what_cannot_be_taken_home_says_why(tiny_family: Callable[..., BackboneSpec], family: str) -> None:
    examined = examine(load(tiny_family(family)), Query(family, TEXT, pooling="mean"))
    for source in (program(examined), module(examined)):
        assert all(line.startswith("# ") for line in source.splitlines())
        assert "no body that runs by itself" in source


def test_nobody_is_told_where_a_checkpoint_lies(tiny_family: Callable[..., BackboneSpec]) -> None:
    spec = tiny_family("albert")
    examined = examine(load(spec), Query("albert", TEXT))
    for source in (program(examined), module(examined)):
        assert f'CHECKPOINT = "{Path(spec.location).name}"' in source
        assert str(Path(spec.location).parent) not in source
