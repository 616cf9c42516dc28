"""A model object and a text -> the exhibits of the Classify tab, as Jupyter and its kin draw them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from components.analyses.anatomy import Anatomy
from components.analyses.measuring.live import anatomy_of
from components.errors import PoolscopeError
from components.exhibits.exhibit import Panel
from components.exhibits.panels import ANSWER, HEAD, READING, TOKENS
from components.exhibits.report import Made, framed, report
from components.exhibits.view import facts
from components.model.query import choice, whole_number
from components.settings import Settings
from components.texts import ENGLISH, Texts, languages, load_texts
from components.types import Analysis

PANELS: tuple[Panel[Any, Any], ...] = (ANSWER, TOKENS, HEAD, READING)
HEIGHT, LEAST, MOST = 800, 100, 20_000  # pixels


@dataclass(frozen=True, eq=False)
class Exhibits:
    """What was measured ``when``; a notebook draws its exhibits where this ends a cell.

    ``anatomy``: the numbers of the head, ``analysis`` the answer itself. ``height``: that of the frame in
    which the exhibits stand, in pixels.
    """

    anatomy: Anatomy
    when: datetime
    height: int
    say: Texts

    @property
    def analysis(self) -> Analysis:
        """The answer itself."""
        return self.anatomy.analysis

    @property
    def name(self) -> str:
        """The class of the model."""
        return self.analysis.backbone.architecture

    @cached_property
    def document(self) -> tuple[str, ...]:
        """A page of all exhibits that needs nothing besides, in pieces."""
        known = facts(self.analysis, {}, self.say("notebook.asked", name=self.name), self.say)
        return report(PANELS, self, {}, known, Made(self.when), self.say)

    def _repr_html_(self) -> str:
        """One frame that scrolls by itself; called by notebooks."""
        return framed(self.document, self.say("notebook.frame", name=self.name), self.height, self.say)

    def __repr__(self) -> str:
        """What a terminal shows."""
        return f"<Poolscope's exhibits of {self.name}: .save(path) writes them as an HTML file>"

    def save(self, path: str | Path) -> None:
        """Write the page as a file, which opens without a notebook or a network; OSError where it cannot."""
        Path(path).write_text("".join(self.document), encoding="utf-8")


def poolscope_show(
    model: object,
    tokenizer: object,
    text: str,
    text_pair: str = "",
    *,
    language: str = ENGLISH,
    height: int = HEIGHT,
) -> Exhibits:
    """What the Classify tab shows of a model object, as it is now, for one text or pair.

    ``model``: any classifier of sequences of transformers, on any device, in any floating-point type, in
    training or not; ``tokenizer``: its own. Both stay as they are, and so do torch's random numbers: all is
    measured on a copy on the CPU, in float32, without dropout. ``language``: of the exhibits. ``height``: of
    their frame, in pixels. PoolscopeError names what cannot be taken, and what is expected.
    """
    say = load_texts(choice("language", language, languages()))
    if not LEAST <= whole_number("height", height) <= MOST:
        raise PoolscopeError("height", height, "errors.range", low=LEAST, high=MOST)
    anatomy = anatomy_of(model, tokenizer, text, text_pair, Settings().characters)
    return Exhibits(anatomy, datetime.now(UTC), height, say)
