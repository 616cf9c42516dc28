"""Whether a model is safe in a batch: what padding changes, one row for each way to pad."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import pandas as pd

from components.analyses.padding import Padding, PaddingCase
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.tables import Column, csv_link, data_frame, table_html
from components.exhibits.view import asked_line, labels_of
from components.texts import Sentence, Texts

NAMED = 4  # tokens that a cell names; more are only counted
TEXTS = 5  # columns before those of the poolings, of which the second is a number
LARGEST = 1


def padding(given: Padding | Sentence, _: State, say: Texts) -> Shown:
    """The verdict, and a row for each way to pad; or why it was not measured."""
    if isinstance(given, Sentence):
        why = visible(given.said(say))
        return Shown(heading=say("batch.none"), words=why, above=hint_html(why))
    first, *more = (visible(one.said(say)) for one in given.says)
    about = asked_line(given.analysis, say)
    if not given.cases:
        return Shown(heading=first, words=first, about=about)
    data, words = _data(given, say), say.together((first, *more))
    caption = say("batch.caption", count=given.padded)
    link = csv_link(data, "poolscope-padding.csv", say("table.download"))
    numeric = (LARGEST, *range(TEXTS, data.shape[1]))
    return Shown(
        heading=first,
        words=words,
        data=data,
        above="".join(hint_html(line) for line in (*more, say("batch.hint"))),
        html=link + table_html(_rounded(data), numeric, caption),
        about=about,
    )


PADDED = Exhibit("padding", padding, style="numbers")


def _data(given: Padding, say: Texts) -> pd.DataFrame:
    """A row for each way to pad; a pooling that a way does not have is not a number."""
    poolings = dict.fromkeys(key for case in given.cases for key in case.pooled)
    columns: dict[str, Column] = {
        say("batch.way"): [say(f"batch.{case.name}") for case in given.cases],
        say("batch.largest"): [case.largest for case in given.cases],
        say("batch.why"): [_why(case, say) for case in given.cases],
        say("batch.reads"): [_reads(given, case, say) for case in given.cases],
        say("batch.moved"): [_moved(given, case, say) for case in given.cases],
    }
    distances = (
        (say("batch.pooling", pooling=visible(key)), [case.pooled.get(key, nan) for case in given.cases])
        for key in poolings
    )
    return data_frame((*columns.items(), *distances))


def _why(case: PaddingCase, say: Texts) -> str:
    """What it shows of the model, and the cause as far as that was measured."""
    told = say(f"batch.is_{case.verdict}")
    return say("batch.because", told=told, cause=say(f"padding.cause_{case.cause}")) if case.cause else told


def _reads(given: Padding, case: PaddingCase, say: Texts) -> str:
    """The tokens of the text that the head reads, and whether it reads padding."""
    own = _tokens(given, case.reads, say)
    return say("batch.and_padding", tokens=own) if case.reads_padding else own


def _moved(given: Padding, case: PaddingCase, say: Texts) -> str:
    """The tokens whose final hidden states are others."""
    return _tokens(given, case.moved, say)


def _tokens(given: Padding, places: Sequence[int], say: Texts) -> str:
    """The names of a few tokens, or how many they are."""
    labels = labels_of(given.analysis)
    if not places:
        return say("batch.no_token")
    if len(places) > NAMED:
        return say("batch.tokens", count=len(places), total=len(labels))
    return say.listed(labels[place] for place in places)


def _rounded(data: pd.DataFrame) -> pd.DataFrame:
    """The same as a reader sees it: two digits that count."""
    rows = [[_cell(value) for value in row] for row in data.itertuples(index=False, name=None)]
    return pd.DataFrame(rows, columns=data.columns, dtype=object)


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if value != value else f"{value:.2g}"
