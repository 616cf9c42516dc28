"""Poolings that are said to be one vector are, and no others."""

from pathlib import Path

import pytest
from safetensors.torch import load_file

from components.results import read_results
from recipe.recipes import load_recipes
from tests.measured import measured

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
RECIPES = load_recipes()
RESULTS = read_results(ASSETS / "results.csv")


@pytest.mark.parametrize("key", RECIPES.probed)
def test_poolings_are_one_vector_where_the_probes_learned_on_them_are_the_same(key: str) -> None:
    """One seed gives one probe: equal ones, number for number, were learned on equal vectors."""
    tensors = load_file(ASSETS / f"probes/{key}.safetensors")
    for task in RECIPES.probing.sources:
        rows = [row for row in measured(RESULTS, "probe") if (row.backbone, row.task) == (key, task)]
        alike: dict[bytes, list[str]] = {}
        found: dict[str, list[str]] = {}
        for row in rows:
            weight = tensors[f"{task}/{row.pooling}/weight"].numpy().tobytes()
            alike.setdefault(weight, []).append(row.pooling)
            found.setdefault(row.vector, []).append(row.pooling)
        assert sorted(found.values()) == sorted(alike.values())
        assert all(vector == poolings[0] for vector, poolings in found.items())
        numbers = {row.pooling: (row.value, row.better, row.worse, row.p) for row in rows}
        assert all(numbers[row.pooling] == numbers[row.vector] for row in rows)
