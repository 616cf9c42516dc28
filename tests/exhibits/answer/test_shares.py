"""Shares of what is read in words: of one token, a few, equal ones, silent ones, and under a maximum."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from components.exhibits.answer.similarity import SIMILARITY, TABLE
from components.exhibits.answer.verdict import VERDICT
from components.exhibits.exhibit import Shown
from components.exhibits.head.flow import token_parts
from components.texts import load_texts
from components.types import Analysis, Query, Reads
from tests.exhibits.showing import checked
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
QUERY = Query("first", "not very good")  # [CLS] not very good [SEP]


def reading(share: list[float], read: list[int], wins: list[int] | None = None) -> Analysis:
    positions = np.isin(np.arange(len(share)), read)
    counts = None if wins is None else np.array(wins, dtype=np.int64)
    reads = Reads(positions, np.array(share, dtype=np.float32), counts)
    return replace(FakeAnalyst().ask("analyze", QUERY), reads=reads)


def plain(shown: Shown) -> str:
    return unescape(re.sub(r"<[^>]+>", "", shown.html))


def hovers(given: Analysis) -> list[str]:
    figure = checked(SIMILARITY.show(given, {}, SAY).figure)
    assert figure is not None
    return [details[2] for details in figure.data[0].customdata]


def test_of_several_tokens_the_verdict_says_which_is_most_of_it() -> None:
    given = reading([0.84, 0.04, 0.04, 0.04, 0.04], [0, 1, 2, 3, 4])
    assert "reads all 5 tokens. 84 % of what the head reads is [CLS]." in plain(VERDICT.show(given, {}, SAY))
    assert SIMILARITY.show(given, {}, SAY).words.endswith("84 % of what the head reads is [CLS].")


def test_what_is_read_without_a_share_is_explained_wherever_it_stands() -> None:
    given = reading([0.75, 0.0, 0.25, 0.0, 0.0], [0, 1, 2, 3])
    said = plain(VERDICT.show(given, {}, SAY))
    assert "2 of them have no slope here: only a larger change of them moves the logits." in said
    silent = "0 % (no slope here: only a larger change moves the logits)"
    assert hovers(given) == ["75 %", silent, "25 %", silent, "0 %"]  # the last one is not read
    assert re.findall(r">(\d+ %[^<]*)<", TABLE.show(given, {}, SAY).html) == [
        *("75 %", "0 % (no slope)", "25 %", "0 % (no slope)", "0 %")
    ]
    anatomy = replace(FakeAnalyst().ask("anatomy", QUERY), analysis=given)
    assert [part.lines[1] for part in token_parts(anatomy, SAY)][1].endswith(silent)


def test_under_a_maximum_it_counts_the_dimensions_that_tokens_win() -> None:
    given = reading([0.2] * 5, [0, 1, 2, 3, 4], [40, 7, 30, 0, 19])
    said = plain(VERDICT.show(given, {}, SAY))
    assert (
        "In each of 96 dimensions one token has the largest value: [CLS] in 40, “very” in 30, [SEP] in 19, "
        "all others in 7." in said
    )
    assert hovers(given)[0] == "20 %, the largest value in 40 of 96 dimensions"
    data = TABLE.show(given, {}, SAY).data
    assert data is not None
    assert data["largest value, dimensions"].tolist() == [40, 7, 30, 0, 19]


def beside(given: Analysis) -> list[str]:
    figure = checked(SIMILARITY.show(given, {}, SAY).figure)
    assert figure is not None
    return [text.partition(" · ")[2] for text in figure.data[0].text]


@pytest.mark.parametrize(
    ("given", "texts", "key"),
    [
        (reading([0.75, 0.0, 0.25, 0.0, 0.0], [0, 1, 2]), ["75 %", "", "25 %", "", ""], SAY("legend.share")),
        (reading([0.2] * 5, [0, 1, 2, 3, 4]), [""] * 5, ""),
        (reading([1.0, 0, 0, 0, 0], [0]), [""] * 5, ""),
        (
            reading([0.5, 0.5, 0, 0, 0], [0, 1], wins=[5, 3, 0, 0, 0]),
            ["5", "3", "0", "0", "0"],
            SAY("legend.wins", total=8),
        ),
    ],
)
def test_beside_each_bar_stands_how_much_of_what_is_read_it_is(
    given: Analysis, texts: list[str], key: str
) -> None:
    assert beside(given) == texts
    legend = unescape(SIMILARITY.show(given, {}, SAY).legend)
    assert key in legend
    assert (" · " in legend or "· 0" in legend) == bool(key)
