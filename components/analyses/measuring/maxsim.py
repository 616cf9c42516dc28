"""Late interaction: two texts are run one by one, and their final hidden states compared token by token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from components.analyses.maxsim import MaxSim
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.declaration import read_prompts
from components.model.declared import read_per_token
from components.model.examine import forward
from components.model.files import RefusalError
from components.model.files import folder as here
from components.texts import Sentence
from components.types import Query


@torch.no_grad()
def match(backbone: Backbone, query: Query) -> MaxSim:
    """Compare the two texts of ``query``; PoolscopeError where there is one, or a token has no state."""
    if not query.text_pair.strip():
        raise PoolscopeError("text_pair", query.text_pair, "errors.maxsim_pair")
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    project, skipped, told = _projection(backbone)
    first, second = passed = [forward(backbone, text, "") for text in (query.text, query.text_pair)]
    taken = torch.tensor([token not in skipped for token in second.tokens.text])
    if not taken.any():
        raise PoolscopeError("text_pair", query.text_pair, "errors.maxsim_skipped")
    if skipped:
        told.append(Sentence("maxsim.skipped", count=int((~taken).sum())))
    ids = [one.encoded.inputs["input_ids"][0].tolist() for one in passed]
    ordinary = torch.from_numpy(backbone.ordinary.elsewhere(ids))
    states = [one.kept.hidden[-1][0] for one in passed]
    rows, columns, others = (normalize(project(one.float()), dim=-1) for one in (*states, ordinary))
    cosines, rate = (rows @ columns.T).clamp(-1, 1), taken.sum() / (taken.sum() + len(others))
    return MaxSim(
        query,
        first.tokens,
        second.tokens,
        cosines.numpy(),
        np.asarray(cosines.masked_fill(~taken, -2).argmax(dim=1)),
        (rows @ others.T).amax(dim=1).clamp(-1, 1).numpy(),
        len(others),
        float(rate),
        tuple(dict.fromkeys((*told, *first.encoded.warnings, *second.encoded.warnings))),
    )


def _projection(backbone: Backbone) -> tuple[Callable[[Tensor], Tensor], tuple[str, ...], list[Sentence]]:
    """What makes vectors (N, D') of states (N, D), tokens left out of a second text, and what is told.

    PoolscopeError where the checkpoint's files tell of vectors for each token that cannot be made.
    """
    folder, width = here(backbone.spec), len(backbone.ordinary.layers[-1].mean)
    try:
        declared = None if folder is None else read_per_token(folder, width)
    except RefusalError as refusal:
        named = {"reason": refusal.sentence}
        raise PoolscopeError("backbone", backbone.spec.key, "errors.declared", **named) from refusal
    if declared is None or folder is None:
        return (lambda states: states), (), [Sentence("maxsim.plain")]
    told, prompts = (
        [Sentence("maxsim.projected", size=declared.says.size or width)],
        dict(read_prompts(folder)),
    )
    if typed := [f"“{prompts[name]}”" for name in ("query", "document") if name in prompts]:
        told.append(Sentence("maxsim.prompts", prompts=" · ".join(typed)))
    return (lambda states: declared.behind([states])), declared.says.skipped, told
