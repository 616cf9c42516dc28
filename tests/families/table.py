"""docs/families.md: what the head of each family reads, and what padding moves, found by hand on tiny models.

``python -m tests.families.table`` writes it anew.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as CLASSES

from tests.families.cases import BUILT, FACTS, FAMILIES, ByHand, tiny_model

PAGE = Path(__file__).parent.parent.parent / "docs" / "families.md"
PLAIN = (2, 5, 6, 7, 8, 9, 10, 3)  # [CLS] six words [SEP], which is the end of the sequence too
GOES_ON = (2, 5, 6, 7, 3, 9, 10, 11)  # the same, and words behind the end
PADDED = (2, 5, 6, 7, 3, 0, 0, 0)
PADDING = (0, 0, 0)
MOVES = 1e-3  # of the largest logit
RULES = {  # what is read of the three: of an input, of one that goes on behind its end, of a padded one
    "the first": ([0], [0], [0]),
    "the last that is no padding": ([7], [7], [4]),
    "the last end of sequence, found by its id": ([7], [4], [4]),
    "the very last, padding or not": ([7], [7], [7]),
    "every one that is no padding": (list(range(8)), list(range(8)), list(range(5))),
    "every one, padding or not": (list(range(8)), list(range(8)), list(range(8))),
    "the last that is no padding; in a padded row one past it": ([7], [7], [5]),
}
HEAD = """\
# What each family reads

Which final hidden states move the logits of each family that transformers can classify with, found by brute
force on a tiny random model: one hidden state is changed at a time. `tests/model/test_families.py` holds
Poolscope to the same on every family: tokens, hidden states of every layer, poolings, swaps, logits, steps of
the head; and it keeps this page true, which `python -m tests.families.table` writes.

Padding moves the logits of a text, or leaves them the same: three tokens of it, masked, with the position ids
that the model makes up itself. The differences are above 2e-2 of the largest logit, or below 1e-5.

| Family | Class | Its head reads | Padding on the right | Padding on the left |
|---|---|---|---|---|
"""
AVERAGING = """
With these settings the same families average:

| Family | Setting | Its head reads | Padding on the right | Padding on the left |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    plain = [row(family, {}, tiny_model(family)) for family in BUILT]
    averaging = [row(family, more, tiny_model(family, **more)) for family, more in FACTS["averaging"].items()]
    return "".join([HEAD, *plain, AVERAGING, *averaging, *_exceptions()])


def _inputs(ids: tuple[int, ...]) -> dict[str, Tensor]:
    row = torch.tensor([ids])
    return {"input_ids": row, "attention_mask": row.ne(0).long()}


def row(family: str, settings: dict[str, str], model: PreTrainedModel) -> str:
    """The line of one family: its class or, if it is set to average, how; and what its head reads."""
    by_hand = ByHand(model, FACTS["bodies"].get(family, ""))
    found = tuple(by_hand.reads(_inputs(ids)) for ids in (PLAIN, GOES_ON, PADDED))
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
