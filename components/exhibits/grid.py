"""A comparison as a table of backbones by poolings, to see or to hear; in words; and its numbers."""

from collections import Counter
from functools import partial

from components.exhibits import comparison as compared, view as naming
from components.exhibits.comparison import Combination, Comparison, answered, predicts
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, grouped
from components.exhibits.sees import icon
from components.exhibits.verdict import chosen_labels, output_text, ranked
from components.exhibits.view import classify_link, listed, render, shorten
from components.texts import Texts
from components.types import SWAPS

NAME = 40  # characters of a name in a sentence
NAMED = 3  # backbones that a sentence names, and poolings of each; more are only counted


def grid(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The table of one version or of two, its legend, and why cells are empty."""
    whole = comparison.combinations
    html = render(
        "grid",
        say,
        comparison=comparison,
        cells={one.key: one for one in whole},
        squares={key: icon(found, say) for key, found in comparison.sees.items()},
        address=partial(classify_link, say=say),
        **{"predicts": predicts, "ranked": ranked, "strength": compared.strength},
        **{"chosen": chosen_labels, "output_text": output_text, "rounded_percent": naming.rounded_percent},
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
    linked = any(classify_link(one.query, say) for one in found)
    reasons = Counter(cell.refusal for cell in cells if cell.refusal is not None)  # why there is no answer
    marks = {"found": found, "linked": linked, "warnings": warnings, "reasons": reasons}
    legend = render("grid_legend", say, comparison=comparison, **marks, longest=NAME)
    return Shown(html=html, legend=legend)


GRID = Exhibit(
    "grid", grid, element="compare-grid", style="compare-grid", title="page.compare", with_summary=True
)


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
        **{"output_text": output_text, "rounded_percent": naming.rounded_percent, "most": NAMED},
    )
    return Shown(html=html)


AGREEMENT = Exhibit(
    "agreement", agreement, element="compare-agreement", frame="bare", applies=lambda one: bool(one.cells)
)


def _largest(comparison: Comparison) -> dict[str, Combination]:
    """The largest move of a label, and of a score, by the keys of what is said of them."""
    counted = [one for one in comparison.distinct if one.moved and not one.swapped]
    scores = [one for one in counted if len(one.answers[0].labels) == 1 and not one.random]
    scores = [one for one in scores if one.answers[0].problem_type == "regression"]
    several = {"largest": [one for one in counted if one.predicted], "margin": scores}
    return {key: max(own, key=lambda one: abs(one.moved or 0)) for key, own in several.items() if own}
