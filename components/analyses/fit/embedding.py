"""Pooled vectors of a batch of texts: one forward pass serves every pooling and layer."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import product

import numpy as np
import torch

from components.analyses.fit import Fault, Inputs, Pooled, PooledLayer
from components.errors import PoolscopeError
from components.model.backbone import Backbone, available, states_of_all
from components.model.encoding import encode
from components.model.files import failing, reason_of
from components.model.pooling import POOLINGS, States
from components.texts import Sentence
from components.types import UNREADABLE, Floats, Ints


def _taken(backbone: Backbone, inputs: Inputs) -> tuple[list[tuple[Ints, States]], dict[int, str | Sentence]]:
    """The states of all inputs but those that the model fails on, by their numbers, and why it does.

    A model may refuse texts together that it takes alone: heads that read where a text ends want as many ends
    of each. What has no token but special ones stands apart: there are poolings that refuse it.
    """
    rows = np.arange(len(inputs))
    with suppress(PoolscopeError), failing("table", len(inputs)):
        found = states_of_all(backbone, inputs)
        bare = torch.cat([~(one.mask & ~one.special).any(dim=1) for one in found]).numpy()
        apart = np.split(rows, len(found))
        if len(found) == 1 and bare.any() and not bare.all():
            apart = [rows[bare], rows[~bare]]
            found = [one for part in apart for one in states_of_all(backbone, [inputs[row] for row in part])]
        return list(zip(apart, found, strict=True)), {}
    taken, failed = list[tuple[Ints, States]](), dict[int, str | Sentence]()
    for number, one in enumerate(inputs):
        try:
            with failing("table", number):
                taken.append((rows[[number]], states_of_all(backbone, [one])[0]))
        except PoolscopeError as error:
            failed[number] = reason_of(error)
    return taken, failed


def embed(
    backbone: Backbone, poolings: Sequence[str], all_layers: bool, rows: Ints, inputs: Inputs
) -> Pooled:
    """The vectors of n inputs, which stand at ``rows`` (n,) of a table, at the last or at all layers."""
    found: dict[PooledLayer, Floats] = {}
    faults: list[Fault] = []
    taken, failed = _taken(backbone, inputs)
    for pooling, (places, part) in product(available(backbone, poolings), taken):
        last = len(part.layers) - 1
        try:
            layers = range(last + 1) if all_layers else [last]
            pooled = {layer: POOLINGS[pooling](part.upto(layer)).numpy() for layer in layers}
        except PoolscopeError as error:
            faults += [(pooling, {"reason": error.sentence})] * len(places)
            continue
        for layer, own in pooled.items():
            empty = np.zeros((len(inputs), own.shape[1]), own.dtype)
            found.setdefault((pooling, layer), empty)[places] = own
    for one in found.values():
        infinite = np.flatnonzero(~np.isfinite(one).all(axis=1))
        failed |= dict.fromkeys(infinite.tolist(), Sentence("lab.infinite"))
    good = np.setdiff1d(np.arange(len(inputs)), list(failed))
    vectors = {place: one[good] for place, one in found.items()}
    ids = backbone.tokenizer(*([*side] for side in zip(*inputs, strict=True)), verbose=False)["input_ids"]
    faults += [("cut", {"limit": backbone.limit}) for one in ids if len(one) > backbone.limit]
    faults += [("unread", {}) for each in zip(inputs, ids, strict=True) if _is_unread(backbone, *each)]
    faults += [("failed", {"reason": why}) for why in failed.values()]
    return Pooled(rows[good], vectors, tuple(faults))


def _is_unread(backbone: Backbone, texts: tuple[str, ...], ids: Sequence[int]) -> bool:
    """Tell whether an input has no token at all, or mostly such as the vocabulary does not know."""
    if not ids or backbone.tokenizer.unk_token_id not in ids:
        return not ids
    warnings = encode(backbone.tokenizer, backbone.limit, texts[0], "".join(texts[1:])).warnings
    return any(warning.key == UNREADABLE for warning in warnings)
