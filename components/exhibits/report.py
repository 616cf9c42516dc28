"""Files to take away, of every exhibit of an answer and of a checkpoint's passport; and citations."""

import gzip
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from hashlib import sha256
from html import escape
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup

from components import VERSION
from components.analyses.passport import Passport, fingerprint
from components.exhibits import exhibit as parts, view
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Panel
from components.exhibits.view import CENTRED, HOW, LAYER, View, layer_name, render, shorten, visible
from components.texts import ASSETS, Texts, load_texts
from components.types import Analysis, BackboneSpec

HERE = Path(__file__).parent
PAGE_LINK = re.compile(r' href="\?([^"]*)"')
PAPER = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # the policy of a page without scripts
END = "</body></html>\n"
DARK = "screen and (prefers-color-scheme: dark)"  # whose styles are
THEMES = {"dark": "screen", "light": "not all"}  # when, in a theme that is asked for
Facts = Callable[[State], Mapping[str, str]]  # what was asked, by name, not escaped, the text first
LOOKS = LAYER, CENTRED  # what the reader of a report chooses
MOST = 950_000  # letters of packed frames, as many as Plotly has; a report of more stays as it was made
# Of a citation.
AUTHOR = "The Poolscope developers"  # as CITATION.cff says, too
COMMANDS = {"\\": "backslash", "{": "braceleft", "}": "braceright", "~": "asciitilde", "^": "asciicircum"}
LATEX = {ord(one): rf"\text{name}{{}}" for one, name in COMMANDS.items()}  # BibTeX would count \{ as a brace
LATEX |= {ord(one): rf"\{one}" for one in "&%$#_"}


@dataclass(frozen=True)
class Made:
    """When a report was made, and ``link``: where the live page shows the same, or "" where nothing does."""

    when: datetime
    link: str = ""


def report(
    panels: Sequence[Panel[Any, Any]], answer: Any, state: State, facts: Facts, made: Made, say: Texts
) -> tuple[str, ...]:
    """Every exhibit that applies to ``answer``, looked at as ``state`` says, under what was asked.

    In pieces: what is the same in every report, nearly all of it, is there once. Nothing but its own scripts
    can run in it, and it can load nothing. Its reader chooses layer and centring.
    """
    sections: list[Markup] = []
    summary = packed = ""
    for panel in panels:
        subject = panel.subject(answer)
        if panel.summary is not None:
            said = panel.summary.shown(subject, state, say).html
            if summary:
                titled = Markup('<section class="card "><h2>{}</h2>{}</section>')
                sections.append(titled.format(say(panel.title), Markup(said)))
            summary = summary or said
        every = (exhibit for row in panel.rows for exhibit in row if "report" in exhibit.where)
        shown = [exhibit for exhibit in every if exhibit.applies(subject)]
        if isinstance(subject, Analysis) and any(exhibit.follows for exhibit in shown):
            living, packed = _living(shown, subject, state, facts, made, say)
            sections.append(living)
        else:
            sections += [section(exhibit, subject, state, made.link, say) for exhibit in shown]
    asked = _asked(facts(state), made, say)
    body = render("report", say, summary=Markup(summary), asked=asked, sections=sections, packed=packed)
    return figured(title_of(facts(state), say), body, say)


def _asked(facts: Mapping[str, str], made: Made, say: Texts) -> Markup:
    versions = ", ".join(f"{name} {_version(name)}" for name in ("torch", "transformers", "plotly"))
    return render("asked", say, facts=facts, made=made, versions=versions)


_version = cache(version)  # to read one takes 2 ms; a report says them with every layer and centring


def _living(
    exhibits: Iterable[Exhibit[Any]], analysis: Analysis, state: State, facts: Facts, made: Made, say: Texts
) -> tuple[Markup, str]:
    """Exhibits under a form that says how to look at them, and its frames, packed; "" for too many."""

    def words(seen: State) -> tuple[str, str]:
        look = urlencode({one.key: one.of(seen) for one in LOOKS})  # of two values of a key the last counts
        link = f"{made.link}{'&' if '?' in made.link else '?'}{look}" if made.link else ""
        asked = _asked(facts(seen), replace(made, link=link), say)
        return str(asked), layer_name(View.of(analysis, seen), say)

    seen, drawings = View.of(analysis, state), list[parts.Drawing]([(words, LOOKS)])
    html = render("look", say, view=seen, how=HOW, layer=layer_name(seen, say))
    for exhibit in exhibits:
        html += section(exhibit, analysis, state, made.link, say)
        if exhibit.follows:
            drawings.append((partial(parts.exhibit_parts, exhibit, analysis, say), exhibit.controls))
    packed = gzipped(parts.frames_json(drawings, analysis, state))
    return Markup("<div>{}</div>").format(html), packed if len(packed) <= MOST else ""


def gzipped(text: str) -> str:
    """Pack a text into letters, as unpack.js takes them."""
    return b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")  # 9 takes off 0.2 % more


def title_of(facts: Mapping[str, str], say: Texts) -> str:
    """The title of a document: the text, which is the first of the ``facts``."""
    return say("away.title", text=shorten(visible(next(iter(facts.values()))), 60))


def figured(title: str, body: Markup, say: Texts) -> tuple[str, ...]:
    """A document in pieces, whose ``body`` may have figures."""
    scripts = _scripts()
    run = " ".join(f"'sha256-{value}'" for value in scripts)  # these, and images that it made itself
    policy = f"default-src 'none'; script-src {run}; style-src 'unsafe-inline'; img-src data: blob:"
    return _begin(title, body, policy, say), *scripts.values(), END


def alone(title: str, body: Markup, script: str, theme: str, say: Texts) -> str:
    """A document for a frame, in a ``theme`` or the reader's; the one ``script`` draws its figures, if any.

    That is an address on the same server, of `figures_scripts`.
    """
    policy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:"
    begin = _begin(title, body, policy, say).replace(DARK, THEMES.get(theme, DARK))
    run = f'<script src="{script}"></script>' if script else ""
    return f"{begin}{run}{END}"


def section(
    exhibit: Exhibit[Any], subject: Any, state: State, link: str, say: Texts, name: str = ""
) -> Markup:
    """An exhibit from top to bottom, with a heading always, under its own or another ``name``.

    Its links to other states of the page lead to that of ``link``, or nowhere without it.
    """
    shown, name = exhibit.shown(subject, state, say), name or exhibit.element or exhibit.name
    if exhibit.title and exhibit.frame != "bare":
        shown = replace(shown, heading=shown.heading or say(exhibit.title))
    page = escape(link.partition("?")[0])
    html = parts.exhibit_html(exhibit, name, shown, say)
    return Markup(PAGE_LINK.sub(lambda found: f' href="{page}?{found[1]}"' if link else "", html))


def _begin(title: str, body: Markup, policy: str, say: Texts) -> str:
    styles = (ASSETS / "base.css", ASSETS / "answers.css", HERE / "report.css")
    style = "".join(file.read_text(encoding="utf-8") for file in styles)
    begin = render("document", tag=say.language.tag, title=title, body=body, policy=policy, style=style)
    return begin.encode("utf-8", errors="replace").decode("utf-8")  # half a character cannot be saved


def figures_scripts() -> tuple[str, str]:
    """Scripts that draw the figures of a document, one after the other."""
    plotly = gzip.decompress((ASSETS / "plotly.js.gz").read_bytes()).decode("utf-8")
    return plotly, parts.at_once([*parts.SCRIPTS, HERE / "unpack.js", HERE / "report.js"])


@cache
def _scripts() -> Mapping[str, str]:
    """Scripts that are the same in every report, in their tags, by their hashes.

    Read once: Plotly alone is 1 MB, and reports that are sent at the same time share it.
    """
    scripts = figures_scripts()
    hashes = (b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    return {value: f"<script>{script}</script>" for value, script in zip(hashes, scripts, strict=True)}


def framed(pieces: tuple[str, ...], title: str, height: int, theme: str, say: Texts) -> str:
    """The document of these ``pieces`` as one HTML element, ``height`` pixels high and as wide as its place.

    It brings everything with it and loads nothing. The browser unpacks it: Plotly alone is 1 MB. ``title``:
    what a screen reader calls it, not escaped. ``theme``: of `THEMES`, or any other for the reader's.
    """
    packed = gzipped("".join(pieces).replace(DARK, THEMES.get(theme, DARK)))
    script = (HERE / "unpack.js").read_text(encoding="utf-8")
    page = render("packed", say, tag=say.language.tag, title=title, packed=packed, script=script)
    return str(render("frame", title=title, page=str(page), height=height))


def passport_page(passport: Passport, say: Texts) -> str:
    """The whole passport as one HTML file without scripts, to read, print, or put beside a model card."""
    title = say("passport.title", name=visible(passport.backbone.said(say)))
    body = render("passport", say, heading=title, passport=passport, prod=prod)
    return _begin(title, body, PAPER, say) + END


def badge(passport: Passport, say: Texts) -> str:
    """Tell what is read and whether a batch is safe, as an SVG for a model card."""
    return f"{render('badge', say, passport=passport, width=view.width)}\n"


def citation(
    texts: Sequence[str], specs: Sequence[BackboneSpec], link: str, when: datetime, say: Texts
) -> tuple[str, str]:
    """Cite what ``link`` shows of ``texts``, measured of ``specs``: in words of a language, and in BibTeX."""
    link, day = quote(link, safe="%/:?#[]@!$&'()*+,;=~", errors="replace"), f"{when:%Y-%m-%d}"
    title = ", ".join(f"“{shorten(visible(text), 80)}”" for text in texts)
    key = "cite.what_of" if texts else "cite.what"
    what = say(key, author=AUTHOR, year=when.year, version=VERSION, texts=title)
    plain = filter(None, (what, _measured(specs, say), say("cite.where", link=link, day=day)))
    named = f"{{Poolscope}}: {title.translate(LATEX)}" if texts else "{Poolscope}"
    fields = {
        **{"title": named, "author": f"{{{AUTHOR}}}"},
        **{"year": when.year, "version": VERSION, "url": link, "urldate": day},
        "note": _measured(specs, load_texts()).translate(LATEX),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return say.together(plain), f"@misc{{poolscope-{sha256(link.encode()).hexdigest()[:8]},\n{lines}\n}}\n"


def _measured(specs: Sequence[BackboneSpec], say: Texts) -> str:
    names = [
        say("cite.revision", place=spec.location, revision=spec.revision)
        if spec.source == "hub"
        else say("cite.files", place=spec.key, fingerprint=fingerprint(spec))
        for spec in specs
    ]
    return say("cite.of", names=say.listed(names)) if names else ""
