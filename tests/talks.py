"""The talks that ship, as tests read them: with a few plain patterns, not as the app does."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs

from components.settings import ASSETS

SLIDE = re.compile(
    r"(.+)\n\n(?:(.+)\n\n)?(?:((?:- .+\n)+)\n)?\[([\w-]+)\]\(\?(\S*)\) ([\d.]+) .+\n\n((?:.+\n)+)"
)


@dataclass(frozen=True)
class Told:
    """A slide as its file has it; ``state``: what its link sets, a tuple where it sets several."""

    caption: str
    question: str
    choices: list[str]
    show: str
    state: dict[str, str | tuple[str, ...]]
    minutes: float
    notes: str

    def one(self, key: str) -> str:
        """The only value that the link gives to this control."""
        value = self.state[key]
        assert isinstance(value, str)
        return value

    def all(self, key: str) -> tuple[str, ...]:
        """Every value that the link gives to this control."""
        value = self.state[key]
        return (value,) if isinstance(value, str) else value


def slides_of(talk: str, language: str = "en") -> list[Told]:
    """The slides of a talk that ships."""
    folder = talk if talk == "explain" else "talks"
    text = (ASSETS / folder / f"{language}.md").read_text(encoding="utf-8")
    body = text.split(f"{{#{talk}}}\n")[1].split("\n# ")[0]
    return [_told(part.rstrip("\n") + "\n") for part in body.split("\n## ")[1:]]


def _told(part: str) -> Told:
    found = SLIDE.fullmatch(part)
    assert found, part
    caption, question, choices, show, query, minutes, notes = found.groups(default="")
    given = parse_qs(query, keep_blank_values=True)
    state = {key: values[0] if len(values) == 1 else tuple(values) for key, values in given.items()}
    return Told(caption, question, re.findall("- (.+)", choices), show, state, float(minutes), notes)
