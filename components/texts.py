"""Every sentence that a visitor reads, from assets/texts: one file for each language, with the same keys.

The templates in assets/templates hold them; in HTML every value is escaped that is not HTML itself.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

ASSETS = Path(__file__).resolve().parents[1] / "assets"
COUNTED = re.compile(r"\{(\w+):([^{}|]*(?:\|[^{}|]*)+)\}")  # what goes with a number: {count:token|tokens}
ENGLISH = "en"  # programs, logs, and who asks for a language that is not here


@dataclass(frozen=True)
class Language:
    """A language by its ``tag`` ("en") and by its own ``name`` ("English")."""

    tag: str
    name: str


@dataclass(frozen=True)
class Texts:
    """The sentences of one language: ``texts("page.title")``, with placeholders given by name.

    ``{count:token|tokens}`` is the first form where ``count`` is 1; ``{place:st|nd|rd|th}`` ends an ordinal.
    """

    language: Language
    entries: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The sentence of ``key`` with its placeholders filled in; KeyError if either is unknown."""
        return self._counted(key, values).format(**values)

    def html(self, key: str, /, **values: object) -> Markup:
        """The same as HTML: values are escaped but for those that are Markup."""
        return Markup(self._counted(key, values)).format(**values)

    def _counted(self, key: str, values: Mapping[str, object]) -> str:
        return COUNTED.sub(lambda one: _form(one[2].split("|"), str(values[one[1]])), self.entries[key])

    def name(self, original: str, key: str = "") -> str:
        """The translation of a title or a note from other data, or the original where there is none.

        It is looked up by ``key`` where the data has one, else by the original itself.
        """
        return self.entries.get(f"names.{key or original}", original)

    def label(self, own: str) -> str:
        """A checkpoint's label, behind its translation where there is one."""
        name = self.name(own)
        return own if name == own else self("list.beside", name=name, own=own)

    def listed(self, names: Iterable[str]) -> str:
        """Names in a row."""
        return self("list.comma").join(names)

    def together(self, sentences: Iterable[str]) -> str:
        """Sentences one after the other."""
        return self("list.space").join(sentences)


@dataclass(frozen=True)
class Named:
    """A title from other data that no language has been chosen for yet; see `Texts.name`."""

    original: str
    key: str = ""

    def said(self, say: Texts) -> str:
        """The title in the language of ``say``."""
        return say.name(self.original, self.key)


@dataclass(frozen=True, init=False)
class Sentence:
    """A sentence that no language has been chosen for yet: its key, and what fills its placeholders.

    A value may be a Sentence itself, a title by its name, or several values in a tuple, which are listed.
    """

    key: str
    values: tuple[tuple[str, object], ...]

    def __init__(self, key: str, /, **values: object) -> None:
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "values", tuple(values.items()))

    def said(self, say: Texts) -> str:
        """The sentence in the language of ``say``; KeyError if its key or a placeholder is unknown."""
        return say(self.key, **{name: _said(value, say) for name, value in self.values})

    def __str__(self) -> str:
        """The sentence in English."""
        return self.said(load_texts())


def in_bytes(size: int) -> Sentence:
    """A number of bytes in words: 1.5 GB, 268 MB, 9.1 MB, 132 kB."""
    if size >= 999_500_000:
        return Sentence("models.gigabytes", size=f"{size / 1e9:,.1f}")
    if size >= 999_500:
        return Sentence("models.megabytes", size=f"{size / 1e6:.{1 if size < 9_950_000 else 0}f}")
    return Sentence("models.kilobytes", size=f"{size / 1e3:.0f}")


def _form(forms: list[str], number: str) -> str:
    ordinal = len(forms) > 2 and number[-2:-1] != "1"  # 21st, but 11th
    return dict(zip("123", forms[:-1], strict=False)).get(number[-1:] if ordinal else number, forms[-1])


def _said(value: object, say: Texts) -> object:
    if isinstance(value, tuple):
        return say.listed(str(_said(part, say)) for part in value)
    return value.said(say) if isinstance(value, Sentence | Named) else value


def read_toml(file: Path) -> dict[str, Any]:
    """The tables of a TOML file; OSError or ValueError where it is none."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache  # files of the app, which are the same for every error and every page
def load_texts(tag: str = ENGLISH) -> Texts:
    """Read ``assets/texts/<tag>.toml``; a key is its table and its name, ``page.title`` for example."""
    tables = read_toml(ASSETS / "texts" / f"{tag}.toml")
    language = Language(**tables.pop("language"))
    tables.pop("findings", None)  # marks, which no page needs: the tests hold these sentences against answers
    entries = {f"{table}.{name}": text for table, lines in tables.items() for name, text in lines.items()}
    return Texts(language, entries)


@cache
def languages() -> tuple[str, ...]:
    """The tags of all languages that there are sentences in, English first."""
    tags = sorted(file.stem for file in (ASSETS / "texts").glob("*.toml"))
    return (ENGLISH, *(tag for tag in tags if tag != ENGLISH))


@cache  # files of the app, compiled once
def environment(html: bool = True) -> Environment:
    """Templates in assets/templates; HTML escapes its values, and the rest keeps the end of the last line."""
    return Environment(
        loader=FileSystemLoader(ASSETS / "templates"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not html,
        auto_reload=False,
    )
