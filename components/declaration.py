"""Declaration of a checkpoint of sentence-transformers: how ``encode`` makes one vector of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from components.texts import Sentence


@dataclass(frozen=True)
class Dense:
    """A dense layer that takes vectors of ``taken`` numbers and gives vectors of ``given``.

    ``folder``: of its weights, within the checkpoint's. ``activation``: a class of torch.nn. ``bias``,
    ``residual``: whether it has them.
    """

    folder: str
    taken: int
    given: int
    activation: str
    bias: bool
    residual: bool
    name: Literal["dense"] = "dense"


@dataclass(frozen=True)
class Normalize:
    """The vector's length is set to 1."""

    name: Literal["normalize"] = "normalize"


@dataclass(frozen=True)
class Cut:
    """No more than the first ``size`` numbers of the vector are kept."""

    size: int
    name: Literal["cut"] = "cut"


DeclaredStep = Dense | Normalize | Cut


@dataclass(frozen=True)
class Declaration:
    """The vectors of ``poolings``, by our names, stand side by side; then come ``steps``.

    ``width``: of a hidden state, D. ``longest``: after how many tokens ``encode`` cuts a text, where the
    files say so. ``prompt``: what it puts before every text; "": nothing. ``lowercases``: whether it makes
    the text lower case.
    """

    poolings: tuple[str, ...]
    width: int
    steps: tuple[DeclaredStep, ...]
    longest: int | None = None
    prompt: str = ""
    lowercases: bool = False

    @property
    def size(self) -> int:
        """Count the numbers of the vector, D'."""
        size = self.width * len(self.poolings)
        for step in self.steps:
            if isinstance(step, Dense):
                size = step.given
            elif isinstance(step, Cut):
                size = min(size, step.size)
        return size


def declared_json(declared: Declaration | Sentence | None) -> dict[str, Any] | None:
    """Give what a checkpoint's modules.json declares, or why that cannot be read; None without one."""
    if not isinstance(declared, Declaration):
        return None if declared is None else {"refusal": str(declared)}
    steps = [step.name for step in declared.steps]
    told = {name: getattr(declared, name) for name in ("size", "longest", "prompt", "lowercases")}
    return {"poolings": list(declared.poolings), "steps": steps, **told, "refusal": None}
