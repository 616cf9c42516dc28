"""A comparison as a table of backbones by poolings, to see or to hear; in words; and its numbers."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from components.exhibits import comparison as compared, view as naming
from components.exhibits.comparison import Combination, Comparison, Key, answered, predicts
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, grouped
from components.exhibits.sees import icon
from components.exhibits.verdict import chosen_labels, output_text, ranked
from components.exhibits.view import classify_link, listed, number, render, shorten, visible
from components.texts import Texts
from components.types import SWAPS, Analysis

NAME, LABEL = 40, 18  # characters of a name in a sentence, and of a label in a cell
NAMED = 3  # backbones that a sentence names, and poolings of each; more are only counted
VALUE = 2  # decimals of a regression's value


def key_name(key: Key, comparison: Comparison, say: Texts) -> str:
    """A combination by its name, not escaped: "GPT-2 under max"."""
    backbone, pooling = key
    name = shorten(comparison.names[backbone], NAME)
    return say("compare.combination", backbone=name, pooling=visible(pooling))


def key_names(found: Sequence[Combination], comparison: Comparison, say: Texts) -> str:
    """Combinations by their names, not escaped, those of a backbone together; one vector has one name."""
    vectors = Counter(one.key[0] for one in comparison.distinct)
    poolings = grouped(
        (one.key[0], naming.one_vector(same.key[1] for same in comparison.same[one.key])) for one in found
    )
    shown = list(poolings.items())[:NAMED]
    names = say.listed(
        say(
            "compare.combination",
            backbone=shorten(comparison.names[backbone], NAME),
            pooling=_pooling_names(under, vectors[backbone], say),
        )
        for backbone, under in shown
    )
    rest = len(found) - sum(len(under) for _, under in shown)
    return say("list.more", names=names, count=rest) if rest else names


def _pooling_names(poolings: Sequence[str], total: int, say: Texts) -> str:
    if len(poolings) == total > 1:
        return say("compare.every")
    if len(poolings) > NAMED:
        return say("compare.several", count=len(poolings), total=total)
    *before, last = poolings
    return say("compare.both", before=say.listed(before), last=last) if before else last


def labels_text(labels: compared.Labels, say: Texts, longest: int = NAME) -> str:
    """Say what a combination predicts, not escaped; several labels are joined."""
    named = say.label if longest > LABEL else say.name  # a cell has room for one of both
    return " + ".join(shorten(visible(named(label)), longest) for label in labels) or say("compare.nothing")


def moved_text(one: Combination, say: Texts) -> str:
    """By how much the followed output moved, "−24 pp": what both values differ by as they are shown.

    "" where none is followed. Of a move that their rounding hides, it says below what it is.
    """
    if one.output is None:
        return ""
    was, now = (float(analysis.probabilities[one.output]) for analysis in one.answers)
    if one.answers[0].problem_type == "regression":
        return signed(round(now, VALUE) - round(was, VALUE), VALUE)
    (before, fine), (after, finer) = naming.rounded_percent(was), naming.rounded_percent(now)
    digits = max(fine, finer)
    if before == after and was != now:
        return say("edit.tiny", least=f"{10**-digits:.{digits}f}")
    return say("edit.points", value=signed(after - before, digits))


def signed(value: float, digits: int) -> str:
    """A number with its sign; "±" for what is rounded to nothing."""
    rounded = round(value, digits)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else "±"
    return sign + number(abs(rounded), digits)


def grid(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The table of one version or of two, its legend, and why cells are empty."""
    whole = comparison.combinations
    html = render(
        "grid",
        say,
        comparison=comparison,
        cells={one.key: one for one in whole},
        squares={key: icon(found, say) for key, found in comparison.sees.items()},
        pending="compare.missing" if comparison.state == "stopped" else "compare.pending",
        breakable=lambda key: naming.breakable_html(visible(key), naming.UNDERSCORES),
        name=partial(key_name, comparison=comparison, say=say),
        moved=partial(moved_text, say=say),
        answer=partial(_said, say=say),
        **{"predicts": predicts, "ranked": ranked, "strength": compared.strength, "longest": LABEL},
    )
    cells = [cell for one in whole for cell in one.cells]
    found = [analysis for _, analysis in answered(cells)]
    warned = grouped(  # of what every answer alone warns of; a swap has its mark
        (warning, shorten(comparison.names[cell.query.backbone], NAME))
        for cell, analysis in answered(cells)
        for warning in analysis.warnings
        if warning.key not in SWAPS
    )
    warnings = {of: listed(list(dict.fromkeys(names)), NAMED, say) for of, names in warned.items()}
    linked, reasons = any(classify_link(one.query, say) for one in found), compared.refusals(cells)
    marks = {"found": found, "linked": linked, "warnings": warnings, "reasons": reasons}
    legend = render("grid_legend", say, comparison=comparison, **marks, longest=NAME)
    return Shown(html=html, legend=legend)


COME = attrgetter("cells")  # of a comparison
GRID = Exhibit(
    "grid", grid, element="compare-grid", style="compare-grid", title="page.compare", with_summary=True
)


def _said(analysis: Analysis, say: Texts) -> dict[str, str]:
    """Say the answer, not escaped, and its number, which stays in one piece; and the link that asks it."""
    address = classify_link(analysis.query, say)
    if analysis.problem_type == "regression":
        return {"text": output_text(analysis, 0), "number": "", "address": address}
    probabilities = " + ".join(output_text(analysis, index) for index in chosen_labels(analysis))
    return {"text": labels_text(analysis.predicted, say, LABEL), "number": probabilities, "address": address}


def agreement(comparison: Comparison, _: State, say: Texts) -> Shown:
    """Tell what stands out, with names; then what was said besides, and what does not count."""
    told = [one for one in comparison.distinct if one.predicted]
    html = render(
        "agreement",
        say,
        comparison=comparison,
        turned=compared.most_frequent((one.predicted, one) for one in told if one.flips and not one.swapped),
        swapped=compared.label_groups(one for one in told if one.swapped),
        largest=_largest(comparison),
        labels_text=partial(labels_text, say=say),
        name=partial(key_name, comparison=comparison, say=say),
        names=partial(key_names, say=say),
        moved=partial(moved_text, say=say),
        **{"longest": NAME, "output_text": output_text},
    )
    return Shown(html=html)


AGREEMENT = Exhibit("agreement", agreement, element="compare-agreement", frame="bare", applies=COME)


def _largest(comparison: Comparison) -> dict[str, Combination]:
    """The largest move of a label, and of a score, by the keys of what is said of them."""
    counted = [one for one in comparison.distinct if one.moved and not one.swapped]
    scores = [one for one in counted if len(one.answers[0].labels) == 1 and not one.random]
    scores = [one for one in scores if one.answers[0].problem_type == "regression"]
    several = {"largest": [one for one in counted if one.predicted], "margin": scores}
    return {key: max(own, key=lambda one: abs(one.moved or 0)) for key, own in several.items() if own}
