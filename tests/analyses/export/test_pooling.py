"""A pooling taken home refuses what it cannot pool in a sentence, as it does here."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from components.analyses.measuring.export.pooling import pooling_source
from components.inference.engine import Engine
from components.model.pooling import POOLINGS
from components.types import Query

SPECIAL_ALONE = "it needs a text with at least one token that is not special"
WIDTHS = "layers of this checkpoint differ in width"


def test_a_program_says_that_a_text_has_no_tokens_of_its_own(engine: Engine) -> None:
    query = Query("bert-sentiment", "not good", pooling="mean_content")
    source = engine.ask("anatomy", query).program.replace('TEXT = "not good"', 'TEXT = ""')
    with pytest.raises(ValueError, match=f"^{SPECIAL_ALONE}$"):
        exec(compile(source, "exported", "exec"), {"__name__": "__main__"})


def test_a_module_says_that_a_text_has_no_tokens_of_its_own(engine: Engine) -> None:
    defined = exported(engine, "mean_content")
    states = defined["States"](
        hidden=torch.zeros(1, 2, 4),
        mask=torch.ones(1, 2, dtype=torch.bool),
        special=torch.ones(1, 2, dtype=torch.bool),
    )
    with pytest.raises(ValueError, match=f"^{SPECIAL_ALONE}$"):
        defined["mean_content"](states)


def test_a_module_says_that_layers_differ_in_width(engine: Engine) -> None:
    defined = exported(engine, "first_last_avg")
    layers = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 8), torch.zeros(1, 2, 4))
    states = defined["States"](hidden=layers[-1], layers=layers, mask=torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=f"^{WIDTHS}$"):
        defined["first_last_avg"](states)


@pytest.mark.parametrize("key", POOLINGS)
def test_no_pooling_raises_the_key_of_a_translation(key: str) -> None:
    assert not [line for line in pooling_source(key).code if "errors." in line]


def exported(engine: Engine, pooling: str) -> dict[str, Callable[..., Any]]:
    """What the file of a module defines."""
    query = Query("bert-sentiment", "not good", pooling=pooling)
    defined: dict[str, Callable[..., Any]] = {"__name__": "exported"}
    exec(compile(engine.ask("anatomy", query).module, "exported", "exec"), defined)
    return defined
