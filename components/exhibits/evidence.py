"""The part of the results that is looked at, of one task and some backbones, its tables and sentences."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from components.exhibits.control import State
from components.exhibits.exhibit import Data, Exhibit, Shown, csv_link, grouped
from components.exhibits.view import number, one_vector, render, visible
from components.results import KINDS, SHOWN, Row, Table, beside, each, holm, of
from components.texts import Texts

LEVEL = 0.05  # a difference counts below this p
BASE = "cls"  # the pooling that the others are compared with

Format = Callable[[float], str]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The ``results``, of which one ``task`` and some ``backbones`` are chosen; ``titles``: by their keys."""

    results: Table
    task: str
    backbones: Sequence[str]
    titles: Mapping[str, str]

    @cached_property
    def every(self) -> Mapping[str, list[Row]]:
        """All of the results by their kind."""
        return {kind: each(of(self.results, kind)) for kind in KINDS}

    def of_task(self, kind: str) -> list[Row]:
        """All results of a ``kind`` in their order, for the task if they are for one."""
        return [row for row in self.every[kind] if getattr(row, "task", self.task) == self.task]

    @property
    def baselines(self) -> list[Row]:
        """Those of the task that were fitted to as many rows as its probes; the strongest last."""
        rows = {row.trained for row in self.of_task("probe")}
        return [row for row in self.of_task("baseline") if row.trained in rows]

    def of(self, kind: str, *backbones: str) -> list[Row]:
        """The results of a ``kind`` for these or the chosen backbones, for the task if they are for one."""
        rows = self.of_task(kind)
        return [row for key in backbones or self.backbones for row in rows if row.backbone == key]

    def title(self, backbone: str) -> str:
        """Say what a backbone is called, not escaped, with everything in it visible."""
        return visible(self.titles.get(backbone, backbone))

    @cached_property
    def rows(self) -> list[tuple[str, ...]]:
        """The poolings with a probe, those together that are one vector in each backbone, or in none."""
        found = {(row.backbone, row.pooling): row.vector for row in self.of("probe")}
        backbones, poolings = (dict.fromkeys(one[side] for one in found) for side in (0, 1))
        rows = grouped((tuple(found.get((key, one)) for key in backbones), one) for one in poolings)
        return list(map(tuple, rows.values()))

    def rhos(self, backbone: str) -> list[Row]:
        """Spearman's rho of the raw cosine, for poolings that have a probe as well."""
        probed = set(chain.from_iterable(self.rows))
        return [row for row in self.of("cosine", backbone) if row.pooling in probed]


def vectors(rows: Iterable[Row]) -> list[Row]:
    """The first of the ``rows`` of each vector of each backbone.

    With ``poolings``, all that give this vector, and what that is ``called``: "native = cls".
    """
    alike = grouped(((row.backbone, row.vector), row) for row in rows)
    return [named(same[0], [row.pooling for row in same]) for same in alike.values()]


def named(row: Row, poolings: Iterable[str]) -> Row:
    """A row with the ``poolings`` that give its vector, and what that is ``called``."""
    every = tuple(dict.fromkeys(poolings))
    return beside(row, poolings=every, called=one_vector(every))


def against_base(found: Iterable[Row]) -> list[Row]:
    """The vectors of a backbone but cls, their p against that ``corrected`` by Holm's method."""
    return corrected([row for row in found if BASE not in row.poolings])


def corrected(rows: Sequence[Row], tested: Callable[[Row], bool] = lambda _: True) -> list[Row]:
    """The rows with their p ``corrected`` by Holm's method over those ``tested``; that of others is None."""
    places = [place for place, row in enumerate(rows) if tested(row)]
    ps = dict(zip(places, holm([rows[place].p for place in places]), strict=True))
    return [beside(row, corrected=ps.get(place)) for place, row in enumerate(rows)]


def sign(row: Row) -> str:
    """Say ``better`` or ``worse`` than what a row is held against, by chance ``alike``, or "": untested."""
    if row.corrected is None:
        return ""
    if row.corrected >= LEVEL:
        return "alike"
    above = row.gain > 0 if row.kind == "cosine" else row.better > row.worse
    return "better" if above else "worse"


def accuracy_text(value: float) -> str:
    """An accuracy as it is shown everywhere: percent with one digit."""
    return f"{number(100 * value, 1)} %"


def saved_rows(evidence: Evidence, rows: Iterable[Row], say: Texts, name: str = "accuracy") -> list[Row]:
    """The rows as they are saved: under the ``name`` of their value, and with titles for keys."""
    return [
        beside(
            row,
            backbone=evidence.title(row.backbone),
            pooling=getattr(row, "called", ""),
            task=visible(say.name(getattr(row, "task", ""))),
            **{name: row.value, f"{name}_low": row.low, f"{name}_high": row.high},
        )
        for row in rows
    ]


def data_of(name: str, rows: Sequence[Row], say: Texts) -> Data:
    """The rows as they are saved, under the titles of the columns ``name``; what a row lacks is empty."""
    return [(say(f"evidence.column_{one}"), [getattr(row, one, None) for row in rows]) for one in SHOWN[name]]


def probes(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each backbone and pooling, with a link that saves them as CSV."""
    caption = say("evidence.table_caption", task=visible(say.name(evidence.task)))
    rows, hint = probe_rows(evidence, say), say("evidence.table_hint", base=BASE)
    return _shown(rows, "probes", caption, "evidence", hint, say)


def own(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each baseline and for each fine-tuned checkpoint, task by task."""
    rows, kinds, found = [], evidence.every, []
    for task in dict.fromkeys(row.task for row in kinds["head"]):
        baselines = [row for row in kinds["baseline"] if row.task == task]
        heads = corrected([row for row in kinds["head"] if row.task == task])
        rows += [beside(row, backbone=say(f"evidence.baseline_{row.method}")) for row in baselines]
        rows += heads
        if baselines:  # the strongest last
            found.append((baselines[-1], heads, Counter(map(sign, heads))))
    caption, hint = say("evidence.own_caption"), say("evidence.own_hint")
    shown = _shown(saved_rows(evidence, rows, say), "own", caption, "own-heads", hint, say)
    return replace(shown, above=render("own_heads", say, found=found, level=LEVEL))


def probe_rows(evidence: Evidence, say: Texts) -> list[Row]:
    """A row for each vector with a probe, a backbone after the other, with rho of its raw cosine."""
    rows = []
    for key in evidence.backbones:
        found = _held(vectors(evidence.of("probe", key)))
        rhos = {row.pooling: row for row in _held(vectors(evidence.rhos(key)))}
        for row, saved in zip(found, saved_rows(evidence, found, say), strict=True):
            if rho := rhos.get(row.pooling):
                ends = {"rho": rho.value, "rho_low": rho.low, "rho_high": rho.high, "pairs": rho.measured}
                saved = beside(saved, **ends, rho_p=rho.p, rho_corrected=rho.corrected)
            rows.append(saved)
    return rows


def _held(found: Sequence[Row]) -> list[Row]:
    """The vectors of a backbone, each with its p against cls; cls itself without any."""
    tested = corrected(found, lambda row: BASE not in row.poolings)
    return [row if BASE not in row.poolings else beside(row, p=None) for row in tested]


def _shown(rows: Sequence[Row], name: str, caption: str, file: str, hint: str, say: Texts) -> Shown:
    data = data_of(name, rows, say)
    html = render(
        "evidence_table",
        say,
        caption=caption,
        columns=[column for column in SHOWN[name] if not column.endswith(("_low", "_high"))],
        rows=rows,
        link=csv_link(data, f"poolscope-{file}.csv", say("table.download")),
        hint=hint,
        accuracy=accuracy_text,
    )
    return Shown(data=data, html=html)


PROBES = Exhibit("evidence-numbers", probes, style="numbers", frame="folded", title="table.heading")
OWN_HEADS = Exhibit("own-numbers", own, style="numbers", frame="folded", title="evidence.own")
