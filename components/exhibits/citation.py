"""Citations: what a paper says of what is on the screen, in plain words and in BibTeX."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote

from components import VERSION
from components.analyses.passport import fingerprint
from components.exhibits.view import shorten, visible
from components.texts import Texts, load_texts
from components.types import BackboneSpec

AUTHOR = "The Poolscope developers"  # as CITATION.cff says, too
COMMANDS = {"\\": "backslash", "{": "braceleft", "}": "braceright", "~": "asciitilde", "^": "asciicircum"}
LATEX = {ord(one): rf"\text{name}{{}}" for one, name in COMMANDS.items()}  # BibTeX would count \{ as a brace
LATEX |= {ord(one): rf"\{one}" for one in "&%$#_"}


def citation(
    texts: Sequence[str], specs: Sequence[BackboneSpec], link: str, when: datetime, say: Texts
) -> tuple[str, str]:
    """Cite what ``link`` shows of ``texts``, measured of ``specs``: in words of a language, and in BibTeX."""
    link, day = quote(link, safe="%/:?#[]@!$&'()*+,;=~", errors="replace"), f"{when:%Y-%m-%d}"
    title = ", ".join(f"“{shorten(visible(text), 80)}”" for text in texts)
    key = "cite.what_of" if texts else "cite.what"
    what = say(key, author=AUTHOR, year=when.year, version=VERSION, texts=title)
    plain = filter(None, (what, _measured(specs, say), say("cite.where", link=link, day=day)))
    fields = {
        **{"title": f"{{Poolscope}}{': ' * bool(texts)}{title.translate(LATEX)}", "author": f"{{{AUTHOR}}}"},
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
