"""The speaker's window: this slide and the next, notes, the clock. The talk's page fills it by its script."""

from __future__ import annotations

from html import escape
from pathlib import Path

import gradio as gr

from components.exhibits.talks import Script, Step, choices_html
from components.exhibits.view import visible
from components.texts import Texts
from components.ui.scripted import scripted_html

STYLE, SCRIPT = (Path(__file__).with_suffix(kind) for kind in (".css", ".js"))
PICTURE = 'srcdoc="<!doctype html>" sandbox="allow-same-origin" inert tabindex="-1"'  # nothing runs in it


def build_speaker(scripts: tuple[Script, ...], say: Texts) -> gr.HTML:
    """What the window holds for all talks, in a template, and the script that opens it."""
    holds = speaker_html(scripts, say)
    title = escape(say("speaker.title"))
    return scripted_html(f'<template data-title="{title}">{holds}</template>', SCRIPT, "talk-speaker")


def speaker_html(scripts: tuple[Script, ...], say: Texts) -> str:
    """The window's content: both slides, the clock, the notes of each slide of each talk, and the bar."""
    title, region = escape(say("speaker.title")), escape(say("speaker.notes"))
    notes = "".join(
        f'<div data-talk="{escape(script.name)}">'
        f"{''.join(_notes(step, say) for step in script.steps)}{_end(say)}</div>"
        for script in scripts
    )
    return (
        f"<style>{STYLE.read_text(encoding='utf-8')}</style><main><h1>{title}</h1>"
        f"{_frame('now', say('speaker.now'))}"
        f'<div id="side">{_frame("next", say("speaker.next"))}{_clock(say)}</div>'
        f'<div id="notes" role="region" tabindex="0" aria-label="{region}">{notes}</div>{_bar(say)}</main>'
    )


def _frame(name: str, title: str) -> str:
    """Where a slide is seen as it is on the talk's window."""
    frame = f'<div class="frame" id="{name}"><iframe title="{escape(title)}" {PICTURE}></iframe></div>'
    return f"<section><h2>{escape(title)}</h2>{frame}</section>"


def _clock(say: Texts) -> str:
    """The time since the first step, what is planned, and how far the speaker is from that, in words."""
    elapsed = escape(say("speaker.elapsed"))
    planned = escape(say("speaker.planned", until="{until}", total="{total}"))
    paces = {
        "stands": say("speaker.stands"),
        "on": say("speaker.on_time"),
        "ahead": say("speaker.ahead", time="{time}"),
        "behind": say("speaker.behind", time="{time}"),
    }
    data = " ".join(f'data-{name}="{escape(said)}"' for name, said in paces.items())
    return (
        f'<div id="clock"><span id="elapsed" role="timer" aria-label="{elapsed}"></span>'
        f'<button type="button" id="reset">{escape(say("speaker.reset"))}</button>'
        f'<p id="pace" {data}></p><p id="planned" data-text="{planned}"></p></div>'
    )


def _notes(step: Step, say: Texts) -> str:
    """What the speaker reads of a slide: its caption, what it asks, and its notes."""
    asks = escape(say("speaker.asks", question=visible(step.question)))
    asked = f'<p class="ask">{asks}</p>{choices_html(step)}' if step.question else ""
    lines = "".join(f"<p>{escape(visible(line))}</p>" for line in step.notes)
    lines = lines or f'<p class="none">{escape(say("speaker.no_notes"))}</p>'
    return (
        f'<section data-minutes="{step.minutes:g}" hidden>'
        f"<h2>{escape(visible(step.caption))}</h2>{asked}{lines}</section>"
    )


def _end(say: Texts) -> str:
    """The same of the slide behind the last step."""
    return f'<section data-minutes="0" hidden><h2>{escape(say("talk.end"))}</h2></section>'


def _bar(say: Texts) -> str:
    """Where the talk is, what can be pressed, and what of it the audience does not see."""
    notices = "".join(
        f'<span id="{name}" hidden>{escape(said)}{more}</span>'
        for name, said, more in (
            ("black", say("speaker.black"), ""),
            ("asking", say("speaker.asking"), ""),
            ("left", say("speaker.left"), ""),
            ("gone", say("speaker.gone"), f" <a>{escape(say('speaker.again'))}</a>"),
        )
    )
    return (
        f'<div id="bar"><p id="alone" role="status">{notices}</p>'
        f'<button type="button" data-key="ArrowLeft" aria-label="{escape(say("talk.previous"))}">‹</button>'
        '<span id="state"></span>'
        f'<button type="button" data-key="ArrowRight" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("speaker.keys"))}</span>'
        f'<button type="button" data-key="b">{escape(say("speaker.blank"))}</button></div>'
    )
