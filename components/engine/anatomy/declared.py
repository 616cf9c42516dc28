"""What ``print(model)`` says of a head: its modules in the order of their declaration."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torch import nn
from transformers import PreTrainedModel

from components.types import Declared


def declared(model: PreTrainedModel, ran: Collection[str]) -> tuple[Declared, ...]:
    """The lines of ``print(model)`` with what lies before the head cut short to an ellipsis.

    ``ran``: paths of the modules that ran in the head. Of the body only these are shown with their parts, a
    pooler for example; of what stands beside the body, everything.
    """
    body = next(path for path, module in model.named_modules() if module is model.base_model)

    def cut_short(path: str) -> bool:
        inside = path == body or path.startswith(f"{body}.")
        return inside and not any(one == path or one.startswith(f"{path}.") for one in ran)

    def lines(module: nn.Module, path: str, depth: int) -> Iterator[Declared]:
        name = f"({path.rsplit('.', 1)[-1]}): " if path else ""
        parts = list(module.named_children())
        if not parts:
            yield Declared(path, depth, name + " ".join(repr(module).split()))
        elif path and cut_short(path):
            yield Declared(path, depth, f"{name}{type(module).__name__}( … )")
        else:
            yield Declared(path, depth, f"{name}{type(module).__name__}(")
            for part, inner in parts:
                yield from lines(inner, f"{path}.{part}".lstrip("."), depth + 1)
            yield Declared("", depth, ")")

    return tuple(lines(model, "", 0))
