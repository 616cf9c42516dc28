"""Talks: the slides of a Markdown file, each with a caption, a permalink and notes, and their HTML."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits.control import AskedText, Control, State, foreign, from_link, to_link
from components.exhibits.view import render, shorten, visible
from components.texts import Texts

NAMED = re.compile(r"(.*?)\s*\{#([a-z][a-z0-9-]*)\}")  # a title, and the name of the talk in an address
LONGEST = 200  # characters of a sentence on a slide


@dataclass(frozen=True)
class Slide:
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
    """A talk: its ``name`` in an address, its title, its steps, at least one, and what to ``remember``."""

    name: str
    title: str
    steps: tuple[Slide, ...]
    remember: tuple[str, ...] = ()


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
    talks: list[tuple[str, list[list[Block]], list[str]]] = []
    slides, remember = list[list[Block]](), list[str]()  # of the last of them
    for block in _blocks(text):
        if block.tag == "h1" or (block.tag == "h2" and not talks):
            slides, remember = [], []
            talks.append((block.text if block.tag == "h1" else "", slides, remember))
        if block.tag == "h2":
            slides.append([block])
        elif slides:
            slides[-1].append(block)
        elif block.tag == "li":
            remember.append(block.text)
    scripts = []
    for number, (title, slides, remember) in enumerate(talks, 1):
        named = NAMED.fullmatch(title)
        steps = tuple(step for slide in slides if (step := _step(slide, controls, shows)))
        name = named[2] if named else f"talk-{number}"
        scripts.append(Script(name, (named[1] if named else title) or name, steps, tuple(remember)))
    return tuple(script for script in scripts if script.steps)


def _step(
    slide: Sequence[Block], controls: tuple[Control[Any], ...], shows: Mapping[str, State]
) -> Slide | None:
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
    minutes = re.search(r"\d+(\.\d+)?", permalink.text)
    return Slide(
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
            tag = "li" if "li" in tags else tags[-1] if tags else token.tag
            parts = token.children
            if parts and parts[0].type == "link_open":  # what follows a link at the beginning is the text
                end = [part.type for part in parts].index("link_close")
                yield Block(tag, _text(parts[end:]), _text(parts[:end]), str(parts[0].attrs["href"]) or "?")
            else:
                yield Block(tag, token.content if parts is None else _text(parts))  # None: code


def _text(parts: Iterable[Token]) -> str:
    breaks = ("softbreak", "hardbreak")
    return "".join("\n" if part.type in breaks else part.content for part in parts).strip()


def following(texts: list[Control[str]], state: State) -> list[Control[str]]:
    """The controls that take the visitor's own sentences, in order; none where the step sets a text."""
    if any(control.of(state) != control.default for control in texts):
        return []
    return [control for control in texts if isinstance(control.kind, AskedText) and not control.kind.version]


def asked_html(texts: list[Control[str]], state: State, say: Texts) -> Markup:
    """The sentences that a slide is about, as HTML; nothing where it is about none."""
    quoted = ["", ""]  # of both versions
    for control in texts:
        text = control.of(state)
        if text.strip() and isinstance(control.kind, AskedText):
            quoted[control.kind.version] += f" {say('talk.quoted', text=visible(shorten(text, LONGEST)))}"
    lines = " →".join(filter(None, quoted)).strip()
    return Markup('<p class="asked">{}</p>').format(lines) if lines else Markup()


def captions_of(scripts: tuple[Script, ...], say: Texts) -> tuple[Markup, ...]:
    """The captions of all steps, as HTML; before the first of each script stands a choice of them.

    With each the question that stands in its place and the exhibit's until the next key, if any.
    """
    shown = ((script, place, step) for script in scripts for place, step in enumerate(script.steps))
    return tuple(
        render("caption", say, scripts=() if place else scripts, shown=script, step=step)
        for script, place, step in shown
    )


def bar_html(scripts: tuple[Script, ...], asked: Sequence[list[Control[str]]], say: Texts) -> Markup:
    """Show where the talk is, and what can be pressed; a link for each slide, with the keys of own sentences.

    ``asked``: for each step, the controls of its tab that hold texts.
    """
    steps = [(script, step) for script in scripts for step in script.steps]
    links = [
        (script, step, " ".join(control.key for control in following(controls, step.state)))
        for (script, step), controls in zip(steps, asked, strict=True)
    ]
    return render("talk_bar", say, scripts=scripts, steps=links)
