"""A row of the table of findings: a sentence, an answer of which it is true, and one of which it is not."""

import re
import string
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from components.exhibits.exhibit import Exhibit, heading_html
from components.texts import Texts
from tests.exhibits.showing import plain

Told = Callable[[Texts], str]  # all that a reader is told of an answer, in a language
Values = Mapping[str, object] | Callable[[Texts], Mapping[str, object]]  # what fills the placeholders


class Row(NamedTuple):
    """``said``: where the sentence stands; ``values``: what it says there, found in another way than the code
    that says it finds it. ``unsaid``: where it would be false, and must not stand; a row by its key."""

    said: Told
    values: Values
    unsaid: Told | str


def told(exhibit: Exhibit[Any], given: Any, **state: Any) -> Told:
    """What an exhibit tells of an answer, to readers and to screen readers."""

    def tell(say: Texts) -> str:
        shown = exhibit.shown(given, state, say)
        return plain(f"{heading_html(shown, exhibit.name, say)}{shown.html}{shown.legend}")

    return tell


def anything(sentence: str) -> re.Pattern[str]:
    """A pattern of the sentence, whatever fills its placeholders, but for other sentences."""
    parts = []
    for text, name, spec, _ in string.Formatter().parse(sentence):
        filled = "|".join(map(re.escape, spec.split("|"))) if spec and "|" in spec else r"(?:(?!\. |。).)+?"
        parts.append(re.escape(text) + (f"(?:{filled})" if name else ""))
    return re.compile("".join(parts))
