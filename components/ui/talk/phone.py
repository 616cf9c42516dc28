"""The page of a phone in the room: the question and its choices, the slide, and the way to the app."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import gradio as gr

from components.exhibits.draw.labels import visible
from components.exhibits.script import Script, Step
from components.texts import Texts, languages, load_texts
from components.ui.gradio_internals import scripted_html

STYLE, SCRIPT = (Path(__file__).with_suffix(kind).read_text(encoding="utf-8") for kind in (".css", ".js"))
LEADER = Path(__file__).with_name("room.js")


def phone_page(scripts: Iterable[Script], say: Texts) -> str:
    """The page in one language, with its style, its script and what is said of every slide."""
    tag, title = say.language.tag, escape(say("room.title"))
    talks = {one.name: [*(_told(step, tag) for step in one.steps), _end(say)] for one in scripts}
    links = " · ".join(
        f'<a href="?lang={other}" lang="{other}"{" aria-current=true" if other == tag else ""}>'
        f"{escape(load_texts(other).language.name)}</a>"
        for other in languages()
    )
    data = _json({"talks": talks, "said": _said(say)})
    return (
        f'<!doctype html><html lang="{tag}"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head><body><header><h1>{title}</h1>"
        f'<nav aria-label="{escape(say("page.languages"))}">{links}</nav></header>'
        f'<main><p id="where" role="status"></p><section id="slide" hidden><h2 id="caption"></h2>'
        f'<div id="choices" role="group" aria-labelledby="caption"></div><p id="voted" role="status"></p>'
        f'<a id="try">{escape(say("room.try"))}</a></section></main>'
        f'<footer><button type="button" id="follow"></button>'
        f'<button type="button" id="theme">{escape(say("room.theme"))}</button>'
        f"<p>{escape(say('room.kept'))}</p></footer>"
        f'<script type="application/json" id="talks">{data}</script>'
        f"<script>{SCRIPT}</script></body></html>"
    )


def build_leader(scripts: Iterable[Script], say: Texts) -> gr.HTML:
    """What tells the phones where this talk is, if this browser leads them, and shows their tally."""
    known = list(scripts)
    choices = {one.name: [step.offered(say.language.tag) for step in one.steps] for one in known}
    said = {
        "join": say("room.join"),
        "votes": say("room.votes", votes="{votes}"),
        "share": share_text(say),
        "tally": say("room.tally"),
    }
    data = escape(json.dumps({"choices": choices, "said": said}))
    return scripted_html(f'<i hidden data-room="{data}"></i>', LEADER, "talk-room")


def room_link(link: object) -> object:
    """The address of the room for one of a page; what is no address is given back."""
    return urljoin(link, "room") if isinstance(link, str) else link


def _said(say: Texts) -> dict[str, str]:
    """What a phone says of where it is; what the script fills in stands in braces."""
    return {
        "before": say("room.before"),
        "away": say("room.away"),
        "unreached": say("room.unreached"),
        "slide": say("room.slide", step="{step}", total="{total}"),
        "vote": say("room.vote"),
        "counted": say("room.counted"),
        "aloud": say("room.aloud"),
        "follow": say("room.follow"),
        "leave": say("room.leave"),
        "share": share_text(say),
    }


def share_text(say: Texts) -> str:
    """What is said of the votes for a choice, to fill in by a script."""
    return say("room.share", choice="{choice}", votes="{votes}", total="{total}")


def _told(step: Step, tag: str) -> dict[str, Any]:
    """What a phone shows of a step."""
    return {
        "caption": visible(step.said(tag)),
        "ask": visible(step.asked(tag)),
        "choices": [visible(one) for one in step.offered(tag)],
        "link": f"./?{step.link}&lang={tag}" if step.link else f"./?lang={tag}",
    }


def _end(say: Texts) -> dict[str, Any]:
    """The same of the slide behind the last step."""
    link = f"./?lang={say.language.tag}"
    return {"caption": say("talk.end"), "ask": "", "choices": [], "link": link}


def _json(data: object) -> str:
    """JSON that ends no script."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
