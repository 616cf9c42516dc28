"""Places of exhibits on the page, which an answer fills. No exhibit is known here by name.

Plots are drawn by plots.js: gradio makes its own anew at every change, also where it is hidden. It draws with
gradio's Plotly, which the browser loads for the first gr.Plot.
"""

import json
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial, wraps
from inspect import isgeneratorfunction
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from components.exhibits.control import Choice, Control, State, Switch, Whole
from components.exhibits.exhibit import SCRIPTS, Exhibit, Panel, Shown, at_once, heading_html
from components.exhibits.view import render
from components.fitting import Stage
from components.texts import Texts
from components.types import Progress
from components.ui.gradio_internals import PLOTLY

Given = Mapping[Any, Any]  # component -> the value that a browser sent
Updates = dict[Any, Any]  # component -> its new value or gr.update(...) of its properties
Build = Callable[[], object] | None  # lays out what stands within something else
Widget = gr.Slider | gr.Checkbox | gr.Radio  # what the card of an exhibit may hold
OFFERED = {"choices", "info", "label", "maximum", "visible"}  # what no visitor changes
NOTHING: Updates = gr.skip()  # leaves every component as it is
FOLDER = Path(__file__).with_name("browser")  # of what runs in the browser

# What is sent is taken where it is answered: gradio would hold on to it. Progress is hidden on no part: at
# each step of every event, gradio's script goes through the page for each such part.
HIDDEN: dict[str, Any] = {"show_progress": "hidden", "show_progress_on": []}
PRIVATE: dict[str, Any] = {"api_visibility": "private", **HIDDEN, "preprocess": False, "postprocess": False}
AT_ONCE: dict[str, Any] = {"queue": False, **PRIVATE}  # for what no model is asked about
LAST_AT_ONCE: dict[str, Any] = {**AT_ONCE, "trigger_mode": "always_last"}  # the same as often as it is asked
OF_MODEL: dict[str, Any] = {**PRIVATE, "concurrency_id": "model", "show_progress": "minimal"}
LAST_OF_MODEL: dict[str, Any] = {**OF_MODEL, "trigger_mode": "always_last"}  # what is asked meanwhile waits


@dataclass(frozen=True, eq=False)
class Kept:
    """A value that the server keeps for a page, in ``state`` with all others; it begins with ``value``.

    At each step of every event, gradio's script copies all properties of each state that any event had.
    """

    state: gr.State
    value: Any = None


def on(
    events: Any, answer: Any, inputs: Collection[Any], outputs: list[Any], how: Mapping[str, Any], **more: Any
) -> Any:
    """Have ``answer`` called at ``events`` with what a browser sent of ``inputs``; it changes ``outputs``.

    Both may hold what is `Kept`, ``inputs`` what is `Collected`, and ``outputs`` what is `Packed`.
    ``events``: a list, or the ``then`` of an event. ``how``: as one of the above says. Gives the event.
    """
    for part in outputs:
        if isinstance(part, Packed):
            rest = [one for one in outputs if one is not part]
            return on(events, part.pack(answer), inputs, [part.sent, *rest], how, **more)
    for part in inputs:
        if isinstance(part, Collected):
            coming = on(events, None, part.parts, [part.sent], PRIVATE, js="(...values) => [values]")
            return on(coming.then, part.spread(answer), {part.sent, *inputs} - {part}, outputs, how, **more)
    listen = events if callable(events) else partial(gr.on, events)
    kept = {part for part in (*inputs, *outputs) if isinstance(part, Kept)}
    if kept:
        (state,) = {part.state for part in kept}
        asked = _kept(answer if isinstance(inputs, set) else lambda _nothing: answer(), state, kept)
        sent, changed = {state, *inputs} - kept, [one for one in outputs if one not in kept]
        return listen(asked, inputs=sent, outputs=[state, *changed], **{**how, **more})
    return listen(answer, inputs=inputs, outputs=outputs, **{**how, **more})


def _kept(answer: Callable[..., Any], state: gr.State, kept: Iterable[Kept]) -> Callable[..., Any]:
    """Have ``answer`` given what is ``kept``, too; what it changes of that stays in ``state``."""

    def whole(given: Given) -> Given:
        return {**{part: given[state].get(part, part.value) for part in kept}, **given}

    def told(given: Given, updates: Updates) -> Updates:
        if updates is NOTHING:
            return NOTHING
        changes = {part: one for part, one in updates.items() if isinstance(part, Kept)}
        shown = {part: one for part, one in updates.items() if part not in changes}
        if changes:
            given[state].update(changes)
            shown[state] = given[state]
        return shown or NOTHING

    @wraps(answer)
    def answered(given: Given, *event: gr.EventData) -> Updates:
        return told(given, answer(whole(given), *event))

    @wraps(answer)
    def streamed(given: Given) -> Iterator[Updates]:
        with closing(answer(whole(given))) as steps:
            for updates in steps:
                yield told(given, updates)

    return streamed if isgeneratorfunction(answer) else answered


class Collected:
    """Values of ``parts`` that the browser sends as one, as that of ``sent``.

    At each step of every event, gradio's script copies all properties of every input that any event had.
    """

    def __init__(self, sent: gr.HTML, parts: Iterable[Any]) -> None:
        self.sent, self.parts = sent, list(parts)

    def spread(self, answer: Callable[[Given], Updates]) -> Callable[[Given], Updates]:
        """Have ``answer`` given these values, too; what is not sent is as on arrival."""

        @wraps(answer)
        def answered(given: Given) -> Updates:
            sent, arrived = given[self.sent], {part: part.value for part in self.parts}
            values = dict(zip(self.parts, sent if isinstance(sent, list) else (), strict=False))
            return answer({**given, **arrived, **values})

        return answered


class Packed:
    """Changes of ``parts`` that come as one text, in ``sent``: the browser spreads it after the next frame.

    For parts that an answer seldom changes, since gradio builds each output of an event anew, changed or not;
    and for those that nobody looks at first.
    """

    def __init__(self, sent: gr.HTML, parts: Iterable[Any]) -> None:
        self.sent, self.parts = sent, list(parts)
        spread = f"Object.assign(Array({len(self.parts)}), JSON.parse(sent).changes)"
        script = f"(sent) => nextFrame().then(() => {spread})"
        on([sent.change], None, [sent], self.parts, PRIVATE, js=script)

    def pack(self, answer: Callable[[Given], Updates]) -> Callable[[Given], Updates]:
        """Have changes of these parts sent so, whatever else ``answer`` changes beside them."""

        @wraps(answer)
        def answered(given: Given) -> Updates:
            updates = answer(given)
            changes = {place: updates[part] for place, part in enumerate(self.parts) if part in updates}
            if not changes:
                return updates
            sent = json.dumps({"changes": changes, "once": secrets.token_hex(8)})  # the same may come again
            return {part: one for part, one in updates.items() if part not in self.parts} | {self.sent: sent}

        return answered


def changed(now: Updates, before: Updates) -> Updates:
    """Leave out the properties that ``before`` has, too; a value stays: a visitor may have chosen anew.

    For a new value alone gradio builds no component.
    """
    left: Updates = {}
    for part, update in now.items():
        same = {*OFFERED, "value"} if isinstance(part, gr.Button) else OFFERED
        known = {name: one for name, one in before.get(part, {}).items() if name in same}
        kept = {name: one for name, one in update.items() if name not in known or one != known[name]}
        if len(kept) > 1:
            left[part] = kept["value"] if kept.keys() == {"__type__", "value"} else kept
    return left


def browser(name: str) -> str:
    """Read a file that runs in the browser."""
    return (FOLDER / name).read_text(encoding="utf-8")


PRELOAD = f'<link rel="modulepreload" href="./assets/{PLOTLY}">'  # of the head


def script() -> str:
    """Join all that runs on the page.

    A file of the folder runs once for each `scripted_html` that names it, when that is on the page. To it,
    ``element`` is that piece, ``props`` holds its value, ``watch("value", ...)`` calls what is given after a
    change of that, and ``trigger(event, data)`` fires the component's event of that name on the server, whose
    function gets ``data`` as attributes of a `gr.EventData`. leaving.js runs before gradio does.
    """
    early = FOLDER / "leaving.js"
    names = sorted({file.stem for file in FOLDER.glob("*.js")} - {"arrival", early.stem})
    runs = (f"{name}(element, trigger, watch, props) {{\n{browser(f'{name}.js')}}}" for name in names)
    return f"{at_once([*SCRIPTS, early])}const scripted = {{ {', '.join(runs)} }};\n"


def plain_html(html: str = "", elem_id: str | None = None, run: str | None = None, **more: Any) -> gr.HTML:
    """Make a piece of HTML, which runs nothing: gradio's own default tells the server of each click."""
    piece = gr.HTML(html, elem_id=elem_id, js_on_load=run, **more)
    vars(piece)["example_payload"] = str  # the page would carry gradio's, of what no program sends, with each
    return piece


def scripted_html(names: str, html: str = "", elem_id: str | None = None, **more: Any) -> gr.HTML:
    """Make a piece of HTML that the files ``names`` of the folder run for, one after the other."""
    runs = (f"scripted.{name}(element, trigger, watch, props)" for name in names.split())
    return plain_html(html, elem_id, "; ".join(runs), **more)


def plot_html(elem_classes: Iterable[str] = (), **more: Any) -> gr.HTML:
    """Make the place of a plot and of the HTML around it, in a card; the plot scrolls where it is larger."""
    more |= {"html_template": "", "apply_default_css": False, "elem_classes": [*elem_classes, "drawn"]}
    return scripted_html("plot", **more)


def watched_html() -> gr.HTML:
    """Make an empty component that fires ``select`` when its value changes and it is in sight."""
    return scripted_html("watched", html_template="", apply_default_css=False)


def hidden_html(elem_id: str | None = None) -> gr.HTML:
    """Make a value that only the browser and the server see; a text box would have the page laid out."""
    return plain_html(elem_id=elem_id, html_template="", apply_default_css=False, visible="hidden")


@dataclass(frozen=True, eq=False)
class Place:
    """The place of an exhibit: HTML above, a plot with HTML below it, and programs, as far as it has them.

    ``name``: of its heading and its plot. Where nothing stands between them, ``above`` is ``plot``, too:
    one component is cheaper for the browser. A plot's value: HTML above it, its figure as JSON, HTML below.
    """

    exhibit: Exhibit[Any]
    name: str
    above: gr.HTML
    plot: gr.HTML | None
    below: gr.HTML | None
    codes: tuple[gr.Code, ...]

    @property
    def parts(self) -> list[Any]:
        """All of it."""
        return [*dict.fromkeys(filter(None, (self.above, self.plot, self.below))), *self.codes]

    def show(self, shown: Shown, say: Texts) -> Updates:
        """Put ``shown`` here."""
        above, below = str(heading_html(shown, self.name, say)), f"{shown.html}{shown.legend}"
        ends: Updates = {self.above: above, self.below: below} if self.below else {self.above: above + below}
        if self.plot:
            figure = shown.figure.to_json() if shown.figure else ""
            ends = {self.above: above, self.plot: (above if self.above is self.plot else "", figure, below)}
        codes = shown.codes or ("",) * len(self.codes)
        return {**ends, **dict(zip(self.codes, codes, strict=True))}


@dataclass(frozen=True, eq=False)
class Places:
    """The exhibits of one panel on the page, and the ``controls`` that stand in their cards."""

    panel: Panel[Any, Any]
    places: tuple[Place, ...]
    controls: Mapping[Control[Any], Widget]
    say: Texts

    @property
    def parts(self) -> list[Any]:
        """Everything that an answer fills."""
        return [part for place in self.places for part in place.parts]

    def show(self, subject: Any, state: State, only: list[Place] | None = None) -> Updates:
        """Show what the panel shows of an answer, or what ``only`` these places do."""
        updates: Updates = {}
        for place in self.places if only is None else only:
            updates |= place.show(place.exhibit.shown(subject, state, self.say), self.say)
        return updates


def build_places(panel: Panel[Any, Any], say: Texts, beside: Build = None, second: Build = None) -> Places:
    """Lay a panel out; what ``beside`` builds stands in the last column of the first row.

    What ``second`` builds stands at the end of the second one.
    """
    made: list[Place] = []
    controls: dict[Control[Any], Widget] = {}
    headed = [exhibit for exhibit in panel.exhibits if exhibit.with_summary]

    def build(exhibit: Exhibit[Any], *styles: str) -> None:
        elsewhere = {*panel.controls, *controls}  # beside all, or in the card of another exhibit
        own = [control for control in exhibit.controls if control not in elsewhere]
        name, summary = exhibit.element or exhibit.name, panel.summary if headed == [exhibit] else None

        def look() -> None:
            with gr.Row(elem_id=f"{name}-look") if len(own) > 1 else nullcontext():
                controls.update({control: build_control(control, say) for control in own})

        classes = ["card" if exhibit.frame == "card" else "", exhibit.style, *styles]
        box: dict[str, Any] = {"elem_id": name, "elem_classes": [one for one in classes if one]}
        folded = exhibit.frame == "folded"
        alone = not (folded or own or summary or exhibit.codes)
        frame = partial(gr.Accordion, say(exhibit.title), open=False) if folded else gr.Column
        with nullcontext() if alone else frame(**box):
            if summary:
                build(summary)
            made.append(build_place(exhibit, name, say, look if own else None, **(box if alone else {})))

    if panel.summary is not None and len(headed) != 1:  # it belongs to all of them, and stands above
        build(panel.summary)
    for number, row in enumerate(panel.rows):
        shown = [exhibit for exhibit in row if "page" in exhibit.where]
        end = second if number == 1 else None
        several = len(shown) > 1 or end is not None
        with gr.Row() if several else nullcontext():
            for exhibit in shown:
                last = beside if exhibit is shown[-1] and number == 0 else None
                width = [f"wide-{exhibit.width}"] if several else []
                side: Any = {"elem_id": f"{panel.key}-side", "elem_classes": ["side", *width]}
                with gr.Column(**side) if last else nullcontext():
                    build(exhibit, *([] if last else width))
                    if last:
                        last()
            if end is not None:
                end()
    return Places(panel, tuple(made), controls, say)


def build_place(exhibit: Exhibit[Any], name: str, say: Texts, controls: Build = None, **box: Any) -> Place:
    """Lay the components of an exhibit out, without what it stands in.

    ``controls`` builds its own, under its heading; ``box``: properties of its HTML where that stands alone.
    """
    plot = below = None
    if exhibit.plotted and controls is None:
        above = plot = plot_html(**box)
    else:
        above = plain_html(**{"elem_classes": ["part"] if exhibit.codes else None, **box})
        if controls is not None:
            controls()
            below = None if exhibit.plotted else plain_html(elem_classes="part")
        plot = plot_html() if exhibit.plotted else None
    more: Any = {"language": "python", "interactive": False, "wrap_lines": True}
    codes = (gr.Code(label=say(key), elem_id=key.rpartition(".")[-1], **more) for key in exhibit.codes)
    return Place(exhibit, name, above, plot, below, tuple(codes))


def build_control(control: Control[Any], say: Texts) -> Widget:
    """Make the component for a control in a card: switch, slider or options in a row."""
    name, label = control.key.replace("_", "-"), say(control.label)
    more: dict[str, Any] = {"label": label, "info": say(control.info) if control.info else None}
    match control.kind:
        case Whole(least, most):
            return gr.Slider(least, most, control.default, step=1, buttons=[], elem_id=name, **more)
        case Switch():
            return gr.Checkbox(control.default, elem_id=name, **more)
        case Choice(options, labels):
            named = [(say(title), option) for title, option in zip(labels, options, strict=True)]
            return gr.Radio(named, value=control.default, elem_id=name, **more)
    raise TypeError(f"{control.key}: a card holds switches, sliders and choices, not {control.kind}")


def text_box(name: str, label: str, hint: str, text: str = "", **more: Any) -> gr.Textbox:
    """Make a box that grows with its text; of one line, so that Enter asks."""
    return gr.Textbox(text, label=label, placeholder=hint, lines=1, max_lines=6, elem_id=name, **more)


def menu(name: str, label: str, choices: list[tuple[str, Any]], value: Any, **more: Any) -> gr.Dropdown:
    """Make a menu of one or several choices, each with what is shown and what is sent.

    What a browser sends need not be one of them: they may have changed by then.
    """
    return gr.Dropdown(choices, value=value, label=label, filterable=False, elem_id=name, **more)


asking_menu = partial(menu, elem_classes="asks")  # a choice asks the question


def state_of(controls: Mapping[Control[Any], Widget], given: Given) -> State:
    """Read what a browser sent, by the key of each control."""
    return {control.key: given[part] for control, part in controls.items()}


class ProgressBar:
    """Progress of an answer: a line of words, a bar, and a button that gives it up."""

    def __init__(self, name: str, say: Texts, apart: bool = False, **button: Any) -> None:
        """Lay it out: nothing is under way. ``apart``: the line is rendered elsewhere, later."""
        self.status = plain_html(elem_id=f"{name}-status", render=not apart)
        self.cancel = gr.Button(say("download.cancel"), interactive=False, elem_id=f"{name}-cancel", **button)
        self.parts: list[Any] = [self.status, self.cancel]

    def busy(self, line: str, step: Progress | Stage | None = None, below: str = "") -> Updates:
        """Say how far it is, None where nothing is known, and let it be given up; ``below`` is HTML."""
        told = render("progress", line=line, step=step)
        return {self.status: f"{told}{below}", self.cancel: gr.update(interactive=True)}

    def idle(self, said: str = "") -> Updates:
        """Say that nothing is under way; ``said`` is HTML."""
        return {self.status: str(said), self.cancel: gr.update(interactive=False)}

    def stopped(self, said: str) -> Updates:
        """Say that it was given up."""
        return self.idle(Markup('<p class="progress" role="status">{}</p>').format(said))

    def connect(
        self, coming: Any, stop: Callable[..., Updates], outputs: list[Any], inputs: Iterable[Any] = ()
    ) -> None:
        """End the event ``coming`` when the button is pressed, and then call ``stop``, which comes last.

        A page sends the events of a click one by one: the first one ends what would overwrite the second.
        """
        self.cancel.click(None, cancels=[coming], api_visibility="private")
        on(self.cancel.click, stop, set(inputs) or [], outputs, AT_ONCE)
