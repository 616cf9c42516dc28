"""The same vector elsewhere: what padding changes in a batch, and which pooling made a given vector."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan

from markupsafe import Markup

from components.analyses.detect import Detected, settings
from components.analyses.detect_score import DetectedScore
from components.analyses.maxsim import MaxSim
from components.analyses.padding import Padding
from components.exhibits import exhibit, view as naming
from components.exhibits.control import State
from components.exhibits.exhibit import Column, Data, Exhibit, Shown, as_read, saved_table, titled
from components.exhibits.view import asked_line, labels_of, number, render, shorten, visible, word
from components.texts import Sentence, Texts

NAMED = 4  # tokens that a cell names; more are only counted
PAIRS = 6  # tokens that match, which a sentence names


def padding(given: Padding, _: State, say: Texts) -> Shown:
    """The verdict, and a column for each way to pad: there are few of them, and many poolings."""
    first, about = visible(given.says[0].said(say)), asked_line(given.analysis, say)
    if not given.cases:
        return Shown(heading=first, words=first, about=about)
    data, caption = _data(given, say), say("batch.caption", count=given.padded)
    (way, ways), *others = as_read(data, _cell)
    cells = zip(*((title, *told) for title, told in others), strict=True)  # a row for each of them
    read = list(zip((way, *ways), cells, strict=True))
    table = saved_table(data, read, (), caption, "poolscope-padding.csv", say)
    return replace(_told((*given.says, Sentence("batch.hint")), data, table, say), about=about)


def _data(given: Padding, say: Texts) -> Data:
    """A row for each way to pad; a pooling that a way does not have is not a number."""
    labels, verdicts, reads = labels_of(given.analysis), [], []

    def tokens(places: Sequence[int]) -> str:
        if len(places) > NAMED:
            return say("batch.tokens", count=len(places), total=len(labels))
        return say.listed(labels[place] for place in places) if places else say("batch.no_token")

    for case in given.cases:
        told, own = say(f"batch.is_{case.verdict}"), tokens(case.reads)
        if case.cause:  # as far as that was measured
            told = say("batch.because", told=told, cause=say(f"padding.cause_{case.cause}"))
        verdicts.append(told)
        reads.append(say("batch.and_padding", tokens=own) if case.reads_padding else own)
    columns: dict[str, Column] = {
        "batch.way": [say(f"batch.{case.name}") for case in given.cases],
        "batch.largest": [case.largest for case in given.cases],
        "batch.why": verdicts,
        "batch.reads": reads,
        "batch.moved": [tokens(case.moved) for case in given.cases],
    }
    distances = {
        say("batch.pooling", pooling=visible(key)): [case.pooled.get(key, nan) for case in given.cases]
        for key in dict.fromkeys(key for case in given.cases for key in case.pooled)
    }
    return titled(columns, say, distances)


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if isnan(value) else f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def detective(given: Detected, _: State, say: Texts) -> Shown:
    """The verdict, a row for each candidate and one for each server."""
    data = _candidates(given, say)
    *others, cosine, length = data
    read = [*others, *as_read([cosine], "{:.5f}".format), *as_read([length], "{:.4g}".format)]
    numeric = len(others), len(others) + 1
    caption = say("detective.caption", count=given.tried)
    table = saved_table(data, read, numeric, caption, "poolscope-vector.csv", say)
    servers = render("servers", say, settings=settings(given.ways, given.layers))
    return _told((*given.says, *given.warnings), data, table + servers, say)


def _told(lines: Sequence[Sentence], data: Data, html: Markup, say: Texts) -> Shown:
    """A verdict with all that is said besides, and a table."""
    first, *more = (visible(one.said(say)) for one in lines)
    hints = "".join(map(exhibit.hint_html, more))
    return Shown(heading=first, words=say.together((first, *more)), data=data, above=hints, html=html)


def _candidates(given: Detected, say: Texts) -> Data:
    """A row for each candidate: its poolings, and what else its plainest way does."""
    poolings, hows = [], []
    for one in given.candidates:
        alike = (other.pooling for other in (one.way, *one.same) if other.layer == one.way.layer)
        poolings.append(say("detective.equal").join(map(visible, dict.fromkeys(alike))))
        words = one.way.words(given.layers)
        hows.append(visible(say.listed(word.said(say) for name, word in words.items() if name != "length")))
    columns: dict[str, Column] = {
        "detective.pooling": poolings,
        "detective.how": hows,
        "detective.cosine": [one.cosine for one in given.candidates],
        "detective.length": [one.length for one in given.candidates],
    }
    return titled(columns, say)


def score(given: DetectedScore, _: State, say: Texts) -> Shown:
    """The verdict, what is to be set, and a row for each of the best ways."""
    best = given.candidates[:10]
    columns: dict[str, Column] = {
        "score.way": [visible(one.way.said().said(say)) for one in best],
        "score.given": [" · ".join(f"{number:.4g}" for row in one.scores for number in row) for one in best],
        "score.error": [one.error for one in best],
        "score.by_chance": [one.chance for one in best],
    }
    data, caption = titled(columns, say), say("score.caption", count=given.tried)
    table = saved_table(data, as_read(data, _cell), (1, 2, 3), caption, "poolscope-score.csv", say)
    return _told((*given.says, *given.warnings), data, table, say)


def maxsim(found: MaxSim, _: State, say: Texts) -> Shown:
    """Tokens of a pair that find a match, and the best cosine of each."""
    names = naming.token_labels(found.tokens, (found.query.text,))
    others = naming.token_labels(found.tokens_pair, (found.query.text_pair,))
    best, highest = [others[place] for place in found.best], found.highest
    order = sorted(naming.indices(found.matched), key=lambda one: float(found.ordinary[one] - highest[one]))
    named = ({"token": shorten(word(names[one])), "other": shorten(word(best[one]))} for one in order[:PAIRS])
    pairs = say.listed(say("maxsim.pair", **one) for one in named)
    total, some = int((~found.tokens.special).sum()), found.beyond_chance
    counts = {"count": int(found.matched.sum()), "total": total, "others": found.others}
    lines = [
        Sentence("maxsim.some" if some else "maxsim.chance", **counts),
        *([Sentence("maxsim.matched", pairs=pairs)] if some else []),
        Sentence("maxsim.counted", expected=number(total * found.rate, 1), **counts),
        Sentence("maxsim.score", score=number(highest.sum()), mean=number(highest.mean()), count=len(best)),
        *(one for one in found.warnings if one.key.startswith("maxsim.")),
    ]
    columns: dict[str, Column] = {"table.token": names, "maxsim.best": best, "maxsim.cosine": highest}
    rows = zip(found.matched, found.tokens.special, strict=True)
    matched = ["" if special else naming.yes_or_no(bool(one), say) for one, special in rows]
    data = titled({**columns, "maxsim.ordinary": found.ordinary, "maxsim.match": matched}, say)
    read = as_read(data, lambda cell: cell if isinstance(cell, str) else number(cell, 3))
    table = saved_table(data, read, (2, 3), say("maxsim.caption"), "poolscope-maxsim.csv", say)
    return _told(lines, data, table, say)


PADDED = Exhibit("padding", padding, style="numbers", none="batch.none")
# On the page alone: no link holds a vector or a score.
VECTOR = Exhibit("detective", detective, frame="bare", none="detective.none", where=frozenset({"page"}))
SCORE = Exhibit("score", score, frame="bare", none="score.nothing", where=frozenset({"page"}))
# Of a pair, and in no talk, which may be given any text in its place.
MAXSIM = Exhibit(
    "maxsim", maxsim, style="numbers", title="maxsim.title", applies=bool, where=frozenset({"page", "report"})
)
