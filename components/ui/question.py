"""Questions of a visitor: texts, backbone, pooling, head and examples; and backbones brought from the hub."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import gradio as gr
from markupsafe import Markup

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.view import POOL_LAYER, percent, render, shorten, visible
from components.menus import BackboneMenu, Choices, Example, licence, refusal, suited, unlinked
from components.own_head import HEADS, MINE, TABLE
from components.texts import Texts, in_bytes
from components.types import Analysis, BackboneSpec, Progress, Query, Reference
from components.ui import places as on_page
from components.ui.places import PRIVATE, Given, Kept, Updates, asking_menu, menu, on, scripted_html, text_box

LABELS = 6  # of a model that is offered


class Question:
    """The components that make a Query, and those that help to choose a backbone.

    ``more`` holds what few ask for, and ``place``, which chooses the backbones that the menu offers;
    ``found`` holds those that the visitor looked up, ``mine`` the head that was fitted on their table.
    ``asks`` fires with Enter, after a pause in typing, and when something is chosen from a `menu` that asks.
    """

    def __init__(self, analyst: Analyst, examples: Sequence[Example], mine: Kept, say: Texts) -> None:
        """Lay the question out; it asks the first example of the first backbone that suits it."""
        self.analyst, self.mine, self.say, self.choices = analyst, mine, say, Choices.of(analyst)
        told = ((one.key, say.name(one.summary, f"pooling.{one.key}.summary")) for one in analyst.poolings())
        self.summaries = {key: unlinked(visible(summary)) for key, summary in told}
        models, first = self.models(()), examples[0]
        key = suited(first, models.first.key, models.specs)
        query = Query(key, first.text, first.text_pair, first.pooling)
        offers = self._offers(query, models, 0)
        with gr.Column(elem_id="asking"):
            self.asks = scripted_html("asking", render("fold", say), "fold")
            with gr.Row(elem_id="question"):
                hints = say("question.text_hint"), say("question.pair_hint")
                self.text = text_box("text", say("question.text"), hints[0], first.text, scale=8)
                self.pair = text_box("pair", say("question.pair"), hints[1], first.text_pair, scale=6)
                here, title = models.within(models.place(key)), say("question.backbone")
                self.backbone = menu("backbone", title, here, **offers["backbone"], scale=5)
                self.pooling = asking_menu("pooling", say("question.pooling"), **offers["pooling"], scale=5)
                with gr.Accordion(say("question.more"), open=False, elem_id="more") as self.more:
                    with gr.Row():
                        where = say("models.place" if models.online else "models.place_offline")
                        self.place = gr.Radio(**_places(models, key), label=where, elem_id="place", scale=3)
                        self.head = asking_menu("head", say("question.head"), **offers["head"], scale=2)
                        self.task = asking_menu("task", say("question.task"), **offers["task"], scale=2)
                        layer = say(POOL_LAYER.label)
                        self.pool_layer = asking_menu(POOL_LAYER.key, layer, **offers["pool_layer"], scale=2)
                    self.lookup = Lookup(say) if analyst.takes_ids else None
            self.download = Download(analyst, mine.state, say)
            labels, title = [say.name(example.label) for example in examples], say("question.examples")
            shown: dict[str, Any] = {"sample_labels": labels, "samples_per_page": len(labels), "label": title}
            shown |= {"samples": [[label] for label in labels], "type": "index", "elem_id": "examples"}
            self.examples = gr.Dataset(components=[gr.Textbox(visible=False)], **shown)
        self.found = Kept(mine.state, ())
        asked = self.text, self.pair, self.backbone, self.pooling, self.head, self.task, self.pool_layer
        self.inputs: list[gr.components.Component] = list(asked)
        self.menus = [*asked[2:], self.place]

    def models(self, found: Sequence[BackboneSpec], again: BackboneSpec | None = None) -> BackboneMenu:
        """List the backbones as they are now; only that one which is asked ``again``, if any."""
        if again is not None:  # to look at the files of all others takes as long as to answer
            return BackboneMenu((again,), self.analyst.online, self.say)
        return BackboneMenu.of(self.analyst, found, self.say)

    def fill(
        self,
        query: Query,
        models: BackboneMenu,
        last: int | None,
        asked: Query | None = None,
        before: Analysis | None = None,
    ) -> Updates:
        """Make the question ask ``query``: its menus offer what fits it, and say what it is.

        Where the page itself has ``asked``, only what differs from that is set: the visitor may have chosen
        anew in the meantime. What is offered as of the answer ``before``, if it is known, is not sent again.
        ``last``: of the layers of the answer, None where there is none.
        """
        now = self._offers(query, models, last)
        needed = self._beside(query, models) and not (asked and self._beside(asked, models))
        more = {self.more: gr.update(open=True)} if needed else {}
        if asked is None:
            menus = {getattr(self, name): gr.update(**offer) for name, offer in now.items()}
            texts = {self.text: query.text, self.pair: query.text_pair}
            return {**texts, **more, **menus, **self.choose(query.backbone, models)}
        was = now if asked == query else self._offers(asked, models, last)
        same = [name for name in now if now[name]["value"] == was[name]["value"]]
        for name in same:
            del now[name]["value"]
        stands = self._offers(before.query, models, before.layers) if before else {}
        offered = {getattr(self, name): offer for name, offer in stands.items()}
        menus = {getattr(self, name): gr.update(**one) for name, one in now.items()}
        return {**more, **on_page.changed(menus, offered)}

    def _beside(self, query: Query, models: BackboneMenu) -> bool:
        """Tell whether a question is not as on arrival in what is one press away."""
        plain = query.head == "own" and query.pool_layer == POOL_LAYER.default
        return not plain or models.place(query.backbone) != models.place(self.backbone.value)

    def choose(self, key: str, models: BackboneMenu) -> Updates:
        """Choose a backbone, among those of its place."""
        updates = self.refresh(key, models)
        return {**updates, self.backbone: {**updates[self.backbone], "value": key}}

    def refresh(self, key: object, models: BackboneMenu) -> Updates:
        """Offer what there is now in the place of a backbone; which one is chosen stays."""
        backbone = gr.update(choices=models.within(models.place(key)))
        return {self.place: gr.update(**_places(models, key)), self.backbone: backbone}

    def _offers(self, query: Query, models: BackboneMenu, last: int | None) -> dict[str, dict[str, Any]]:
        say, tasks = self.say, self.choices.tasks(query)
        labels = next((task.labels for task in tasks if task.key == query.task), ())
        layers: dict[str, Any] = {}
        if last is not None:
            below = [(str(layer), layer) for layer in range(last - 1, -1, -1)]
            layers = {"choices": [(say("question.pool_last"), POOL_LAYER.default), *below]}
        summary = self.summaries.get(query.pooling, "")
        poolings = self.choices.poolings(query, models.get(query.backbone), say)
        heads = [(say(f"question.head_{head}"), head) for head in self.choices.heads(query)]
        info = say(f"question.head_{query.head}_info") if query.head in HEADS else ""
        return {
            "pool_layer": {"value": query.pool_layer, "info": summary, **layers},
            "place": {"value": models.place(query.backbone), "info": models.note(query.backbone)},
            "backbone": {"value": query.backbone},
            "pooling": {"value": query.pooling, "choices": poolings},
            "head": {"value": query.head, "choices": heads, "info": info},
            "task": {  # which only a probe needs; the line under it names the labels
                "value": query.task if query.task not in ("", TABLE) else None,
                "choices": [(visible(say.name(task.title)), task.key) for task in tasks],
                "info": unlinked(visible(" · ".join(labels))),
                "visible": query.head == "probe",
            },
        }


def _places(models: BackboneMenu, key: object) -> dict[str, Any]:
    return {"choices": models.places, "value": models.place(key), "info": models.note(key)}


class Lookup:
    """The box for the id of a model, its button, and the place of a refusal; closed on arrival."""

    def __init__(self, say: Texts) -> None:
        with gr.Accordion(say("lookup.heading"), open=False, elem_id="lookup"):
            with gr.Row(elem_id="lookup-row"):
                said: Any = {"label": say("lookup.id"), "placeholder": say("lookup.hint")}
                self.box = gr.Textbox(**said, info=say("lookup.note"), max_lines=1, elem_id="lookup-id")
                self.button = gr.Button(say("lookup.button"), elem_id="lookup-button")
            self.refusal = on_page.plain_html(elem_id="lookup-refusal")


class Download:
    """Bringing a backbone of the hub here: the offer, how far it is, and the way to stop it.

    One visitor has one at a time. ``offered`` and ``coming`` hold the backbone that is offered and the one on
    its way, or None. ``arrived`` changes whenever another one can be asked, which ``brought`` holds.
    """

    def __init__(self, analyst: Analyst, state: gr.State, say: Texts) -> None:
        self.analyst, self.say = analyst, say
        with gr.Row(elem_id="offer", elem_classes="card notice"):  # seen while it says something
            self.facts = on_page.plain_html(elem_id="offer-facts")
            self.start = gr.Button(say("download.button_unsized"), variant="primary", elem_id="download")
        with gr.Row(elem_id="coming", elem_classes="card notice"):
            self.bar = on_page.ProgressBar("coming", say)
        self.offered, self.coming, self.brought = Kept(state), Kept(state), Kept(state)
        self.arrived = on_page.hidden_html("arrived")
        self.outputs: list[Any] = [self.offered, self.facts, self.start]
        news = [*self.outputs, self.coming, self.brought, self.arrived, *self.bar.parts]
        sent = {self.offered, self.coming}
        coming = on([self.start.click], self.bring, sent, news, {**PRIVATE, "concurrency_id": "download"})
        self.bar.connect(coming, self.stop, news, sent)

    def propose(self, spec: BackboneSpec, given: Given, said: str = "") -> Updates:
        """Offer a backbone that is not here, unless it is on its way; ``said`` is HTML to begin with."""
        coming: BackboneSpec | None = given[self.coming]
        if coming is not None and coming.key == spec.key:
            return {**self.withdraw(), self.offered: spec}
        return self._offer(spec, coming, said)

    def withdraw(self) -> Updates:
        """Offer nothing."""
        return {self.offered: None, self.facts: ""}

    def announce(self, spec: BackboneSpec) -> Updates:
        """Say that a backbone can be asked from now on."""
        return {self.brought: spec, self.arrived: secrets.token_hex(8)}

    def bring(self, given: Given) -> Iterator[Updates]:
        """Bring what is offered here, and say how far it is; who stops iterating leaves the download."""
        spec: BackboneSpec | None = given[self.offered]
        if spec is None:
            return
        yield {**self.withdraw(), self.offered: spec, self.coming: spec, **self._busy(spec, None)}
        try:
            with closing(self.analyst.fetch(spec.key)) as steps:
                for step in steps:
                    yield self._busy(spec, step)
            yield {**self._idle(), **self.announce(self.analyst.find(spec.key))}
        except PoolscopeError as error:
            yield {**self._idle(), **self._offer(spec, None, refusal(error, self.say))}
        except Exception:
            yield {**self._idle(), **self._offer(spec, None)}
            raise

    def stop(self, given: Given) -> Updates:
        """Say that the download was stopped; gradio ends ``bring``, and so leaves the download."""
        offered, coming = given[self.offered], given[self.coming]
        if offered is None:  # another backbone is chosen by now
            return self._idle()
        said = Markup('<p class="detail" role="status">{}</p>').format(self.say("download.stopped"))
        stopped = coming is not None and offered.key == coming.key
        return {**self._idle(), **self._offer(offered, None, said if stopped else "")}

    def _idle(self) -> Updates:
        return {self.coming: None, **self.bar.idle()}

    def _offer(self, spec: BackboneSpec, coming: BackboneSpec | None, said: str = "") -> Updates:
        say = self.say
        size = "" if spec.size is None else in_bytes(spec.size).said(say)
        labels = say.listed(shorten(label, 24) for label in spec.labels[:LABELS])
        if (rest := len(spec.labels) - LABELS) > 0:
            labels = say("models.labels_some", labels=labels, count=rest)
        button = say("download.button" if size else "download.button_unsized", size=size)
        known = {"labels": labels, "size": size, "licence": licence(spec, say)}
        offer = render("offer", say, spec=spec, **known, coming=coming, online=self.analyst.online)
        start = gr.update(value=button, visible=coming is None and self.analyst.online)
        return {self.offered: spec, self.facts: f"{offer}{said}", self.start: start}

    def _busy(self, spec: BackboneSpec, step: Progress | None) -> Updates:
        """Say how far it is; None is before anything is known."""
        say, title = self.say, visible(spec.said(self.say))
        below = Markup('<p class="detail">{}</p>').format(say("download.meanwhile"))
        if step is None or step.total == 0:
            return self.bar.busy(say("download.starting", title=title), below=below)
        done = percent(int(100 * min(step.done / step.total, 1)) / 100)
        sizes = {"done": in_bytes(step.done).said(say), "total": in_bytes(step.total).said(say)}
        return self.bar.busy(say("download.coming", title=title, percent=done, **sizes), step, below)


def to_query(sent: Mapping[str, Any]) -> Query:
    """Make a Query of what a browser or a link sent, by the keys of controls; of any value its text."""
    arrival = {"pooling": "native", "head": "own"}
    keys = ("backbone", "text", "pair", "pooling", "head", "task", MINE)
    texts: Any = {key: to_text(sent.get(key, arrival.get(key, ""))) for key in keys}
    reference, layer = to_reference(sent.get("reference", "cls")), POOL_LAYER.of(sent)
    return Query(text_pair=texts.pop("pair"), reference=reference, pool_layer=layer, **texts)


def to_reference(given: object) -> Reference:
    """Read a token index if ``given`` is one, also in digits; else what was given, as text."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    text = to_text(given).strip()
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10 else text


def to_text(given: object) -> str:
    """Read what a browser sent, as text."""
    return "" if given is None else str(given)
