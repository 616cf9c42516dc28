"""Talks: the slides of a Markdown file, each with a caption, a permalink and notes, and their HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from components.errors import PoolscopeError
from components.exhibits.control import Asked, Control, State, foreign, from_link, to_link
from components.exhibits.view import shorten, visible
from components.texts import Texts

NAMED = re.compile(r"(.*?)\s*\{#([a-z][a-z0-9-]*)\}")  # a title, and the name of the talk in an address
NUMBER = re.compile(r"\d+(\.\d+)?")
BREAKS = ("softbreak", "hardbreak")


@dataclass(frozen=True)
class Step:
    """A slide: its caption, which exhibit is shown, and of which state.

    ``link``: the query of a link to that state on the page, in the tab where the exhibit stands.
    ``question``: stands there first, with its ``choices``; "" for none. ``notes``: paragraphs for the speaker
    alone. ``minutes`` are planned; 0 for none.
    """

    caption: str
    question: str
    choices: tuple[str, ...]
    show: str
    state: State
    link: str
    minutes: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Script:
    """A talk: its ``name`` in an address, its title, and its steps, at least one."""

    name: str
    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph or an item of a list: its HTML ``tag`` and its text, with its own lines.

    ``target``: where the link leads that it begins with, whose text is ``shown``; "" where there is none.
    """

    tag: str
    text: str
    shown: str = ""
    target: str = ""


def read_talks(
    path: Path, language: str, controls: Iterable[Control[Any]], shows: Mapping[str, State]
) -> tuple[Script, ...]:
    """The talks in a file, or in that of a folder for ``language``, such as zh.md, or else in its first.

    ``shows``: what may be shown, and where on the page that stands. A slide about what is not here, such as a
    backbone that this catalogue does not list, is left out, and so is a talk without slides. PoolscopeError
    names what is wrong with the first slide that is none.
    """
    files = sorted(path.glob("*.md")) if path.is_dir() else [path]
    if not files:
        return ()
    file = next((one for one in files if one.stem == language), files[0])
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PoolscopeError("talk", str(file), "talk.file", reason=str(error)) from error
    return parse_talks(text, tuple(controls), shows)


def parse_talks(
    text: str, controls: tuple[Control[Any], ...], shows: Mapping[str, State]
) -> tuple[Script, ...]:
    """The talks that ``text`` holds, as Markdown; like `read_talks`."""
    talks: list[tuple[str, list[list[Block]]]] = []
    for block in _blocks(text):
        if block.tag == "h1":
            talks.append((block.text, []))
        elif block.tag == "h2":
            talks = talks or [("", [])]
            talks[-1][1].append([block])
        elif talks and talks[-1][1]:
            talks[-1][1][-1].append(block)
    scripts = []
    for number, (title, slides) in enumerate(talks, 1):
        named = NAMED.fullmatch(title)
        steps = tuple(step for slide in slides if (step := _step(slide, controls, shows)))
        name = named[2] if named else f"talk-{number}"
        scripts.append(Script(name, (named[1] if named else title) or name, steps))
    return tuple(script for script in scripts if script.steps)


def _step(
    slide: Sequence[Block], controls: tuple[Control[Any], ...], shows: Mapping[str, State]
) -> Step | None:
    """The step that the blocks of a slide are; None for one about what is not here."""
    field = f"talk, {slide[0].text}"
    place = next((place for place, block in enumerate(slide) if block.target), None)
    if place is None:
        raise PoolscopeError(field, None, "talk.link")
    before, permalink, after = slide[1:place], slide[place], slide[place + 1 :]
    if permalink.shown not in shows:
        raise PoolscopeError(field, permalink.shown, "errors.allowed", allowed=tuple(shows))
    query, keys = urlsplit(permalink.target).query, tuple(control.key for control in controls)
    for key in parse_qs(query, keep_blank_values=True):
        if key not in keys and not foreign(key):
            raise PoolscopeError(field, key, "errors.allowed", allowed=keys)
    state, faults = from_link(query, controls)
    if faults:
        return None
    arrival = {control.key: control.default for control in controls}
    there = {key: value for key, value in shows[permalink.shown].items() if state[key] == arrival[key]}
    minutes = NUMBER.search(permalink.text)
    return Step(
        caption=slide[0].text,
        question=" ".join(block.text for block in before if block.tag != "li"),
        choices=tuple(block.text for block in before if block.tag == "li"),
        show=permalink.shown,
        state=state,
        link=to_link({**state, **there}, controls),
        minutes=float(minutes[0]) if minutes else 0.0,
        notes=tuple(line for block in after for line in block.text.splitlines()),
    )


def _blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text in order. HTML in it is text like any other."""
    tags: list[str] = []
    for token in MarkdownIt("commonmark", {"html": False}).parse(text):
        if token.nesting == 1:
            tags.append(token.tag)
        elif token.nesting == -1:
            tags.pop()
        elif token.content:
            yield _block("li" if "li" in tags else tags[-1] if tags else token.tag, token)


def _block(tag: str, token: Token) -> Block:
    """The block that a token with text is; what follows a link at its beginning is its text."""
    parts = token.children
    if parts is None:  # code
        return Block(tag, token.content)
    if not parts or parts[0].type != "link_open":
        return Block(tag, _text(parts))
    end = [part.type for part in parts].index("link_close")
    return Block(tag, _text(parts[end:]), _text(parts[:end]), str(parts[0].attrs["href"]) or "?")


def _text(parts: Iterable[Token]) -> str:
    """The text of parts of a line, without their marks."""
    return "".join("\n" if part.type in BREAKS else part.content for part in parts).strip()


LONGEST = 200  # characters of a sentence on a slide
AS_LARGE = 150  # characters of a question and its choices that are as large as can be

KEYS = {  # what the script listens to, and the text that says what for
    "talk.next": ("→", "PageDown", "Space"),
    "talk.previous": ("←", "PageUp"),
    "talk.ends": ("Home", "End"),
    "talk.jump": ("1", "2", "…", "Enter"),
    "talk.overview": ("O", "Esc Esc"),
    "talk.blank": ("B",),
    "talk.full": ("F",),
    "talk.speaker": ("S",),
    "talk.list": ("?",),
    "talk.leave": ("Esc", "T"),
}


def following(texts: list[Control[str]], state: State) -> list[Control[str]]:
    """The controls that take the visitor's own sentences, in order; none where the step sets a text."""
    if any(control.of(state) != control.default for control in texts):
        return []
    return [control for control in texts if isinstance(control.kind, Asked) and not control.kind.version]


def asked_html(texts: list[Control[str]], state: State, say: Texts) -> str:
    """The sentences that a slide is about, as HTML; "" where it is about none."""
    quoted = ["", ""]  # of both versions
    for control in texts:
        text = control.of(state)
        if text.strip() and isinstance(control.kind, Asked):
            quoted[control.kind.version] += f" {say('talk.quoted', text=shorten(visible(text), LONGEST))}"
    lines = escape(" →".join(filter(None, quoted)).strip())
    return f'<p class="asked">{lines}</p>' if lines else ""


def captions_of(scripts: tuple[Script, ...], say: Texts) -> tuple[str, ...]:
    """The captions of all steps, as HTML; before the first of each script stands a choice of them.

    With each the question that stands in its place and the exhibit's until the next key, if any.
    """
    captions = []
    for script in scripts:
        for number, step in enumerate(script.steps):
            choice = _choice(scripts, script, say) if number == 0 else ""
            caption = f'<h2 class="caption">{escape(step.caption)}</h2>'
            captions.append(f"{choice}{caption}{question_html(step)}")
    return tuple(captions)


def question_html(step: Step) -> str:
    """The question of a step, with the choices that it offers, as HTML; "" where it asks nothing."""
    if not step.question:
        return ""
    size = min(1.0, (AS_LARGE / (len(step.question) + sum(map(len, step.choices)))) ** 0.5)
    asked = escape(visible(step.question))
    return f'<div class="question" style="--size: {size:.2f}"><p>{asked}</p>{choices_html(step)}</div>'


def choices_html(step: Step, more: str = "") -> str:
    """The choices of a step, as HTML; "" for none. ``more``: attributes of their list."""
    items = "".join(f"<li>{escape(visible(one))}</li>" for one in step.choices)
    return f'<ul class="choices"{more}>{items}</ul>' if items else ""


def _choice(scripts: tuple[Script, ...], shown: Script, say: Texts) -> str:
    """A button for each talk, as HTML; "" where there is but one."""
    if len(scripts) == 1:
        return ""
    buttons = "".join(
        f'<button type="button" data-open="{escape(script.name)}" '
        f'aria-current="{str(script is shown).lower()}">'
        f"{escape(visible(script.title))}</button>"
        for script in scripts
    )
    return f'<nav class="talks" aria-label="{escape(say("talk.talks"))}">{buttons}</nav>'


def bar_html(scripts: tuple[Script, ...], asked: Sequence[list[Control[str]]], say: Texts) -> str:
    """Where the talk is, and what can be pressed; a link for each slide, with the keys of own sentences.

    ``asked``: for each step, the controls of its tab that hold texts.
    """
    steps, opened = [step for script in scripts for step in script.steps], escape(say("talk.open"))
    texts = [
        " ".join(one.key for one in following(controls, step.state))
        for step, controls in zip(steps, asked, strict=True)
    ]
    of = [script.name for script in scripts for _ in script.steps]
    links = "".join(
        f'<a hidden href="?{escape(step.link)}" data-of="{escape(name)}" data-texts="{keys}"'
        f"{' data-asks' if step.question else ''}>{opened}</a>"
        for step, name, keys in zip(steps, of, texts, strict=True)
    )
    links += f'<a hidden href="?" data-texts="text pair">{opened}</a>'
    overview = "".join(_overview(scripts, script, say) for script in scripts)
    return (
        f'<button type="button" data-talk="previous" aria-label="{escape(say("talk.previous"))}">‹</button>'
        '<span role="status"></span>'
        f'<button type="button" data-talk="next" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("talk.keys"))}</span>{links}'
        f'<button type="button" data-talk="overview">{escape(say("talk.slides"))}</button>'
        f'<button type="button" data-talk="shortcuts" aria-label="{escape(say("talk.list"))}">?</button>'
        f'<button type="button" data-talk="leave">{escape(say("talk.leave"))}</button>'
        + _dialog("overview", "talk.slides", overview, say)
        + _dialog("shortcuts", "talk.list", _keys(say), say)
    )


def _dialog(name: str, title: str, html: str, say: Texts) -> str:
    """What lies above the slides while it is wanted; ``html`` goes below its title."""
    heading = f'<h2 id="talk-{name}">{escape(say(title))}</h2>'
    close = f'<button type="button" data-talk="close">{escape(say("link.close"))}</button>'
    return f'<dialog class="{name}" aria-labelledby="talk-{name}"><div>{heading}{html}{close}</div></dialog>'


def _overview(scripts: tuple[Script, ...], shown: Script, say: Texts) -> str:
    """All slides of one script by their captions, under the choice of talks."""
    captions = [*(step.caption for step in shown.steps), say("talk.end")]
    items = (
        f'<li><button type="button" data-slide="{number}">{escape(caption)}</button></li>'
        for number, caption in enumerate(captions, start=1)
    )
    choice, name = _choice(scripts, shown, say), escape(shown.name)
    printing = f'<button type="button" data-talk="print">{escape(say("talk.print"))}</button>'
    return f'<div data-slides-of="{name}" hidden>{choice}<ol>{"".join(items)}</ol>{printing}</div>'


def _keys(say: Texts) -> str:
    """What each key does."""
    rows = (
        f"<dt>{' '.join(f'<kbd>{key}</kbd>' for key in keys)}</dt><dd>{escape(say(text))}</dd>"
        for text, keys in KEYS.items()
    )
    return f"<dl>{''.join(rows)}</dl>"
