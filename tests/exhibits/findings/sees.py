"""Findings of who sees whom, held against planted squares and against tiny models that are made to see so."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification

from components.analyses.measuring import sees as measuring
from components.analyses.sees import Sees
from components.exhibits.sees import SEES, Sight
from components.texts import Sentence, Texts
from components.types import Analysis
from tests.analyses.test_sees import looked
from tests.exhibits.findings.row import Row, Told, told
from tests.exhibits.showing import analysis, reading
from tests.tiny import checkpoint, tokenizer

FOUR = analysis(text="not good")  # [CLS] not good [SEP]
FULL, TRIANGLE = ("1111",) * 4, ("1000", "1100", "1110", "1111")
BAND, HEADED = ("1100", "1110", "0111", "0011"), ("1100", "1100", "1110", "1111")
ODD = ("1000", "0100", "1110", "1111")


def seen(*rows: str, read: tuple[int, ...] = (0,), of: Analysis = FOUR) -> Told:
    """Words on such a square, of which these tokens are read."""
    square = np.array([list(map(int, row)) for row in rows], dtype=bool)
    return told(SEES, Sight(reading(of, *read), Sees(of.tokens, square, ())))


@cache
def made(family: str, size: str, **config: Any) -> Any:
    return checkpoint(Path(tempfile.mkdtemp()) / family, family, size, **config)


@cache
def warnings(family: str, size: str, turn: bool = False, **config: Any) -> tuple[Sentence, ...]:
    return looked(made(family, size, **config), "not good", turn).warnings


@cache
def rounded(change: float) -> tuple[Sentence, ...]:
    """Warnings where the first token's state moves so far with each other one, and no other does."""
    moved = torch.eye(4)
    moved[1:, 0] = change
    with patch.object(measuring, "_moved", lambda *_: iter([moved])):
        return looked(made("bert", "bert"), "not good").warnings


def warned(family: str, size: str = "gpt2", turn: bool = False, **config: Any) -> Told:
    """Warnings on what a tiny model sees."""
    return lambda say: " ".join(one.said(say) for one in warnings(family, size, turn, **config))


def rounding(change: float) -> Told:
    return lambda say: " ".join(one.said(say) for one in rounded(change))


def outputs(_say: Texts) -> dict[str, object]:
    """Ask what transformers alone says, as the model is and where its config says that it is not causal."""
    model = AutoModelForSequenceClassification.from_pretrained(made("gpt2", "gpt2").location).eval()
    said = []
    for causal in (True, False):
        model.config.is_causal = causal
        with torch.no_grad():
            values = model(**tokenizer()("not good", return_tensors="pt")).logits.softmax(dim=-1)[0]
        said.append(f"LABEL_{int(values.argmax())} {100 * float(values.max()):.3g} %")
    return dict(zip(("before", "after"), said, strict=True))


ONE = analysis("last", "good")
ROWS = {
    "sees.one": Row(seen("1", of=ONE), {}, "sees.all"),
    "sees.all": Row(seen(*FULL), {"total": 4}, seen(*BAND)),
    "sees.causal": Row(seen(*TRIANGLE), {}, seen(*HEADED)),
    "sees.window": Row(seen(*BAND), {"total": 4, "window": 3}, "sees.causal"),
    "sees.prefix": Row(seen(*HEADED), {"first": 2}, "sees.causal"),
    "sees.other": Row(seen(*ODD), {"count": 9, "pairs": 16}, "sees.all"),
    "sees.longer": Row(seen(*TRIANGLE), {"count": 4}, seen(*BAND)),
    "sees.read_all": Row(seen(*FULL), {"token": "[CLS]"}, "sees.one"),
    "sees.read_alone": Row(
        seen(*TRIANGLE, read=(3,)), {"token": "[SEP]", "total": 4}, seen(*FULL, read=(3,))
    ),
    "sees.read_some": Row(
        seen("1000", "1100", "1111", "1111", read=(2,)),
        {"token": "good", "full": 2, "total": 4},
        "sees.read_alone",
    ),
    "sees.read_less": Row(
        seen(*TRIANGLE, read=(1,)), {"token": "not", "count": 2, "total": 4}, seen(*FULL, read=(1,))
    ),
    "sees.read_many": Row(
        seen(*TRIANGLE, read=(1, 3)), {"count": 2, "full": 1, "total": 4}, "sees.read_alone"
    ),
    "sees.rounded": Row(rounding(1e-7), {"count": 3, "total": 16}, rounding(1e-3)),
    "sees.turned": Row(warned("gpt2", turn=True), outputs, "sees.unturned"),
    "sees.unturned": Row(warned("openai-gpt", turn=True), {}, "sees.turned"),
    "sees.causal_though": Row(
        warned("gpt_neo", "gpt_neo", is_causal=False), {"key": "is_causal"}, warned("gpt2", is_causal=False)
    ),
    "sees.ahead_though": Row(
        warned("fnet", "bert", is_causal=True), {"key": "is_causal"}, warned("bert", "bert", is_causal=True)
    ),
}
