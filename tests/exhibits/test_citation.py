"""Citations: any BibTeX takes them, whatever was asked."""

import re
from datetime import UTC, datetime
from itertools import accumulate
from urllib.parse import unquote, urlencode

import yaml

from components.exhibits.report import citation
from components.exhibits.view import shorten, visible
from components.texts import load_texts
from components.types import BackboneSpec
from tests.serving import ROOT

WHEN = datetime(2026, 11, 26, tzinfo=UTC)
HUB = BackboneSpec("a/b_c", "B", "", "", "hub", "a/b_c", revision="0123abcd")
NAMES = {"backslash": "\\", "braceleft": "{", "braceright": "}", "asciitilde": "~", "asciicircum": "^"}
TEXTS = ("50 % of {x} & y_z, #1 for $5", "}{", "{{", "\\", r"a\b \{ \textbf{", "~^", '"so" @comment{')
TEXTS += ("two\nlines", "既不好也不坏", "\ud83d half", "a \N{GRINNING FACE}", "x" * 300)


def entry(bibtex: str) -> dict[str, str]:
    """Read an entry as BibTeX does: each brace counts, escaped or not."""
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", bibtex, re.MULTILINE))
    for text in (bibtex, *fields.values()):
        depths = list(accumulate((one == "{") - (one == "}") for one in text))
        assert min(depths) == depths[-1] == 0
    return fields


def printed(latex: str) -> str:
    """Text that LaTeX prints: a special letter only where it was escaped, and no brace of a group."""
    found = list(re.finditer(r"\\text(\w+)\{\}|\\([&%$#_])|[{}]|([\\&%$#_~^])|(.)", latex))
    assert not any(one[3] for one in found)
    return "".join(NAMES.get(one[1], "") or one[2] or one[4] or "" for one in found)


def test_an_entry_holds_any_text_and_is_read_as_what_was_asked() -> None:
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    for text in TEXTS:
        link = "https://example.org/?" + urlencode({"text": text}, errors="replace") + "&x={}\\"
        plain, bibtex = citation([text, "b"], [HUB], link, WHEN, load_texts())
        found, asked = entry(bibtex), shorten(visible(text), 80)
        assert unquote(found["url"]) == unquote(link)
        assert not set('{}\\"^ ') & set(found.pop("url"))
        assert {name: printed(latex) for name, latex in found.items()} == {
            **{"title": f"Poolscope: “{asked}”, “b”", "author": stated["authors"][0]["name"], "year": "2026"},
            **{"version": str(stated["version"]), "urldate": "2026-11-26"},
            "note": "Measured of a/b_c at revision 0123abcd.",
        }
        assert all(part in plain for part in (asked, "https://example.org/?text=", "0123abcd", "2026-11-26"))
    assert citation([text, "b"], [HUB], link, WHEN, load_texts("zh"))[1] == bibtex  # English everywhere
    assert "note" not in entry(citation([], [], link, WHEN, load_texts())[1])
