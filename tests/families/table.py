"""docs/families.md: what the head of each family reads, and what padding moves, found by hand on tiny models.

``python -m tests.families.table`` writes it anew.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as CLASSES

from tests.families.cases import BUILT, FACTS, FAMILIES, HERE, ByHand, tiny_model

PAGE = Path(__file__).parent.parent.parent / "docs" / "families.md"
PLAIN = (2, 5, 6, 7, 8, 9, 10, 3)  # [CLS] six words [SEP], which is the end of the sequence too
GOES_ON = (2, 5, 6, 7, 3, 9, 10, 11)  # the same, and words behind the end
PADDED = (2, 5, 6, 7, 3, 0, 0, 0)
PADDING = (0, 0, 0)
MOVES = 1e-3  # of the largest logit
PAGE_OF: dict[str, Any] = tomllib.loads((HERE / "page.toml").read_text(encoding="utf-8"))
RULES: dict[str, list[list[int]]] = PAGE_OF["rules"]


def page() -> str:
    """The whole page."""
    plain = [row(family, {}, tiny_model(family)) for family in BUILT]
    averaging = [row(family, more, tiny_model(family, **more)) for family, more in FACTS["averaging"].items()]
    return "".join([PAGE_OF["head"], *plain, PAGE_OF["averaging"], *averaging, *_exceptions()])


def _inputs(ids: tuple[int, ...]) -> dict[str, Tensor]:
    row = torch.tensor([ids])
    return {"input_ids": row, "attention_mask": row.ne(0).long()}


def row(family: str, settings: dict[str, str], model: PreTrainedModel) -> str:
    """The line of one family: its class or, if it is set to average, how; and what its head reads."""
    by_hand = ByHand(model, FACTS["bodies"].get(family, ""))
    found = [by_hand.reads(_inputs(ids)) for ids in (PLAIN, GOES_ON, PADDED)]
    reads = next((name for name, known in RULES.items() if known == found), f"positions {found}")
    set_to = ", ".join(f"`{name} = {value}`" for name, value in settings.items())
    padded = (moves(by_hand, ids) for ids in (PLAIN + PADDING, PADDING + PLAIN))
    right, left = ("moves" if moved else "the same" for moved in padded)
    return f"| {family} | {set_to or CLASSES[family]} | {reads} | {right} | {left} |\n"


def moves(by_hand: ByHand, padded: tuple[int, ...]) -> bool:
    """Whether the logits of PLAIN are others in ``padded``."""
    alone, beside = (by_hand.logits(_inputs(ids))[0] for ids in (PLAIN, padded))
    return bool((alone - beside).abs().max() > MOVES * alone.abs().max())


def _exceptions() -> Iterator[str]:
    yield "\n## What is not covered in full\n\n"
    for family, reason in FACTS["not_per_token"].items():
        yield f"- **{family}**: {reason}; what is shown are its final hidden states by number, not tokens.\n"
    for family, reason in FACTS["partly"].items():
        yield f"- **{family}**: {reason}.\n"
    for family, reason in FACTS["not_built"].items():
        yield f"- **{family}**: not tried; {reason}.\n"
    yield f"\nOf {len(FAMILIES)} families {len(BUILT)} are tried.\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
