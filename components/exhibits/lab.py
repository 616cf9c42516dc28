"""Findings on a visitor's own table: the ranking, what labels are worth, confusion and misses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from components.exhibits import draw, exhibit
from components.exhibits.control import State
from components.exhibits.evidence import LEVEL
from components.exhibits.exhibit import Data, Exhibit, Shown, Where, csv_link, hint_html, saved_table, titled
from components.exhibits.view import classify_link, number, one_vector, percent, render, shorten, visible
from components.fitting import Fit, Miss, Ranked, Score, row_json
from components.texts import Texts
from components.types import Query

RANKED = "backbone pooling layer accuracy low high macro_f1 rho.value p p_corrected same_as"  # columns
UNLINKED: frozenset[Where] = frozenset({"page", "report"})  # no link, nor a step of a talk, holds a table
LITTLE = 0.02  # accuracy that more labels hardly help by
DRAWN = 24  # vectors in the figure, the best ones; all stand in the table
WIDEST = 15  # characters of a line beside the axis
BESIDE = 58  # pixels of the column of values at the right
BELOW = 52  # pixels of the axis
SCALE = {"tickvals": [0, 0.5, 1], "ticktext": ["0", "50 %", "100 %"]}  # of accuracy
SHOWN = 100  # misses in the table on the page; the file has all


@dataclass(frozen=True, eq=False)
class Found:
    """A fit, and the titles of backbones by their keys."""

    fit: Fit
    titles: Mapping[str, str]

    @property
    def best(self) -> Ranked:
        """The combination that is most often right."""
        return self.vectors[0]

    @cached_property
    def vectors(self) -> tuple[Ranked, ...]:
        """The combinations, best first, of which none has the same vectors as another."""
        return tuple(one for one in self.fit.ranking if not one.same_as)

    @property
    def beats_words(self) -> bool:
        """Tell whether the best combination is better than words alone, by more than chance."""
        words = self.fit.words
        return words.p_corrected < LEVEL and self.best.accuracy.value > words.accuracy.value

    def name(self, one: Ranked, say: Texts) -> str:
        """Backbone, every pooling of the same vectors and, where there are several, layer; not escaped."""
        where, every = (one.backbone, one.pooling, one.layer), self.fit.ranking
        alike = (like.pooling for like in every if (like.backbone, like.same_as, like.layer) == where)
        title = shorten(visible(self.titles.get(one.backbone, one.backbone)), 40)
        key = "lab.combination_layer" if self.fit.plan.all_layers else "lab.combination"
        return say(key, backbone=title, pooling=one_vector((one.pooling, *alike)), layer=one.layer)


def score_text(score: Score, say: Texts) -> str:
    """A share and its interval: "91 % (87 % to 94 %)"."""
    return say("lab.score", **{name: percent(getattr(score, name)) for name in ("value", "low", "high")})


def _listed(scores: Iterable[tuple[object, Score]], say: Texts) -> str:
    told = (say("lab.of", name=name, score=score_text(score, say)) for name, score in scores)
    return say("list.semicolon").join(told)


def ranking(found: Found, _: State, say: Texts) -> Shown:
    """A point with its interval for each vector, the best one above; the lines of words and of nothing.

    The heading names the best one, and says whether it learned anything, by the score that fits the table.
    """
    fit, best, held, score = found.fit, found.best, found.fit.learned, partial(score_text, say=say)
    key = "best" if best.accuracy.low > fit.majority else "best_beside"
    heading = say(
        f"lab.{key if held.beyond else 'nothing_learned'}",
        best=found.name(best, say),
        accuracy=percent(best.accuracy.value),
        majority=percent(fit.majority),
        score=say(f"lab.column_{held.name}"),
        value=number(held.value, 2),
        chance=number(held.chance, 2),
        total=len(found.vectors),
    )
    return Shown(
        heading=heading,
        words=_listed(((found.name(one, say), one.accuracy) for one in found.vectors[:DRAWN]), say),
        data=_ranked(found, say),
        figure=_ranking_figure(found, say),
        above=render("ranking", say, found=found, level=LEVEL, most=DRAWN),
        legend=render("ranking_legend", say, fit=fit, lines=draw.LINES, score=score),
        about=say("lab.about", rows=len(fit.table.texts), classes=len(fit.classes)),
    )


def numbers(found: Found, _: State, say: Texts) -> Shown:
    """Show the same of every combination as a table, with a link that saves it as CSV."""
    data = _ranked(found, say)
    caption = say("lab.about", rows=len(found.fit.table.texts), classes=len(found.fit.classes))
    read = exhibit.as_read(data, lambda cell: number(cell, 3) if isinstance(cell, float) else str(cell))
    numeric = range(2, len(data) - 1)
    return Shown(data=data, html=saved_table(data, read, numeric, caption, "poolscope-lab.csv", say))


def _ranked(found: Found, say: Texts) -> Data:
    """A row for each combination, rho where labels are numbers; and in its place, that of words alone."""
    alone = {**dict.fromkeys(("pooling", "layer", "same_as"), ""), "backbone": say("lab.words_alone")}
    rows = pd.json_normalize([*map(row_json, found.fit.ranking), {**alone, **row_json(found.fit.words)}])
    rows = rows.replace({"backbone": dict(found.titles)})
    rows = rows.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)
    rows = rows.astype(object).where(rows.notna(), "")
    shown = [name for name in RANKED.split() if name in rows]
    return titled({f"lab.column_{name.removesuffix('.value')}": rows[name].tolist() for name in shown}, say)


def _ranking_figure(found: Found, say: Texts) -> draw.Figure:
    fit, shown = found.fit, found.vectors[:DRAWN]
    names, scores = [found.name(one, say) for one in shown], [one.accuracy for one in shown]
    labels, ticks, room = draw.row_names(names, WIDEST)
    backbones = [fit.plan.backbones.index(one.backbone) for one in shown]
    colours = [draw.BACKBONES[place % len(draw.BACKBONES)] for place in backbones]
    symbols = ["circle-open" if one.p_corrected < LEVEL else "circle" for one in shown]  # open: it is worse
    marker = {"color": colours, "size": 10, "symbol": symbols}
    said = [draw.escape(f"{name}: {score_text(one, say)}") for name, one in zip(names, scores, strict=True)]
    whisker, places = {"color": draw.OTHER, "thickness": 2, "width": 4}, list(range(len(shown)))
    values = [percent(one.value) for one in scores]
    lines = {"majority": fit.majority, "shuffled": fit.shuffled.value, "words": fit.words.accuracy.value}
    frame = draw.layout(
        height=len(shown) * max(26, room + 6) + BELOW,
        margin={"l": max(map(draw.name_width, labels)), "r": BESIDE, "t": 6, "b": BELOW - 6},
        xaxis=draw.value_axis(say("lab.accuracy_axis"), range=[0, 1], **SCALE),
        yaxis=draw.row_axis(ticks),
        shapes=[draw.guide(value, draw.LINES[key][0], draw.OTHER) for key, value in lines.items()],
    )
    points = draw.dots(scores, places, said, marker, whisker)
    return draw.Figure([points, draw.written([1] * len(shown), places, values, "middle right")], frame)


def curve(found: Found, _: State, say: Texts) -> Shown:
    """Accuracy with the number of rows that the classifier was fitted on, with its interval."""
    rows, scores = [*found.fit.curve], [*found.fit.curve.values()]
    said = [f"{row}: {percent(one.value)}" for row, one in zip(rows, scores, strict=True)]
    heading = say("lab.curve_short")
    if len(scores) > 1:
        gain, known = found.fit.gain, found.fit.learned.beyond
        flat = gain.high < LITTLE and found.best.accuracy.low > found.fit.majority
        key = "rises" if known and gain.low > 0 else "flat" if known and flat else "open"
        change = {name: number(100 * getattr(gain, name), 1) for name in ("value", "low", "high")}
        heading = say(f"lab.curve_{key}", fewer=rows[-2], rows=rows[-1], **change)
    more = {"mode": "lines+markers", "line": {"color": draw.BACKBONES[0]}, "cliponaxis": True}
    whisker = {"thickness": 1.5, "width": 4}
    line = draw.dots(scores, rows, map(draw.escape, said), {"size": 8}, whisker, "y", **more)
    frame = draw.layout(
        height=300,
        margin={"l": 64, "r": 24, "t": 12, "b": 52},
        xaxis=draw.value_axis(say("lab.rows_axis"), rangemode="tozero", nticks=5),
        yaxis=draw.value_axis(say("lab.accuracy_axis"), range=[0, 1.02], **SCALE),
    )
    ends = {"column_accuracy": "value", "column_low": "low", "column_high": "high"}
    columns = {f"lab.{key}": [getattr(one, end) for one in scores] for key, end in ends.items()}
    return Shown(
        heading=heading,
        words=_listed(found.fit.curve.items(), say),
        data=titled({"lab.rows_axis": rows, **columns}, say),
        figure=draw.Figure([line], frame),
        above=hint_html(say("lab.curve_hint")),
        about=found.name(found.best, say),
    )


def confusion(found: Found, _: State, say: Texts) -> Shown:
    """Say how often each given label (a row) was answered with which one (a column)."""
    cells, names = found.fit.confusion, list(map(visible, found.fit.classes))
    wrong = cells - np.diag(np.diag(cells))
    (row, column), *others = np.argwhere(wrong == wrong.max())
    values = {"count": int(wrong.max()), "given": names[row], "predicted": names[column]}
    key = "no_confusion" if not wrong.any() else "confused_alike" if others else "confused"
    heading = say(f"lab.{key}", **values, total=int(cells[row].sum()))
    counts = zip(names, np.diag(cells).tolist(), cells.sum(axis=1).tolist(), strict=True)
    told = [say("lab.recall", label=name, count=right, total=total) for name, right, total in counts]
    return Shown(
        heading=heading,
        words=say("list.semicolon").join(told),
        html=render("confusion", say, names=names, cells=cells.tolist()),
    )


def misses(found: Found, _: State, say: Texts) -> Shown:
    """The rows that the best combination gets wrong, the surest first. The text leads to Classify."""
    fit, every = found.fit, found.fit.misses
    doubts = sum(miss.suspicious for miss in every)
    key = "lab.misses_doubted" if doubts else "lab.misses"
    heading = say(key, count=len(every), total=len(fit.table.texts), doubted=doubts)
    queries = [_query(found, miss) for miss in every]
    texts = [" | ".join(filter(None, (query.text, query.text_pair))) for query in queries]
    named = ("given", "given_probability", "predicted", "predicted_probability")
    given = {f"lab.{name}": [getattr(miss, name) for miss in every] for name in named}
    given["lab.doubted"] = [say("lab.doubt") if miss.suspicious else "" for miss in every]
    counted = [miss.row + 1 for miss in every]
    data = titled({"lab.column_row": counted, "lab.column_text": texts, **given}, say)
    linked = zip(every, texts, [classify_link(query, say) for query in queries[:SHOWN]], strict=False)
    told = {"rows": list(linked), "doubts": doubts, "total": len(every)}
    link = csv_link(data, "poolscope-misses.csv", say("table.download"))
    html = render("misses", say, caption=heading, titles=[title for title, _ in data], **told, link=link)
    action = hint_html(say("lab.misses_open")) if every else ""
    return Shown(heading=heading, data=data, html=html, action=action)


def _query(found: Found, miss: Miss) -> Query:
    table, best = found.fit.table, found.best
    pair = table.pairs[miss.row] if table.pairs else ""
    layer = best.layer if found.fit.plan.all_layers else -1
    return Query(best.backbone, table.texts[miss.row], pair, best.pooling, pool_layer=layer)


unlinked = partial(Exhibit[Found], where=UNLINKED)
RANKING = unlinked("lab-ranking", ranking, plotted=True)
CURVE = unlinked("lab-curve", curve, plotted=True)
CONFUSION = unlinked("lab-confusion", confusion, style="numbers")
NUMBERS = unlinked("lab-numbers", numbers, style="numbers", frame="folded", title="table.heading")
MISSES = unlinked("lab-misses", misses, style="numbers")
