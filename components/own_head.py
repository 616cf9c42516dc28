"""A visitor's own head: the classifier that was fitted on their table, as a text that they keep themselves.

It is JSON, comes with each question that it answers, and lies nowhere else. It is read as texts and numbers,
whoever wrote it, and nothing of it is run.
"""

import json
from base64 import b64decode, b64encode
from dataclasses import asdict
from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from components.errors import PoolscopeError
from components.types import Floats

MINE = "mine"  # what a visitor's own head is called in a query
HEADS = ("own", "probe", MINE)  # the checkpoint's own, a linear classifier of ours, or the visitor's
TABLE = "your own table"  # what it is for; languages have a name for it
LARGEST = 2_000_000  # characters, of all that such a head holds


@validated(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class OwnHead:
    """A linear classifier of one vector: what a backbone's ``pooling`` makes of a ``layer``, -1 the last.

    ``texts``: 1, or 2 for pairs. ``numbers``: for each of K labels D' weights and a bias, float32 in base64.
    """

    backbone: str
    pooling: str
    layer: Annotated[int, Field(ge=-1, le=1000)]
    texts: Annotated[int, Field(ge=1, le=2)]
    labels: Annotated[tuple[str, ...], Field(min_length=2)]
    numbers: str

    @property
    def matrix(self) -> Floats:
        """(K, D' + 1): the weights, and in the last column the biases. ValueError where it is none."""
        flat = np.frombuffer(b64decode(self.numbers, validate=True), "<f4")
        found: Floats = flat.reshape(len(self.labels), -1).astype(np.float32)
        if found.shape[1] < 2 or not np.isfinite(found).all():
            raise ValueError("these are no weights")
        return found


def write_head(head: OwnHead) -> str:
    """The text that is kept."""
    return json.dumps(asdict(head), ensure_ascii=False)


def packed(weight: Floats, bias: Floats) -> str:
    """Weights (K, D') and biases (K,) as they stand in a head."""
    return b64encode(np.concatenate([weight, bias[:, None]], axis=1).astype("<f4").tobytes()).decode("ascii")


def read_head(given: object) -> OwnHead:
    """The head that a text holds; PoolscopeError where there is none, or where it is none."""
    if not isinstance(given, str) or not given:
        raise PoolscopeError("head", MINE, "errors.no_own_head")
    try:
        head = TypeAdapter(OwnHead).validate_json(given[: LARGEST + 1])
        if len(given) > LARGEST or head.matrix.size == 0:
            raise ValueError("too large")
    except (ValidationError, ValueError, UnicodeError) as error:  # of base64, of the shape
        raise PoolscopeError("mine", given, "errors.own_head") from error
    return head
