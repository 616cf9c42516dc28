"""The same vector elsewhere: what padding changes in a batch, and which pooling made a given vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import pandas as pd

from components.analyses.detect import Candidate, Detected
from components.analyses.padding import Padding, PaddingCase
from components.analyses.ways import Kept, Way, settings
from components.exhibits.control import State
from components.exhibits.exhibit import (
    Column,
    Exhibit,
    Shown,
    Where,
    data_frame,
    hint_html,
    saved_table,
    table_html,
    unanswered,
)
from components.exhibits.view import asked_line, labels_of, visible
from components.texts import Sentence, Texts

NAMED = 4  # tokens that a cell names; more are only counted
TEXTS = 5  # columns before those of the poolings, of which the second is a number
LARGEST = 1


def padding(given: Padding | Sentence, _: State, say: Texts) -> Shown:
    """The verdict, and a row for each way to pad; or why it was not measured."""
    if isinstance(given, Sentence):
        return unanswered("batch.none", given, say)
    first, *more = (visible(one.said(say)) for one in given.says)
    about = asked_line(given.analysis, say)
    if not given.cases:
        return Shown(heading=first, words=first, about=about)
    data, words = _data(given, say), say.together((first, *more))
    caption = say("batch.caption", count=given.padded)
    numeric = (LARGEST, *range(TEXTS, data.shape[1]))
    return Shown(
        heading=first,
        words=words,
        data=data,
        above="".join(hint_html(line) for line in (*more, say("batch.hint"))),
        html=saved_table(data, _rounded(data), numeric, caption, "poolscope-padding.csv", say),
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
        say("batch.moved"): [_tokens(given, case.moved, say) for case in given.cases],
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


PAGE_ALONE: frozenset[Where] = frozenset({"page"})  # no link holds a vector


def detective(given: Detected | Sentence, _: State, say: Texts) -> Shown:
    """The verdict, a row for each candidate and one for each server; or why there is none."""
    if isinstance(given, Sentence):
        return unanswered("detective.none", given, say)
    first, *more = (visible(one.said(say)) for one in (*given.says, *given.warnings))
    data = _detective_data(given, say)
    numeric = (data.shape[1] - 2, data.shape[1] - 1)
    caption = say("detective.caption", count=given.tried)
    table = saved_table(data, _detective_rounded(data), numeric, caption, "poolscope-vector.csv", say)
    return Shown(
        heading=first,
        words=say.together((first, *more)),
        data=data,
        above="".join(map(hint_html, more)),
        html=table + _servers(given, say),
    )


KEPT: Mapping[Kept, str] = {
    "start": "detective.kept_start",
    "end": "detective.kept_end",
    "last": "detective.kept_last",
}
DETECTIVE = Exhibit("detective", detective, frame="bare", where=PAGE_ALONE)


def _detective_data(given: Detected, say: Texts) -> pd.DataFrame:
    """A row for each candidate; a column where any of them differs from the plainest way."""
    found = given.candidates
    ways = [one.way for one in found]
    columns: dict[str, Column] = {
        say("detective.pooling"): [_poolings(one, say) for one in found],
        say("detective.layer"): [way.layer for way in ways],
    }
    optional: dict[str, list[str]] = {
        say("detective.special"): [_special(way, say) for way in ways],
        say("detective.truncated"): [_cut(way, say) for way in ways],
        say("detective.prefix"): [visible(way.prefix) for way in ways],
        say("detective.dense"): [say("detective.yes") if way.dense else "" for way in ways],
    }
    columns |= {title: values for title, values in optional.items() if any(values)}
    columns[say("detective.cosine")] = [one.cosine for one in found]
    columns[say("detective.length")] = [one.length for one in found]
    return data_frame(columns.items())


def _poolings(one: Candidate, say: Texts) -> str:
    """The poolings that give this vector in the same way."""
    alike = (way.pooling for way in (one.way, *one.same) if way.layer == one.way.layer)
    return say("detective.equal").join(map(visible, dict.fromkeys(alike)))


def _cut(way: Way, say: Texts) -> str:
    """Behind how many tokens the text was cut, and at which end; nothing where it was not."""
    return "" if way.truncated is None else say(KEPT[way.kept], count=way.truncated)


def _special(way: Way, say: Texts) -> str:
    """Whether the tokenizer's own tokens were there; nothing where it has none."""
    if way.special_tokens is None:
        return ""
    return say("detective.yes" if way.special_tokens else "detective.no")


def _detective_rounded(data: pd.DataFrame) -> pd.DataFrame:
    """The same as a reader sees it."""
    *others, cosine, length = data.columns
    shown = {name: data[name].astype(str) for name in others}
    numbers = {cosine: data[cosine].map("{:.5f}".format), length: data[length].map("{:.4g}".format)}
    return pd.DataFrame({**shown, **numbers}, dtype=object)


def _servers(given: Detected, say: Texts) -> str:
    """What to set in each server to get the vector; nothing without a match."""
    found = settings(given.ways, given.layers)
    if not found:
        return ""
    rows = [
        (one.server.title, " · ".join(one.options), say.listed(lack.said(say) for lack in one.lacks))
        for one in found
    ]
    titles = (say("detective.server"), say("detective.options"), say("detective.lacks"))
    shown = [titles[0], titles[1], *([titles[2]] if any(lacks for *_, lacks in rows) else [])]
    table = pd.DataFrame([row[: len(shown)] for row in rows], columns=shown, dtype=object)
    return table_html(table, (), say("detective.servers"))
