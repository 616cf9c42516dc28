"""Which pooling made a vector: the verdict, the best ten candidates, and what to set in servers to get it."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from components.analyses.detect import Candidate, Detected
from components.analyses.ways import Kept, Way, settings
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, Where, hint_html
from components.exhibits.tables import Column, csv_link, data_frame, table_html
from components.texts import Sentence, Texts

PAGE_ALONE: frozenset[Where] = frozenset({"page"})  # no link holds a vector


def detective(given: Detected | Sentence, _: State, say: Texts) -> Shown:
    """The verdict, a row for each candidate and one for each server; or why there is none."""
    if isinstance(given, Sentence):
        why = visible(given.said(say))
        return Shown(heading=say("detective.none"), words=why, above=hint_html(why))
    first, *more = (visible(one.said(say)) for one in (*given.says, *given.warnings))
    data = _data(given, say)
    numeric = (data.shape[1] - 2, data.shape[1] - 1)
    link = csv_link(data, "poolscope-vector.csv", say("table.download"))
    caption = say("detective.caption", count=given.tried)
    return Shown(
        heading=first,
        words=say.together((first, *more)),
        data=data,
        above="".join(map(hint_html, more)),
        html=link + table_html(_rounded(data), numeric, caption) + _servers(given, say),
    )


KEPT: Mapping[Kept, str] = {
    "start": "detective.kept_start",
    "end": "detective.kept_end",
    "last": "detective.kept_last",
}
DETECTIVE = Exhibit("detective", detective, frame="bare", where=PAGE_ALONE)


def _data(given: Detected, say: Texts) -> pd.DataFrame:
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


def _rounded(data: pd.DataFrame) -> pd.DataFrame:
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
