"""The answer to a query: the verdict, and views that are asked for once somebody looks at them.

Frames are the answer at every layer and with every centring. The exhibits draw them once for each answer; the
browser keeps them, so a step of the layer asks no server.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple
from weakref import ref

import gradio as gr
from cachetools import LRUCache, cached
from markupsafe import Markup

from components.analyses.importance import Importance
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits import panels
from components.exhibits.control import Control, State
from components.exhibits.exhibit import Exhibit, Panel, Shown, frames_json, heading_html, hint_html, or_why
from components.exhibits.importance import INTEGRATED, integrates
from components.exhibits.origin import WHENCE, asked_of_read
from components.exhibits.sees import SEES, Sight, turns
from components.exhibits.verdict import BESIDE, mistake
from components.exhibits.view import CENTRED, CENTRINGS, LABEL, LAYER, View, light, render, shorten, visible
from components.menus import full_size
from components.texts import Sentence, Texts
from components.types import Analysis, Progress, Query, Reference
from components.ui import places as on_page
from components.ui.places import AT_ONCE, LAST_OF_MODEL, NOTHING, Given, Kept, Place, Updates, on

TO_ORIGIN = 1.6  # passes, about, for each token of a text, until it is known where an answer comes from
TO_SEES = 0.5  # and until it is known who sees whom
RECENT = 4_000_000  # characters of frames that are kept for whoever asks for the same next
WAYS = "end", "chat"  # what may be typed around a text
Around = tuple[Analyst, Kept, Texts]  # who answers, what holds the last View, and the page's language
Below = Callable[[], Iterable[on_page.Places]]  # lays out other panels, which are filled with a view
PANEL = "panel"  # the key of the control that says which view of the answer is open


class Seen(NamedTuple):
    """Answer that came, or why none did, with what was ``asked``: of which View or query, and its options."""

    asked: Any
    found: Any


class AskedView:
    """A view of an answer that is filled when it is opened, and after each answer while it is open.

    ``shown`` holds the last answer; ``stored`` what was `Seen` in the view, of whichever answer: the browser
    empties all but that, with each. ``watch`` fires after an answer if the view is in sight. ``controls``,
    which may stand elsewhere, are options of what it asks.
    """

    def __init__(
        self, panel: Panel[Any, Any], around: Around, beside: on_page.Build = None, below: Below = tuple
    ) -> None:
        """Lay the view out, within its tab: gradio counts what stands between tabs as tabs.

        What ``beside`` builds stands in the last column of the first row; what ``below`` does, under all.
        """
        self.analyst, self.shown, self.say = around
        self.controls: Mapping[Control[Any], Any] = {}
        with gr.Tab(self.say(panel.title), id=panel.key, elem_id=f"{panel.key}-view") as self.tab:
            self.places = on_page.build_places(panel, self.say, beside)
            self.below = tuple(below())
            self.stored = Kept(self.shown.state)
            self.watch = on_page.watched_html()
        self.first = self.places.places[0].above
        self.emptied = [part for places in (self.places, *self.below) for part in places.parts]
        self.parts: list[Any] = [self.stored, *self.emptied]

    def connect(self, fill: Callable[[Given], Any], events: Iterable[Any] = ()) -> Any:
        """Have ``fill`` called when the view is opened, and at ``events``; gives the event."""
        sent = {self.shown, self.stored, *self.controls.values()}
        asked = [self.tab.select, self.watch.select, *events]
        return on(asked, fill, sent, self.parts, LAST_OF_MODEL, show_progress_on=[self.first])

    def unseen(self, given: Given, *options: object) -> View | None:
        """Give the last answer; None where there was none, or the view shows it with these ``options``."""
        shown, seen = given[self.shown], given[self.stored]
        return None if shown is None or (seen and seen.asked == (ref(shown), *options)) else shown

    def fill(self, given: Given) -> Updates:
        """Ask about the last answer what the panel shows, unless it stands there."""
        state = on_page.state_of(self.controls, given)
        options = [control.of(state) for control in self.controls]
        if (shown := self.unseen(given, *options)) is None:
            return NOTHING
        answered = panels.Answered(self.analyst, shown.analysis, state)
        try:
            subject = self.places.panel.subject(answered)
        except PoolscopeError as error:
            empty: Updates = {**dict.fromkeys(self.emptied, ""), self.stored: None}
            return {**empty, self.first: str(mistake(error, self.say))}
        asked = None if isinstance(subject, Sentence) else (ref(shown), *options)  # a refusal is asked again
        updates = self.put(subject, Seen(asked, None), state)
        for places in self.below:
            updates |= places.show(places.panel.subject(answered), {})
        return updates

    def put(self, subject: Any, seen: Seen, state: State) -> Updates:
        """Show what came."""
        return {self.stored: seen, **self.places.show(subject, state)}


def offered_labels(analysis: Analysis, state: State, say: Texts) -> Any:
    """Offer the labels of an answer, as ``state`` chooses; hidden where there is no choice."""
    first, *_ = analysis.predicted or analysis.labels
    said, chosen = say("view.label_said", label=visible(say.label(first))), LABEL.of(state)
    return gr.update(
        choices=[(said, ""), *((visible(say.label(one)), one) for one in dict.fromkeys(analysis.labels))],
        value=chosen if chosen in analysis.labels else "",
        visible=len(analysis.labels) > 1,
    )


@dataclass(eq=False)
class AskedCard:
    """A card of one exhibit, asked for after each answer where that is quick, else with a click.

    ``passes``: of the text, about, for each of its tokens, until it is known. ``asked``: the question that is
    asked there of an answer's. ``subject``: what the exhibit shows, of an answer and what came. ``controls``
    are options of the question, which what came ``offers`` or not. ``stored`` holds what came last, of
    whichever answer; what is drawn is of the one that is ``shown`` then. ``watch``: see `AskedView`.
    """

    exhibit: Exhibit[Any]
    passes: float
    asked: Callable[[Query], Query]
    subject: Callable[[Analysis, Any], Any]
    around: Around
    offers: Callable[[Any], bool] = lambda _: True

    def __post_init__(self) -> None:
        self.analyst, self.shown, self.say = self.around
        self.name, self.stored = self.exhibit.name, Kept(self.shown.state)
        self.controls = dict[Control[Any], Any]()
        self.place = on_page.build_place(self.exhibit, self.name, self.say, controls=self._asking)
        self.parts: list[Any] = [self.button, *self.controls.values(), *self.place.parts]

    def _asking(self) -> None:
        name, line = f"{self.name}-ask", self.say(f"{self.name}.button")
        self.button = gr.Button(line, visible=False, size="sm", elem_id=name)
        self.controls |= {one: on_page.build_control(one, self.say) for one in self.exhibit.controls}

    def build_watch(self) -> None:
        """Lay out what is not seen, below all that stands beside the card."""
        self.watch = on_page.watched_html()

    def connect(self, tab: Any) -> Any:
        """Ask after each answer and when the ``tab`` is opened; gives the event of a click."""
        sent = {self.shown, self.stored, *self.controls.values()}
        how = {**LAST_OF_MODEL, **on_page.PRIVATE, "concurrency_id": "origin"}
        followed = on([tab.select, self.watch.select], self.follow_card, sent, [self.stored], how)
        clicked = [self.button.click, *(part.input for part in self.controls.values())]
        asked = on(clicked, self.ask_card, sent, [self.stored, self.button], how)
        for coming in (followed, asked):
            on(coming.then, self.draw, sent, self.parts, AT_ONCE)
        return asked

    def offer(self, key: str, analysis: Analysis, before: View | None) -> Updates:
        """Prepare for the answer ``key`` after another; a button says how long it takes, if long."""
        forward, quick = analysis.milliseconds.get("forward", 0.0), light(analysis)
        takes = max(1, round(self.passes * len(analysis.tokens.text) * forward / 1000))
        line = self.say(f"{self.name}.ask", seconds=takes)
        asked = self.asked, panels.asked_of  # for what came, and for what is drawn of the answer beside it
        query, last = analysis.query, before.analysis.query if before else None
        same, drawn = (last is not None and of(last) == of(query) for of in asked)
        seen: dict[str, Any] = {} if same else {"visible": not quick}
        hidden = quick and before is not None and light(before.analysis)  # and stays so
        button = {} if hidden else {self.button: gr.update(value=line, interactive=True, **seen)}
        if same:
            return button if drawn else {self.watch: key, **button}
        lead = self.say(f"{self.name}.{'coming' if quick else 'lead'}")
        shown = Shown(self.say(self.exhibit.title), above=hint_html(lead))
        return {self.watch: key, **button, **self.place.show(shown, self.say)}

    def follow_card(self, given: Given) -> Updates:
        """Ask where it is quick."""
        shown: View | None = given[self.shown]
        if shown is None or not light(shown.analysis):
            return NOTHING
        *_, last = self.ask_card(given)
        return last

    def ask_card(self, given: Given) -> Iterator[Updates]:
        """Ask about the last answer, unless that is known."""
        shown, stored, options = given[self.shown], given[self.stored], on_page.state_of(self.controls, given)
        query = self.asked(shown.analysis.query) if shown else None
        if query is None or (stored and stored.asked == (query, options)):
            yield NOTHING
            return
        yield {self.button: gr.update(value=self.say(f"{self.name}.coming"), interactive=False)}
        found: Any = None
        try:
            with closing(self.analyst.ask_in_parts(self.name, query, **options)) as steps:
                for found in steps:
                    if isinstance(found, Progress):
                        part = self.say("origin.part", done=found.done, total=found.total)
                        yield {self.button: gr.update(value=part)}
        except PoolscopeError as error:
            found = error.sentence
        yield {self.stored: Seen((query, options), found)}

    def draw(self, given: Given) -> Updates:
        """Show what came, if it is of the answer that is shown by now."""
        shown, stored = given[self.shown], given[self.stored]
        if not (shown and stored) or stored.asked[0] != self.asked(shown.analysis.query):
            return NOTHING
        drawn = self.exhibit.shown(self.subject(shown.analysis, stored.found), {}, self.say)
        offered = dict.fromkeys(self.controls.values(), gr.update(visible=self.offers(stored.found)))
        return {self.button: gr.update(visible=False), **offered, **self.place.show(drawn, self.say)}


class Detective:
    """The search for what made a pasted vector or score, asked with a click, below what padding changes.

    ``name``: of the analysis, whose options are the ``boxes``; the text and the backbone are those ``shown``.
    ``found`` shows what made it.
    """

    def __init__(self, name: str, panel: Panel[Any, Any], boxes: Sequence[str], around: Around) -> None:
        self.name, (self.analyst, self.shown, say) = name, around
        hint, card = say(f"detective.{name}_hint"), f"{panel.key}-card"
        with gr.Column(elem_id=card, elem_classes=["card", "numbers"]):
            heading = heading_html(Shown(say(panel.title), hint), card, say)
            on_page.plain_html(f"{heading}{hint_html(hint)}")
            with gr.Row(elem_classes="detective-ask"):
                self.boxes = {
                    box: on_page.text_box(box, say(f"detective.{box}"), say(f"detective.{box}_hint"))
                    for box in boxes
                }
                self.button = gr.Button(say("detective.ask"), elem_id=name, variant="primary")
            self.found = on_page.build_places(panel, say)
        asked = [self.button.click, *(box.submit for box in self.boxes.values())]
        how = {**LAST_OF_MODEL, "show_progress_on": [self.found.places[0].above]}
        on(asked, self.detect_made, {self.shown, *self.boxes.values()}, self.found.parts, how)

    def detect_made(self, given: Given) -> Updates:
        """Find what made it of the last answer's text."""
        shown, options = given[self.shown], {name: given[box] for name, box in self.boxes.items()}
        if shown is None:  # the last question had no answer
            return NOTHING
        query = panels.own_of(shown.analysis.query)
        return self.found.show(or_why(lambda: self.analyst.ask(self.name, query, **options)), {})


class ImportanceView(AskedView):
    """The view of importance. Labels come with answers."""

    def __init__(self, around: Around) -> None:
        super().__init__(panels.IMPORTANCE, around, self._beside)
        self.parts = [*self.bar.parts, *self.controls.values(), *self.parts]
        self.emptied += [self.bar.status]
        events = self.controls[LABEL].blur, self.controls[INTEGRATED].input
        coming = self.connect(self.ask_importance, events)
        self.bar.connect(coming, self.stopped, self.parts)

    def _beside(self) -> None:
        with gr.Column(elem_id="importance-look", elem_classes="card"):
            label = on_page.menu("importance-label", self.say(LABEL.label), [("", "")], "")
            self.controls = {LABEL: label, INTEGRATED: on_page.build_control(INTEGRATED, self.say)}
            self.bar = on_page.ProgressBar("importance", self.say)

    def show(self, found: Importance, of: View, state: State) -> Updates:
        """Show what came."""
        return {**self.put(found, Seen((ref(of), LABEL.of(state)), found), state), **self.bar.idle()}

    def stopped(self) -> Updates:
        """Say that it was given up: the rest stays."""
        return {**self.bar.stopped(self.say("matters.stopped")), self.controls[INTEGRATED]: "off"}

    def ask_importance(self, given: Given) -> Iterator[Updates]:
        """Ask about the last answer what is not shown by now: what is quick, then integrated gradients."""
        shown: View | None = given[self.shown]
        if shown is None:
            yield NOTHING
            return
        state = on_page.state_of(self.controls, given)
        label, integrated = LABEL.of(state), integrates(shown.analysis, state)
        known = None if self.unseen(given, label) else given[self.stored].found
        if known is not None and (known.integrated is not None) == integrated:
            yield NOTHING
            return
        asked = panels.asked_of(shown.analysis.query)
        try:
            if not integrated:
                yield self.show(panels.importance_of(self.analyst, shown.analysis, state), shown, state)
                return
            with closing(self.analyst.ask_in_parts("importance", asked, label=label)) as steps:
                for step in steps:
                    if isinstance(step, Progress):
                        line = self.say("matters.integrating", done=step.done, total=step.total)
                        yield self.bar.busy(line, step)
                    elif step.integrated is not None or known is None:
                        yield self.show(step, shown, state)
        except PoolscopeError as error:
            yield {**self.put(error.sentence, Seen(None, None), {}), **self.bar.idle()}


def key_of(analysis: Analysis) -> str:
    """Name an answer for the browser: answers with the same key look the same."""
    cosines = (analysis.cosines(centring).tobytes() for centring in CENTRINGS)
    parts = (repr(analysis.query).encode("utf-8", "surrogatepass"), *cosines)
    return blake2b(b"".join(parts), digest_size=12).hexdigest()


class Answer:
    """The components of the answer; ``shown`` holds the last View as it was answered, None before the first.

    ``answered``: its `key_of`, for the browser, whose ``layer`` may be of an answer before it. ``frames``:
    what it shows at each layer, as JSON; ``recent``: those of recent answers, since many visitors of a room
    look at the same one. ``panels``: of the answer itself. ``lasting``: how it is looked at, but for the
    layer, which the next answer keeps; ``set``: with all that else is asked of it; ``looks``: those that do
    not come with each answer. ``all``: what each answer may change; ``often``: what most of them do.
    """

    def __init__(self, analyst: Analyst, state: gr.State, say: Texts) -> None:
        self.say, self.shown = say, Kept(state)
        around = analyst, self.shown, say
        listed = [spec for spec in analyst.backbones() if spec.source == "hub"]
        self.analyst, self.full = analyst, {spec.task: spec.key for spec in reversed(listed)}
        self.recent: LRUCache[Any, str] = LRUCache(RECENT, getsizeof=len)
        self.lock = threading.Lock()
        summary, token_view = on_page.build_places(panels.ANSWER, say), panels.TOKENS
        self.verdict = summary.places[0].above
        self.verdict.value = str(render("waiting", said=say("verdict.waiting")))
        with gr.Row(elem_id="ways"):
            hidden: dict[str, Any] = {"visible": False, "size": "sm"}
            self.ways = {name: gr.Button("", elem_id=f"way-{name}", **hidden) for name in WAYS}
        with (
            gr.Column(visible=False, elem_id="answer") as self.area,
            gr.Tabs(overflow_behavior="wrap", elem_id="views") as self.views,
        ):
            name = token_view.key
            with gr.Tab(say(token_view.title), id=name, elem_id=f"{name}-view") as tokens:
                cards = partial(self._beside, around), partial(self._seeing, around)
                self.panels = summary, on_page.build_places(token_view, say, *cards)
            self.head, self.importance = AskedView(panels.HEAD, around), ImportanceView(around)
            self.plain = [self._plain_view(panel, around) for panel in panels.views()]
        self.answered, self.frames = on_page.hidden_html("answered"), on_page.hidden_html("frames")
        self.asked = self.head, self.importance, *self.plain
        self.tabs = [tokens, *(view.tab for view in self.asked)]
        self.label = self.importance.controls[LABEL]
        self.lasting = {CENTRED: self.centred, **self.sees.controls, LABEL: self.label}
        self.set: Mapping[Control[Any], Any] = {**self.lasting, **self.importance.controls}
        self.looks = {control: part for control, part in self.set.items() if part is not self.label}
        places, looks = [place for panel in self.panels for place in panel.places], {LAYER, CENTRED}
        self.looked_at = [place for place in places if looks & {*place.exhibit.controls}]
        self.later = [one for one in self.looked_at if one.exhibit.frame == "folded"]  # comes with the frames
        self.cards = self.origin, self.sees
        menus = [self.layer, self.reference, self.label, self.importance.tab]
        self.often = [self.origin.watch, *self.origin.place.parts]
        self.often += [part for place in places if place not in self.later for part in place.parts]
        self.all: list[Any] = [self.shown, self.answered, self.area, *menus, *self.ways.values()]
        self.all += [part for panel in self.panels for part in panel.parts]
        self.all += [part for card in self.cards for part in (card.watch, card.button, *card.place.parts)]

    def _beside(self, around: Around) -> None:
        with gr.Column(elem_id="origin", elem_classes="card"):
            self.origin = AskedCard(WHENCE, TO_ORIGIN, panels.asked_of, lambda _, found: found, around)
        # The layers and tokens to choose from come with each answer.
        with gr.Column(elem_id="view", elem_classes="card"):
            self.layer = gr.Slider(0, 1, 1, step=1, label=self.say(LAYER.label), buttons=[], elem_id="layer")
            title, offered = self.say("view.reference"), [("cls", "cls")]
            self.reference = on_page.asking_menu("reference", title, offered, "cls")
            self.centred = on_page.build_control(CENTRED, self.say)
        self.origin.build_watch()

    def _seeing(self, around: Around) -> None:
        with gr.Column(elem_id="sees", elem_classes="card", scale=SEES.width, min_width=300):
            self.sees = AskedCard(SEES, TO_SEES, panels.own_of, Sight, around, turns)
            self.sees.build_watch()

    def _plain_view(self, panel: Panel[Any, Any], around: Around) -> AskedView:
        def below() -> Iterator[on_page.Places]:
            if panel is panels.PADDING:
                yield on_page.build_places(panels.MATCHES, self.say)
                self.detectives = [
                    Detective("detect", panels.DETECTIVE, ("vector", "prefix"), around),
                    Detective("detect_score", panels.SCORES, ("scores",), around),
                ]

        return AskedView(panel, around, below=below)

    def connect(self) -> None:
        """Ask for the views that somebody opens, and let the browser draw each answer at every layer."""
        clicked = [card.connect(self.tabs[0]) for card in self.cards]  # given up with the next answer
        self.head.controls = {LABEL: self.label}  # at which its lens is pointed
        for view in (self.head, *self.plain):
            view.connect(view.fill)
        emptied = [part for view in self.asked for part in view.emptied]
        emptied += [part for one in self.detectives for part in one.found.parts]
        watches = [view.watch for view in self.asked]
        script = f"(key) => [...Array({len(emptied)}).fill(''), ...Array({len(watches)}).fill(key)]"
        self.answered.change(None, self.answered, [*emptied, *watches], js=script, **on_page.PRIVATE)
        more: Any = {"cancels": clicked, "js": "allDrawn"}
        on([self.answered.change], self.send_frames, {self.shown}, [self.frames], AT_ONCE, **more)
        drawn = [part for place in self.looked_at for part in place.parts]
        script = f"(...given) => drawFrames({len(drawn)}, ...given)"
        sent = [self.frames, self.answered, self.layer, self.centred]
        moved = [self.layer.input, self.centred.input, self.frames.change]
        on(moved, None, sent, drawn, on_page.PRIVATE, js=script, trigger_mode="multiple")  # in the browser

    def show(self, answered: panels.Answered, state: State, before: Given) -> Updates:
        """Show a new answer, which is looked at as ``state`` says; the rest is asked later.

        ``before``: what is known of what was shown; what stands there already is not sent again.
        """
        view, old = View.of(answered.analysis, state), before.get(self.shown)
        key = key_of(view.analysis)
        updates: Updates = {self.shown: view, self.answered: key}
        updates |= on_page.changed(self._menus(view, state), self._menus(old, state) if old else {})
        if old is None:
            updates[self.area] = gr.update(visible=True)
        beside = {BESIDE: self._full_size(view.analysis)}
        for panel in self.panels:
            now = [place for place in panel.places if place not in self.later]
            updates |= panel.show(panel.panel.subject(answered), {**state, **beside}, now)
        updates |= {part: "" for place in self.later for part in place.parts}  # no number of an answer before
        for card in self.cards:
            updates |= card.offer(key, view.analysis, old)
        return updates

    def _full_size(self, analysis: Analysis) -> Markup:
        """Link from a miniature to the first full-size model that is listed for its task, if there is any."""
        bundled, key = analysis.backbone.source == "bundled", self.full.get(analysis.backbone.task)
        if not bundled or key is None:  # to look at the files of all others takes as long as to answer
            return Markup()
        return full_size(analysis.query, self.analyst.find(key), self.analyst.online, self.say)

    def _menus(self, view: View, state: State) -> Updates:
        last, chosen = view.analysis.layers, str(view.analysis.query.reference)
        info = self.say("view.layer_info", last=last)
        return {
            **self._written(view.analysis),
            self.layer: gr.update(maximum=last, value=view.layer, info=info),
            self.reference: gr.update(choices=_references(view, self.say), value=chosen),
            self.label: offered_labels(view.analysis, state, self.say),
            self.importance.tab: gr.update(label=asked_of_read("view.importance", view.analysis, self.say)),
        }

    def _written(self, analysis: Analysis) -> Updates:
        """Offer what may be typed around the text, or left out again."""
        updates, asked = {}, (analysis.query.text, analysis.query.text_pair)
        for name, button in self.ways.items():
            longer, shorter = analysis.ways.get(name), analysis.ways.get(f"no_{name}")
            added = visible("".join(longer or asked)[len("".join(shorter or asked)) :])  # the end token
            line = self.say(f"ways.{name}" if longer else f"ways.no_{name}", added=added)
            updates[button] = gr.update(value=line, visible=bool(longer or shorter))
        return updates

    def refuse(self, error: PoolscopeError) -> Updates:
        """Say why a query cannot be answered, and leave no half-drawn screen."""
        emptied: list[Any] = [self.answered, *(card.watch for card in self.cards)]  # the same may come next
        said = {**dict.fromkeys(emptied, ""), self.shown: None, self.verdict: str(mistake(error, self.say))}
        return {**said, **dict.fromkeys([self.area, *self.ways.values()], gr.update(visible=False))}

    def look(self, state: State) -> Updates:
        """Set how the answer is looked at, but for what it brings with it, to what ``state`` says."""
        return {part: control.of(state) for control, part in self.looks.items()}

    def await_next(self, reference: Reference, state: State) -> Updates:
        """Prepare what is hidden where there is no answer: the next one is looked at as ``state`` says."""
        offered = [("cls", "cls"), (self.say("view.reference_pooled"), "pooled")]
        kept = "cls" if isinstance(reference, int) else reference  # an index means nothing without tokens
        label = LABEL.of(state)
        labels = gr.update(choices=[("", ""), (visible(label), label)], value=label)
        references = gr.update(choices=offered, value=kept)
        return {self.reference: references, self.label: labels, **self.look(state)}

    def send_frames(self, given: Given) -> Updates:
        """Send the frames of the last answer; those of a visitor's own head, with their labels, are not kept.

        Several threads may ask.
        """
        shown: View | None = given[self.shown]
        if shown is None:  # the last question had no answer
            return NOTHING
        analysis = shown.analysis

        def parts(place: Place, seen: State) -> list[Any]:
            drawn = place.show(place.exhibit.shown(analysis, seen, self.say), self.say)
            return [drawn[part] for part in place.parts]

        def frames() -> str:
            drawings = ((partial(parts, place), place.exhibit.controls) for place in self.looked_at)
            return frames_json(drawings, analysis, {}, key_of(analysis))

        keep = cached(self.recent, key=lambda: key_of(analysis), lock=self.lock)
        return {self.frames: frames() if analysis.query.mine else keep(frames)()}

    def is_seen(self, shown: View, given: Given) -> bool:
        """Tell whether what was sent is of this answer; else its slider and tokens are of one before."""
        return bool(given[self.answered] == key_of(shown.analysis))

    def layer_in(self, given: Given) -> int:
        """Read the layer that a browser looks at, -1 for the last; who looks at that one goes on doing so."""
        shown: View | None = given[self.shown]
        if shown is None:
            return LAYER.default
        last, layer, sent = shown.analysis.layers, shown.layer, given[self.layer]
        if self.is_seen(shown, given):
            layer = min(max(int(sent), 0), last) if isinstance(sent, int | float) else last
        return LAYER.default if layer == last else layer


def _references(view: View, say: Texts) -> list[tuple[str, str]]:
    tokens, labels = view.analysis.tokens, [shorten(label, 24) for label in view.labels]
    named = "view.reference_cls" if tokens.special[tokens.cls] else "view.reference_stand_in"
    first = [(say(named, token=labels[tokens.cls]), "cls"), (say("view.reference_pooled"), "pooled")]
    token = "view.reference_token"
    return first + [(say(token, index=place, token=one), str(place)) for place, one in enumerate(labels)]
