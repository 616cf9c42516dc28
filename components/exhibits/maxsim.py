"""Late interaction of a pair: the best token of the second text for each of the first."""

from typing import Any

from components.analyses.maxsim import MaxSim
from components.exhibits import exhibit
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Panel, Shown, hint_html
from components.exhibits.view import indices, number, shorten, token_labels, visible, word, yes_or_no
from components.texts import Sentence, Texts

NAMED = 6  # matches that a sentence names


def maxsim(found: MaxSim | Sentence | None, _: State, say: Texts) -> Shown:
    """How many tokens find a match, which, and the best cosine of each; nothing of a single text."""
    if not isinstance(found, MaxSim):
        return exhibit.unanswered("maxsim.title", found, say) if found else Shown()
    names = token_labels(found.tokens, (found.query.text,))
    others = token_labels(found.tokens_pair, (found.query.text_pair,))
    best, highest = [others[place] for place in found.best], found.highest
    order = sorted(indices(found.matched), key=lambda one: float(found.ordinary[one] - highest[one]))
    pairs = (
        say("maxsim.pair", token=shorten(word(names[one])), other=shorten(word(best[one])))
        for one in order[:NAMED]
    )
    total, some = int((~found.tokens.special).sum()), found.beyond_chance
    counts = {"count": int(found.matched.sum()), "total": total, "others": found.others}
    lines: dict[str, dict[str, Any]] = {
        "some" if some else "chance": counts,
        **({"matched": {"pairs": say.listed(pairs)}} if some else {}),
        "counted": {"expected": number(total * found.rate, 1), **counts},
        "score": {"score": number(highest.sum()), "mean": number(highest.mean()), "count": len(best)},
    }
    told = [say(f"maxsim.{key}", **values) for key, values in lines.items()]
    told += [visible(one.said(say)) for one in found.warnings if one.key.startswith("maxsim.")]
    columns = {"table.token": names, "maxsim.best": best, "maxsim.cosine": highest}
    rows = zip(found.matched, found.tokens.special, strict=True)
    matched = ["" if special else yes_or_no(bool(one), say) for one, special in rows]
    data = exhibit.titled_frame({**columns, "maxsim.ordinary": found.ordinary, "maxsim.match": matched}, say)
    read = data.astype(object).map(lambda cell: cell if isinstance(cell, str) else number(cell, 3))
    return Shown(
        heading=told[0],
        words=say.together(told),
        data=data,
        above=exhibit.NOTHING.join(map(hint_html, told[1:])),
        html=exhibit.saved_table(data, read, (2, 3), say("maxsim.caption"), "poolscope-maxsim.csv", say),
    )


MAXSIM: Exhibit[MaxSim | Sentence | None] = Exhibit(
    "maxsim",
    maxsim,
    style="numbers",
    title="maxsim.title",
    applies=lambda found: found is not None,
    where=frozenset({"page", "report"}),  # a talk may be given any text in the place of a pair
)
MATCHES: Panel[Any, MaxSim | Sentence | None] = Panel(
    "matches",
    "maxsim.title",
    lambda answered: exhibit.asked("maxsim")(answered) if answered.analysis.query.text_pair else None,
    rows=((MAXSIM,),),
)
