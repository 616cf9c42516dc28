"""The Lab tab: which backbone, pooling and layer suits a visitor's own table of labelled texts."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, cast

import gradio as gr
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits.exhibit import hint_html, status_html
from components.exhibits.lab import Found
from components.exhibits.panels import LAB as PANEL
from components.exhibits.view import render, visible
from components.fitting import BACKBONES, Plan, Stage, Table
from components.own_head import MINE, read_head
from components.tables import ALIKE, Columns, Sheet, guess, read_sheet, to_table
from components.texts import ASSETS, Sentence, Texts
from components.types import Query, grouped
from components.ui import places as on_page
from components.ui.classify import CLASSIFY, Classify
from components.ui.compare import offered, offered_poolings
from components.ui.places import AT_ONCE, LAST_AT_ONCE, OF_MODEL, PRIVATE, Given, Updates, menu, on
from components.ui.tab import Surroundings, TabKind

SAMPLES = ("tickets", "reviews", "answers")  # files of assets/lab, and keys of their names
LAYERS = ("last", "all")
FIRST_POOLINGS = ("native", "cls", "mean", "max")
LARGEST = 2_000_000  # bytes of a file
ENDED = "() => ({told})[document.getElementById('lab').dataset.cancelled === 'true' ? 'stopped' : 'refused']"


def build_lab(around: Surroundings) -> None:
    """Lay the tab out; it is hidden where the owner allows no rows."""
    around.select.visible = bool(around.lab_rows)
    if around.lab_rows:
        Lab(around)


LAB = TabKind("lab", "page.lab", build_lab)


class Lab:
    """The components of the tab. Nothing of a table is kept on the server once its fit has been sent.

    ``notes``: about the table, or why it is none. ``columns``: of the text, the second text and the label.
    ``asking``: what says what is fitted. ``classify``: the tab that asks the head, which was built before.
    """

    def __init__(self, around: Surroundings) -> None:
        self.around, self.say = around, around.say
        self.classify = cast("Classify", around.tabs[CLASSIFY.key])
        say = self.say
        on_page.plain_html(Markup('<p class="lead">{}</p>').format(say("lab.lead")))
        with gr.Column(elem_classes="card", elem_id="lab-bring"):
            hint = hint_html(say("lab.private", rows=around.lab_rows))
            on_page.plain_html(f"{Markup('<h2>{}</h2>').format(say('lab.bring'))}{hint}")
            with gr.Row(elem_id="lab-from"):
                samples = {name: gr.Button(say(f"lab.sample_{name}"), size="sm") for name in SAMPLES}
                on_page.scripted_html("lab", render("file", say, most=LARGEST), "lab-file")
            said: Any = {"label": say("fields.table").capitalize(), "placeholder": say("lab.table_hint")}
            self.table = gr.Textbox("", **said, lines=6, max_lines=6, elem_id="lab-table")
            self.notes = on_page.plain_html(elem_id="lab-notes")
            with gr.Row(elem_id="lab-columns"):
                titles = [(f"lab-{name}", say(f"lab.column_of_{name}")) for name in ("text", "pair", "label")]
                self.columns = [menu(*title, [], None, min_width=150) for title in titles]
            # Each is shown where there is something to undo or to confirm.
            self.headed = gr.Checkbox(False, label=say("lab.headed"), visible=False, elem_id="lab-headed")
            self.merged = gr.Checkbox(False, label=say("lab.merged"), visible=False, elem_id="lab-merged")
        with gr.Column(elem_classes="card", elem_id="lab-choose"):
            on_page.plain_html(Markup("<h2>{}</h2>").format(say("lab.choose")))
            self._build_choices()
        with gr.Row(elem_id="lab-go"):
            start = gr.Button(say("lab.fit"), variant="primary", elem_id="lab-start", scale=0, min_width=200)
            self.bar = on_page.ProgressBar("lab", say, apart=True, scale=0)
        self.bar.status.render()  # type: ignore[no-untyped-call]  # of gradio's own
        with gr.Column(visible=False, elem_id="lab-found") as self.found:
            use = gr.Button(say("lab.use"), elem_id="lab-use")
            self.places = on_page.build_places(PANEL, say)
        for name, button in samples.items():
            bring = partial((ASSETS / "lab" / f"{name}.csv").read_text, "utf-8")
            on([button.click], bring, [], [self.table], AT_ONCE)
        on([around.select.select], self.offer_choices, [], [self.backbones], AT_ONCE)
        self.sheet: list[Any] = [self.table, *self.columns, self.headed, self.merged]
        self.asking: set[Any] = {*(*self.sheet, self.backbones, self.poolings, self.layers)}
        self._connect(start, use)

    def _build_choices(self) -> None:
        analyst, say = self.around.analyst, self.say
        learned = {spec.key for spec in analyst.poolings() if spec.learned}
        poolings = [one for one in offered_poolings(analyst) if one[1] not in learned]
        here = ((spec.task, spec.key) for spec in analyst.backbones() if spec.available)
        chosen = [first for first, *_ in grouped(here).values()][:BACKBONES]  # one for each task
        known = [key for key in FIRST_POOLINGS if key in {key for _, key in poolings}]
        several = partial(menu, multiselect=True, min_width=240, scale=4)
        with gr.Row(elem_id="lab-choice"):
            backbones = [one for one in offered(analyst, say) if one[1] in chosen]
            label = say("lab.backbones", most=BACKBONES)
            self.backbones = several("lab-backbones", label, backbones, chosen, max_choices=BACKBONES)
            self.poolings = several("lab-poolings", say("lab.poolings"), poolings, known)
            layers: Any = [(say(f"lab.layers_{key}"), key) for key in LAYERS]
            size: dict[str, Any] = {"scale": 2, "min_width": 160, "elem_id": "lab-layers"}
            self.layers = gr.Radio(layers, value=LAYERS[0], label=say("fields.layers").capitalize(), **size)

    def offer_choices(self) -> Updates:
        """Offer the backbones that there are, beside those that are chosen, once somebody looks."""
        return {self.backbones: gr.update(choices=offered(self.around.analyst, self.say))}

    def _connect(self, start: gr.Button, use: gr.Button) -> None:
        given = [self.table.change, *(one.input for one in self.sheet[1:])]  # what is pasted is no input
        on(given, self.read_table, set(self.sheet), [self.notes, *self.sheet[1:]], LAST_AT_ONCE)
        news = [*self.bar.parts, self.found, self.around.mine, *self.places.parts]
        once = {"trigger_mode": "once", **PRIVATE}
        coming = on(start.click, self.fit_table, self.asking, news, once, concurrency_id="fit")
        told = json.dumps({key: status_html(self.say(f"lab.{key}")) for key in ("stopped", "refused")})
        coming.failure(None, js=ENDED.replace("{told}", told), outputs=[self.bar.status], **PRIVATE)
        self.bar.connect(coming, partial(self.bar.idle, status_html(self.say("lab.stopped"))), news)
        sent = {self.classify.collected, *self.classify.needs, *self.asking}
        how = {**OF_MODEL, "trigger_mode": "once", "show_progress_on": self.classify.waits}
        on([use.click], self.try_mine, sent, [self.around.chosen, *self.classify.outputs], how)

    def read_table(self, given: Given) -> Updates:
        """Read the table: guess its columns where those chosen are not its own, and say what it is."""
        if not str(given[self.table] or "").strip():
            return {self.notes: ""}
        offer: Updates = {}
        guessed: list[Sentence] = []
        try:
            sheet, chosen = self._read(given)
            known = {*sheet.columns}
            if not {chosen.text, chosen.label} <= known or chosen.text_pair not in {"", *known}:
                offer = self._offer(sheet, Columns("", ""))
                chosen = guess(sheet)
                guessed = [Sentence("lab.guessed", text=chosen.text, label=chosen.label)]
            offer = self._offer(sheet, chosen)
            table, notes = to_table(sheet, chosen, bool(given[self.merged]))
        except PoolscopeError as error:
            return {**offer, self.notes: _refused(error, self.say)}
        labels = sorted(set(table.labels))
        named = self.say.listed(map(visible, labels[:8])) + (" …" if len(labels) > 8 else "")
        told = self.say("lab.table_is", rows=len(table.texts), classes=len(labels), labels=named)
        alike = given[self.merged] or ALIKE in {note.key for note in notes}
        switches = {
            self.headed: gr.update(visible=bool(sheet.headless or given[self.headed])),
            self.merged: gr.update(visible=bool(alike)),
        }
        return {**offer, **switches, self.notes: f"{status_html(told)}{_hints((*guessed, *notes), self.say)}"}

    def fit_table(self, given: Given) -> Iterator[Updates]:
        """Fit what is asked: how far it is, then everything that was found. Closing it cancels the rest."""
        titles = {spec.key: spec.said(self.say) for spec in self.around.analyst.backbones()}
        begun = time.monotonic()
        try:
            table, plan, notes = self._asked(given)
            yield {self.found: gr.update(visible=False), **self.bar.busy(self.say("lab.starting"))}
            with closing(self.around.analyst.fit(table, plan)) as steps:
                known: list[Sentence] = []  # of the texts
                while isinstance(step := next(steps), Stage):
                    known += step.notes
                    yield self.bar.busy(progress(step, plan, titles, self.say), step, _hints(known, self.say))
                took = self.say("lab.took", seconds=f"{time.monotonic() - begun:.0f}")
                shown = self.places.show(Found(step, titles), {})
                shown |= {self.found: gr.update(visible=True), self.around.mine: step.head}
                yield {**shown, **self.bar.idle(f"{hint_html(took)}{_hints(notes, self.say)}")}
        except PoolscopeError as error:
            yield self.bar.idle(_refused(error, self.say))
        except Exception:
            yield self.bar.idle("")
            raise

    def try_mine(self, given: Given) -> Updates:
        """Put a text of the table in the place of the question, and have the visitor's own head answer it."""
        question = self.classify.question
        mine = given[question.mine]
        head = read_head(mine)
        try:
            table, _, _ = self._asked(given)
            text, pair = table.texts[0], table.pairs[0] if table.pairs else ""
        except PoolscopeError:  # there is no table any longer: the question stays as it is
            text, pair = given[question.text], given[question.pair]
        query = Query(head.backbone, text, pair, head.pooling, MINE, pool_layer=head.layer, mine=mine)
        return {self.around.chosen: gr.update(selected=CLASSIFY.key), **self.classify.pose(query, given)}

    def _asked(self, given: Given) -> tuple[Table, Plan, Sequence[Sentence]]:
        """Read what is fitted, and what is odd about the table; PoolscopeError says why it cannot be."""
        table, notes = to_table(*self._read(given), bool(given[self.merged]))
        sent = [given[one] for one in (self.backbones, self.poolings)]
        backbones, poolings = (tuple(map(str, one)) if isinstance(one, list) else () for one in sent)
        return table, Plan(backbones, poolings, given[self.layers] == "all"), notes

    def _read(self, given: Given) -> tuple[Sheet, Columns]:
        """Read the table, and which of its columns are chosen."""
        text, pair, label = (str(given[one] or "") for one in self.columns)
        sheet = read_sheet(given[self.table], bool(given[self.headed]), self.around.lab_rows)
        return sheet, Columns(text, label, pair)

    def _offer(self, sheet: Sheet, chosen: Columns) -> Updates:
        names = [(visible(name), name) for name in sheet.columns]
        offers = (names, [(self.say("lab.no_pair"), ""), *names], names)
        values = (chosen.text, chosen.text_pair, chosen.label)
        return {
            one: gr.update(choices=offer, value=value)
            for one, offer, value in zip(self.columns, offers, values, strict=True)
        }


def progress(stage: Stage, plan: Plan, titles: Mapping[str, str], say: Texts) -> str:
    """Say how far it is: which backbone of several, and what of it."""
    said = say(f"lab.stage_{stage.name}", done=stage.done, total=stage.total)
    if stage.backbone not in plan.backbones:
        return said
    place, title = plan.backbones.index(stage.backbone) + 1, visible(titles[stage.backbone])
    return say.together((say("lab.which", title=title, place=place, count=len(plan.backbones)), said))


def _hints(notes: Sequence[Sentence], say: Texts) -> str:
    return "".join(hint_html(visible(note.said(say))) for note in notes)


def _refused(error: PoolscopeError, say: Texts) -> str:
    return str(Markup('<p class="missing" role="alert">{}</p>').format(visible(error.said(say))))
