"""Queries that a visitor may ask: every field of a Query is checked here, and nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from components.errors import PoolscopeError
from components.own_head import MINE, TABLE, read_head
from components.types import BackboneSpec, Query, Reference, TaskSpec, grouped

MOST = 300  # combinations of one comparison: all poolings of all bundled backbones, and some more


@dataclass(frozen=True)
class Asked:
    """A query that its backbone can be asked, and the task of its probe, or None."""

    query: Query
    task: TaskSpec | None


def checked(
    query: Query, backbones: Sequence[str], poolings: Sequence[str], heads: Sequence[str], longest: int
) -> Query:
    """The query with each field of the right type and known; PoolscopeError names the first that is not.

    Texts come back cleaned, a blank second text as "". ``longest`` is in characters. The ranges of the
    layers and of a token index depend on the backbone and the text, and are checked where these are known, as
    is the task of a probe, in `with_task`.
    """
    text_pair = query.text_pair if query.text_pair is not None else ""
    text, text_pair = _words("text", query.text, longest), checked_text("text_pair", text_pair, longest)
    return replace(
        query,
        backbone=choice("backbone", query.backbone, backbones),
        text=text,
        text_pair=text_pair if text_pair.strip() else "",
        pooling=choice("pooling", query.pooling, poolings),
        head=choice("head", query.head, heads),
        layer=whole_number("layer", query.layer),
        pool_layer=whole_number("pool_layer", query.pool_layer),
        reference=_reference(query.reference),
        task=checked_text("task", query.task if query.task is not None else "", longest),
        mine=query.mine if query.head == MINE else "",
    )


def asked_of(query: Query, spec: BackboneSpec, tasks: Mapping[str, TaskSpec]) -> Asked:
    """A checked query as its backbone can be asked it; PoolscopeError says why its head cannot be had."""
    if query.head != MINE:
        query = with_task(query, spec, tuple(tasks.values()))
        return Asked(query, tasks[query.task] if query.head == "probe" else None)
    head = read_head(query.mine)  # which was fitted for one backbone and one pooling
    for field, fitted in (("backbone", head.backbone), ("pooling", head.pooling)):
        if getattr(query, field) != fitted:
            raise PoolscopeError(field, getattr(query, field), "errors.own_head_takes", fitted=fitted)
    if head.texts != (2 if query.text_pair else 1):
        raise PoolscopeError("head", MINE, "errors.takes_two" if head.texts == 2 else "errors.takes_one")
    return Asked(replace(query, task=TABLE), TaskSpec(TABLE, TABLE, head.labels, head.texts))


def with_task(query: Query, spec: BackboneSpec, tasks: Sequence[TaskSpec]) -> Query:
    """The query with the task of its probe, found where none was asked for; other heads keep what they have.

    An empty task becomes the backbone's own, if it holds a probe that fits the number of texts, else the
    first of ``tasks`` that does. PoolscopeError names what is wrong with a task that cannot be had.
    """
    if query.head != "probe":
        return query
    if not spec.probed:
        raise PoolscopeError("head", query.head, "errors.no_probes")
    held = {task.key: task for task in tasks if task.key in spec.probed}
    texts = 2 if query.text_pair else 1
    fitting = [key for key, task in held.items() if task.texts == texts]
    if not query.task:
        if fitting:
            return replace(query, task=spec.task if spec.task in fitting else fitting[0])
        key = "errors.no_probe_one" if texts == 1 else "errors.no_probe_two"
        raise PoolscopeError("task", query.task, key, tasks=tuple(held))
    choice("task", query.task, [task.key for task in tasks])
    if query.task not in held:
        raise PoolscopeError("task", query.task, "errors.probes", tasks=tuple(held))
    if query.task not in fitting:
        raise PoolscopeError("task", query.task, "errors.takes_two" if texts == 1 else "errors.takes_one")
    return query


def other_version(query: Query, other: object, other_pair: object, longest: int) -> Query:
    """A checked query with another text, or another pair; ``longest`` is in characters."""
    text, pair = _words("other", other, longest), checked_text("other_pair", other_pair, longest)
    if bool(pair.strip()) != bool(query.text_pair):
        raise PoolscopeError("other_pair", other_pair, "errors.both_pairs")
    return replace(query, text=text, text_pair=pair if pair.strip() else "")


def by_backbone(queries: Sequence[Query]) -> list[list[Query]]:
    """Checked queries by their backbones, in the order asked; PoolscopeError if their texts differ.

    So it does where there is none, or more than `MOST`.
    """
    if not queries:
        raise PoolscopeError("combinations", 0, "errors.combination")
    if len(queries) > MOST:
        raise PoolscopeError("combinations", len(queries), "errors.combinations", most=MOST)
    for query in queries:
        for field in ("text", "text_pair"):
            if getattr(query, field) != getattr(queries[0], field):
                raise PoolscopeError(field, getattr(query, field), "errors.one_text")
    return list(grouped((query.backbone, query) for query in queries).values())


def choice(field: str, given: object, allowed: Sequence[str]) -> str:
    """``given`` if it is one of ``allowed``."""
    if not isinstance(given, str) or given not in allowed:
        raise PoolscopeError(field, given, "errors.allowed", allowed=tuple(allowed))
    return given


def checked_text(field: str, given: object, longest: int) -> str:
    """``given`` as a text that tokenizers can read: lone surrogates become U+FFFD, the length stays."""
    if not isinstance(given, str):
        raise PoolscopeError(field, given, "errors.text")
    if len(given) > longest:
        raise PoolscopeError(field, given[:80], "errors.long", length=len(given), longest=longest)
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in given)


def _words(field: str, given: object, longest: int) -> str:
    """``given`` as a text that is not blank."""
    text = checked_text(field, given, longest)
    if not text.strip():
        raise PoolscopeError(field, given, "errors.word")
    return text


def whole_number(field: str, given: object) -> int:
    """``given`` as an int; 2.0 passes, as JSON knows one kind of number, 2.5 and True do not."""
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, bool) or not isinstance(given, int):
        raise PoolscopeError(field, given, "errors.whole")
    return int(given)


def within(field: str, given: object, low: int, high: int) -> int:
    """``given`` as an int from ``low`` to ``high``."""
    number = whole_number(field, given)
    if not low <= number <= high:
        raise PoolscopeError(field, number, "errors.range", low=low, high=high)
    return number


def counted_from_zero(field: str, given: int, count: int) -> int:
    """``given`` of ``count`` things, where negative numbers count from the end."""
    return within(field, given, -count, count - 1) % count


def _reference(given: object) -> Reference:
    if isinstance(given, str) and given in ("cls", "pooled"):
        return given
    try:
        return int(given) if isinstance(given, str) else whole_number("reference", given)
    except ValueError as error:
        raise PoolscopeError("reference", given, "errors.reference") from error
