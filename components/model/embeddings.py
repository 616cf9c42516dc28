"""Input embeddings of the tokens of a text: where a model looks them up, and others in their place."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from components.errors import PoolscopeError
from components.model.cut import Batch, carried, noted
from components.model.examine import Examined


def embeddings(examined: Examined) -> nn.Module:
    """The module that gives the text's tokens their embeddings; PoolscopeError where there is none.

    It is the first called of those that share the weights of what the model calls its input embeddings.
    """
    model = examined.backbone.model
    try:
        weight = model.get_input_embeddings().weight
    except (NotImplementedError, AttributeError):  # it has none, or more than one table
        raise unembedded(examined) from None
    sharing = [module for module in model.modules() if getattr(module, "weight", None) is weight]
    if len(sharing) == 1 and isinstance(sharing[0], nn.Embedding):
        return sharing[0]
    with noted(sharing) as calls:
        examined.backbone.run(examined.kept.inputs)
    if not (calls and isinstance(calls[0][2], Tensor)):
        raise unembedded(examined)
    return calls[0][0]


def unembedded(examined: Examined) -> PoolscopeError:
    """Refusal: no embeddings can be had which the answer follows from."""
    return PoolscopeError("backbone", examined.backbone.spec.key, "errors.no_embeddings")


def embedded(table: nn.Module, ids: Tensor) -> Tensor:
    """The embeddings of ids (B, T): (B, T, D)."""
    return carried(table(carried(ids, next(table.parameters()).device)).clone())


@contextmanager
def exchanged(table: nn.Module, inputs: Batch, points: Tensor) -> Iterator[dict[str, Tensor]]:
    """Within, embeddings ``points`` (B, T, D) stand in the place of those of the one text of ``inputs``.

    Gives the inputs (B, T) to run.
    """
    rows = {name: value.expand(len(points), -1) for name, value in inputs.items()}
    plain, total = embedded(table, rows["input_ids"]), points.shape[1]

    def exchange(_module: nn.Module, _args: Any, output: Tensor) -> Tensor | None:
        for turned in (False, True):  # some have them as (T, B, D), and some lengthen their inputs
            given = output.transpose(0, 1) if turned else output
            if torch.equal(carried(given[:, :total]), plain):
                new = torch.cat([carried(points, given.device), given[:, total:]], dim=1)
                return new.transpose(0, 1) if turned else new
        return None  # of something else than the text

    with table.register_forward_hook(exchange):
        yield rows
