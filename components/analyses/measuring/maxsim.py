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

Project = Callable[[Tensor], Tensor]  # hidden states (N, D) -> the vectors that are compared (N, D')


@torch.no_grad()
def match(backbone: Backbone, query: Query) -> MaxSim:
    """Compare the two texts of ``query``; PoolscopeError where there is one, or a token has no state."""
    if not query.text_pair.strip():
        raise PoolscopeError("text_pair", query.text_pair, "errors.maxsim_pair")
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    project, skipped, told = _projection(backbone)
    first, second = (forward(backbone, text, "") for text in (query.text, query.text_pair))
    taken = np.array([token not in skipped for token in second.tokens.text])
    if not taken.any():
        raise PoolscopeError("text_pair", query.text_pair, "errors.maxsim_skipped")
    vectors, vectors_pair = (_vectors(project, one.kept.hidden[-1][0]) for one in (first, second))
    ids = [one.encoded.inputs["input_ids"][0].tolist() for one in (first, second)]
    others = _vectors(project, torch.from_numpy(backbone.ordinary.elsewhere(ids)))
    if skipped:
        told = (*told, Sentence("maxsim.skipped", count=int((~taken).sum())))
    return MaxSim(
        query,
        first.tokens,
        second.tokens,
        (vectors @ vectors_pair.T).clamp(-1, 1).numpy(),
        taken,
        (vectors @ others.T).amax(dim=1).clamp(-1, 1).numpy(),
        len(others),
        tuple(dict.fromkeys((*told, *first.encoded.warnings, *second.encoded.warnings))),
    )


def _vectors(project: Project, states: Tensor) -> Tensor:
    return normalize(project(states.float()), dim=-1)


def _projection(backbone: Backbone) -> tuple[Project, tuple[str, ...], tuple[Sentence, ...]]:
    """What makes vectors of hidden states, the tokens that are left out of a second text, and what is told.

    PoolscopeError where the checkpoint's files tell of vectors for each token that cannot be made.
    """
    folder = here(backbone.spec)
    try:
        declared = None if folder is None else read_per_token(folder)
        if declared is None or folder is None:
            return (lambda states: states), (), (Sentence("maxsim.plain"),)
        declared.check_width(backbone.ordinary.layers[-1].states.shape[1])
    except RefusalError as refusal:
        raise PoolscopeError(
            "backbone", backbone.spec.key, "errors.declared", reason=refusal.sentence
        ) from refusal
    told = [Sentence("maxsim.projected", size=declared.says.size)] if declared.says.size else []
    prompts = dict(read_prompts(folder))
    if typed := [prompts[name] for name in ("query", "document") if name in prompts]:
        told.append(Sentence("maxsim.prompts", prompts=" · ".join(f"“{prompt}”" for prompt in typed)))
    return (lambda states: declared.behind([states])), declared.says.skipped, tuple(told)
