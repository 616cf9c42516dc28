"""Menus of the page: examples, backbones by place, heads, tasks and poolings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from markupsafe import Markup

from components.analyst import Analyst, first_of
from components.errors import PoolscopeError
from components.exhibits.view import classify_link, visible
from components.own_head import HEADS, MINE, TABLE, OwnHead, read_head
from components.texts import ASSETS, Texts, in_bytes, read_toml
from components.types import BackboneSpec, PoolingSpec, Query, TaskSpec

GROUPS = ("own", "position", "average", "layers", "learned")  # of poolings, as the menu has them
BUNDLED, HERE, HUB = "bundled", "here", "hub"
TITLES = {BUNDLED: "models.bundled", HERE: "models.here", HUB: "models.hub"}
Menu = list[tuple[str, str]]  # (what is shown, what is sent)
# Texts to try, and ``compared``, on which the Compare tab opens.
EXAMPLES: Mapping[str, Any] = read_toml(ASSETS / "examples.toml")


def place(spec: BackboneSpec) -> str:
    """Origin of a backbone for a visitor: a hub model that has been downloaded is on this machine."""
    return BUNDLED if spec.source == "bundled" else HUB if absent(spec) else HERE


def absent(spec: BackboneSpec) -> bool:
    """Tell whether a backbone has to be downloaded first."""
    return spec.source == "hub" and not spec.available


def licence(spec: BackboneSpec, say: Texts) -> str:
    """The licence of a hub model in words, not escaped."""
    if not spec.licence:
        return say("models.licence_unknown")
    return say("models.licence", licence=visible(spec.licence))


def refusal(error: PoolscopeError, say: Texts) -> str:
    """Why a model cannot be had, as HTML."""
    html = Markup('<p class="refusal" role="alert"><strong>{}</strong> {}</p>')
    return html.format(say("models.refused"), visible(error.said(say)))


def unlinked(text: str) -> str:
    """``text`` for the line under a label: gradio escapes it, but makes links of what looks like Markdown."""
    return text.replace("](", "] (")


@dataclass(frozen=True)
class BackboneMenu:
    """Every backbone that one visitor can choose from, as it is now."""

    specs: tuple[BackboneSpec, ...]
    online: bool
    say: Texts

    @classmethod
    def of(cls, analyst: Analyst, found: Sequence[BackboneSpec], say: Texts) -> Self:
        """Those of the catalogue, then those that the visitor ``found`` by their ids."""
        listed = analyst.backbones()
        keys = {spec.key for spec in listed}
        return cls((*listed, *(spec for spec in found if spec.key not in keys)), analyst.online, say)

    def get(self, key: object) -> BackboneSpec | None:
        """The backbone of a key, or None; whatever a browser sends as one."""
        return next((spec for spec in self.specs if spec.key == key), None)

    def place(self, key: object) -> str:
        """Origin of a backbone; an unknown one is where the first is."""
        return place(self.get(key) or self.first)

    @property
    def first(self) -> BackboneSpec:
        """The backbone that the page begins with."""
        return first_of(self.specs) or self.specs[0]

    @property
    def places(self) -> Menu:
        """The places that there are backbones in, with their numbers."""
        titles = TITLES if self.online else {**TITLES, HUB: "models.hub_offline"}
        counts = {name: len(self.within(name)) for name in titles}
        return [(self.say(titles[name], count=count), name) for name, count in counts.items() if count]

    def within(self, name: object) -> Menu:
        """The backbones of one place."""
        return [(self.title(spec), spec.key) for spec in self.specs if place(spec) == name]

    def note(self, key: object) -> str:
        """Line about a backbone, not escaped, with the licence of a model from the hub."""
        spec = self.get(key)
        if spec is None:
            return ""
        parts = [visible(self.say.name(spec.note))] if spec.note else []
        if spec.source == "hub":
            parts.append(licence(spec, self.say))
        return unlinked(" · ".join(parts))

    def title(self, spec: BackboneSpec) -> str:
        """Name of a backbone, not escaped, and what it takes to have it here."""
        title = visible(spec.said(self.say))
        if spec.available:
            return title
        if absent(spec) and self.online and spec.size is not None:
            return self.say("models.to_download", title=title, size=in_bytes(spec.size).said(self.say))
        key = "models.to_download_unsized" if self.online else "models.offline"
        return self.say(key if absent(spec) else "question.absent", title=title)


def full_size(query: Query, spec: BackboneSpec, online: bool, say: Texts) -> Markup:
    """Link to the same question of ``spec``; nothing where it can neither be asked nor downloaded."""
    address = classify_link(Query(spec.key, query.text, query.text_pair), say)
    if not address or (absent(spec) and not online):
        return Markup()
    link = Markup('<a href="{}">{}</a>').format(address, BackboneMenu((spec,), online, say).title(spec))
    return say.html("verdict.full_size", link=link)


@dataclass(frozen=True)
class Choices:
    """Poolings and tasks to choose from; ``probed``: the tasks that each backbone has probes for, by key."""

    probed: Mapping[str, tuple[str, ...]]
    pooled: tuple[PoolingSpec, ...]
    asked: tuple[TaskSpec, ...]

    @classmethod
    def of(cls, analyst: Analyst) -> Self:
        """The choices that ``analyst`` gives."""
        probed = {spec.key: spec.probed for spec in analyst.backbones()}
        return cls(probed, analyst.poolings(), analyst.tasks())

    def tasks(self, query: Query) -> tuple[TaskSpec, ...]:
        """The tasks that the query's backbone has probes for and that take as many texts as were typed."""
        typed = 2 if query.text_pair.strip() else 1
        probed = self.probed.get(query.backbone, ())
        return tuple(task for task in self.asked if task.key in probed and task.texts == typed)

    def heads(self, query: Query) -> tuple[str, ...]:
        """The heads that a query can be asked with: its checkpoint's own, a probe, the visitor's own."""
        probed = bool(self.tasks(query))
        needed = probed and any(spec.key == query.pooling and _probed(spec) for spec in self.pooled)
        there = {"own": not needed, "probe": probed, MINE: own_head(query) is not None}
        return tuple(head for head in HEADS if there[head])

    def headed(self, query: Query, before: BackboneSpec | None, backbone: BackboneSpec | None) -> Query:
        """``query`` with the first head of its ``backbone``, if it has that of the one ``before`` by now.

        The first is a probe where the checkpoint's own is not known to be trained.
        """

        def first(spec: BackboneSpec) -> str:
            probed = spec.texts is None and bool(self.tasks(replace(query, backbone=spec.key)))
            return "probe" if probed else "own"

        if before is None or backbone is None or before.key == backbone.key or query.head != first(before):
            return query
        return replace(query, head=first(backbone))

    def poolings(self, query: Query, backbone: BackboneSpec | None, say: Texts) -> Menu:
        """(title, key) of the poolings that the query's ``backbone`` can be asked for, in groups.

        Each group but the first begins with its name, which stands for the first of its poolings.
        """
        menu: Menu = []
        for group in GROUPS:
            every = (spec for spec in self.pooled if spec.group == group)
            fitting = [spec for spec in every if self._fits(spec, query, backbone)]
            if menu and fitting:
                menu.append((say(f"question.group_{group}"), group))
            for spec in fitting:
                title = visible(spec.said(say))
                other = _probed(spec) and query.head == "own"
                menu.append((say("question.takes_probe", title=title) if other else title, spec.key))
        return menu

    def fitted(self, query: Query, backbone: BackboneSpec | None) -> Query:
        """``query`` with what no longer fits given up: the task first, then the head, then the pooling.

        What is no choice at all stays as it is; the engine says what is wrong with it.
        """
        first = {spec.group: spec.key for spec in reversed(self.pooled)}
        query = replace(query, pooling=first.get(query.pooling, query.pooling))
        if query.head not in (heads := self.heads(query)) and query.head in HEADS:
            query = replace(query, head=heads[0])
        if query.head == MINE and (head := own_head(query)) is not None:  # it takes nothing else
            return replace(query, task=TABLE, pooling=head.pooling, pool_layer=head.layer)
        if query.head != "probe" or query.task not in [task.key for task in self.tasks(query)]:
            query = replace(query, task="")  # the engine chooses
        fits = all(self._fits(spec, query, backbone) for spec in self.pooled if spec.key == query.pooling)
        return query if fits else replace(query, pooling="native")

    def _fits(self, pooling: PoolingSpec, query: Query, backbone: BackboneSpec | None) -> bool:
        """Some need a probe, and what is declared a checkpoint that declares something."""
        if pooling.declared and (backbone is None or not backbone.declares):
            return False
        if query.head == MINE:
            return pooling.key == query.pooling
        return not _probed(pooling) or bool(self.tasks(query))


def _probed(pooling: PoolingSpec) -> bool:
    """Tell whether a pooling needs a probe: its vector is learned with one, or too wide for another head."""
    return pooling.learned or pooling.wide


def own_head(query: Query) -> OwnHead | None:
    """The visitor's own head, where there is one that takes the query's backbone, and as many texts."""
    if not query.mine:
        return None
    head = read_head(query.mine)
    texts = 2 if query.text_pair.strip() else 1
    return head if (head.backbone, head.texts) == (query.backbone, texts) else None


@dataclass(frozen=True)
class Example:
    """A text or a pair to try. ``backbone`` and ``pooling`` are keys, or "" to keep what is chosen."""

    label: str
    text: str
    text_pair: str = ""
    backbone: str = ""
    pooling: str = "native"


def load_examples() -> tuple[Example, ...]:
    """The examples in the order of the file; the first one is analysed on arrival."""
    return tuple(Example(**entry) for entry in EXAMPLES["example"])


def suited(example: Example, chosen: str, backbones: Sequence[BackboneSpec]) -> str:
    """The backbone for an example: its own, else the chosen one if it takes as many texts, else the first."""
    count = 2 if example.text_pair else 1
    here = {spec.key: spec.texts for spec in backbones if spec.available}
    if example.backbone in here:
        return example.backbone
    first = first_of(backbones, count)
    return chosen if first is None or here.get(chosen, 0) in (None, count) else first.key
