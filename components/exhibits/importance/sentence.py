"""Which token matters when it is replaced, where the one most like [CLS] comes then, and how both agree."""

from __future__ import annotations

from html import escape

from components.analyses.importance import Importance
from components.exhibits.control import State
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.exhibit import Exhibit, Shown, strong_html, token_html
from components.exhibits.importance.bars import rho_text
from components.exhibits.importance.methods import Methods
from components.exhibits.view import View, reference_name
from components.texts import Sentence, Texts


def sentence(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """The answer in words, and what could not be had, unless the verdict says so; or why there is none."""
    if isinstance(given, Sentence):
        said = escape(say("matters.refused", reason=visible(given.said(say))))
        return Shown(html=f'<p class="way finding">{said}</p>')
    methods = Methods(given)
    lines = (
        [say("matters.random")] if methods.analysis.random else [_erased(methods, say), _near(methods, say)]
    )
    more = (warning for warning in given.warnings if warning not in methods.analysis.warnings)
    notes = "".join(f"<li>{escape(visible(warning.said(say)))}</li>" for warning in more)
    notices = f'<div class="notices"><ul>{notes}</ul></div>' if notes else ""
    return Shown(html=f'<p class="way finding">{say.together(filter(None, lines))}</p>{notices}')


SENTENCE = Exhibit("importance", sentence, element="importance-lead", frame="bare")


def _erased(methods: Methods, say: Texts) -> str:
    """The token whose erasure makes the output fall most, as escaped HTML."""
    if not methods.own:
        return escape(say("matters.no_text"))
    first = methods.ranked(methods.every[-1])[0]
    found = {"eraser": escape(visible(methods.importance.eraser)), "label": strong_html(methods.label)}
    if methods.importance.erasure[first] <= 0:
        return say("matters.none_falls", **found)
    values = {"before": methods.text(methods.before), "after": methods.text(methods.without(first))}
    values = {name: strong_html(value) for name, value in values.items()}
    key = "matters.erasing" if len(methods.own) > 1 else "matters.erasing_one"
    return say(key, token=_token(methods, first), **found, **values)


def _near(methods: Methods, say: Texts) -> str:
    """Where the token most like [CLS] comes when tokens are erased, and rho, as escaped HTML."""
    if len(methods.own) < 2:
        return ""
    similarity, erasure = methods.every[0], methods.every[-1]
    most = methods.ranked(similarity)[0]
    place = methods.ranked(erasure).index(most) + 1
    view = View(methods.analysis, methods.analysis.layers)
    found = {"token": _token(methods, most), "reference": escape(shorten(reference_name(view, say), 24))}
    near = say("matters.near", place=place, total=len(methods.own), **found)
    if methods.goes == "none":
        return say.together((near, escape(say("matters.no_rho"))))
    rho = strong_html(rho_text(methods, similarity))
    return say.together((near, say(f"matters.rho_{methods.goes}", rho=rho)))


def _token(methods: Methods, index: int) -> str:
    return token_html(methods.labels[index], bool(methods.analysis.reads.positions[index]))
