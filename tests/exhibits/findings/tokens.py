"""Findings of a text's tokens: what the model gets of it, and which words are most like [CLS]."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from components.exhibits.words import WORDS
from components.model.encoding import encode
from components.texts import Texts
from components.types import Analysis, Tokens
from tests.exhibits.compared import comparison
from tests.exhibits.findings.row import Row, Told, told
from tests.exhibits.showing import analysis, reading
from tests.plain import SPECS, load_plain
from tests.tiny import between, tokenizer


def warned(text: str, pair: str = "", side: str = "right", around: Sequence[str] = ()) -> Told:
    """Words on the tokens of whole words, of which 24 are taken."""
    words = tokenizer()
    words.truncation_side = side
    if around:
        words.backend_tokenizer.post_processor = between(*around)
    return lambda say: " ".join(one.said(say) for one in encode(words, 24, text, pair).warnings)


def spelled(text: str) -> Told:
    """Words on a text by a vocabulary of bytes."""
    bytewise = load_plain(SPECS["roberta-sentiment"].location).tokenizer
    return lambda say: " ".join(one.said(say) for one in encode(bytewise, 64, text, "").warnings)


def similar(text: str, *values: float) -> Analysis:
    """An answer with these similarities at every layer, of tokens that follow [CLS]."""
    given = analysis(text=text)
    cosines = np.tile(np.array([1.0, *values], dtype=np.float32), (len(given.similarity), 1))
    return replace(given, similarity=cosines)


def single() -> Analysis:
    """An answer whose only token, a word, stands for [CLS]."""
    token = Tokens(("film",), np.array([[0, 4]]), np.array([0]), np.array([False]), cls=0)
    return reading(replace(similar("film"), tokens=token), 0)


def cut(say: Texts) -> dict[str, object]:
    lost = say("warnings.cut_last", count=2, text=say("warnings.of_text"))
    return {"length": 26, "limit": 24, "cut": lost, "count": 2, "text": say("warnings.of_text")}


SOME, MOST, WHOLE, LONG = "zebra the film", "zebra xylophone the", "the " * 22, "the " * 24
UNKNOWN = {"count": 1, "total": 5, "token": "[UNK]"}
NEAREST = told(WORDS, comparison([[similar("a good film", 0.1, 0.83, 0.2, 0.9)]]))
ALONE = told(WORDS, comparison([[single()]]))
ROWS: dict[str, Row] = {
    "warnings.unknown": Row(warned(SOME), UNKNOWN, warned(MOST)),
    "warnings.unreadable": Row(warned(MOST), {**UNKNOWN, "count": 2}, warned(SOME)),
    "warnings.typed": Row(warned("the [SEP] film"), {"token": "[SEP]"}, warned("the film")),
    "warnings.template": Row(
        warned("the", around="ab"), lambda say: {"tokens": say.listed("ab")}, warned("a the b")
    ),
    "warnings.nothing": Row(warned(" "), {"total": 2}, warned("the")),
    "warnings.long": Row(warned(LONG), cut, warned(WHOLE)),
    "warnings.cut_last": Row(warned(LONG), cut, "warnings.cut_first"),
    "warnings.cut_first": Row(warned(LONG, side="left"), cut, warned(LONG)),
    "warnings.parts": Row(spelled("不好"), {"letters": 2, "count": 6, "total": 8}, spelled("café 好 films")),
    "words.description": Row(
        NEAREST, lambda say: {"best": say("words.best", backbone="B0", word="good", value="0.83")}, ALONE
    ),
    "words.nothing": Row(ALONE, {}, NEAREST),
}
