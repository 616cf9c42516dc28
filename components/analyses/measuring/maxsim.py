"""Late interaction: two texts are run one by one, and their final hidden states compared token by token."""

import torch
from torch.nn.functional import normalize

from components.analyses.maxsim import MaxSim
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.declaration import read_prompts
from components.model.declared import Declared, read_per_token
from components.model.examine import forward
from components.model.files import RefusalError, folder as here
from components.texts import Sentence
from components.types import Query


def match(backbone: Backbone, query: Query) -> MaxSim:
    """Compare the two texts of ``query``; PoolscopeError where there is one, or a token has no state."""
    if not query.text_pair.strip():
        raise PoolscopeError("text_pair", query.text_pair, "errors.maxsim_pair")
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    declared, told = _declared(backbone)
    first, second = passed = [forward(backbone, text, "") for text in (query.text, query.text_pair)]
    taken = torch.tensor([not declared or token not in declared.says.skipped for token in second.tokens.text])
    if not taken.any():
        raise PoolscopeError("text_pair", query.text_pair, "errors.maxsim_skipped")
    if not taken.all():
        told.append(Sentence("maxsim.skipped", count=int((~taken).sum())))
    ids = [one.encoded.inputs["input_ids"][0].tolist() for one in passed]
    ordinary = torch.from_numpy(backbone.ordinary.elsewhere(ids))
    states = [one.float() for one in (*(one.kept.hidden[-1][0] for one in passed), ordinary)]
    made = (declared.behind([one]) if declared else one for one in states)
    rows, columns, others = (normalize(one, dim=-1) for one in made)
    cosines, count = (rows @ columns.T).clamp(-1, 1), int(taken.sum())
    highest, best = cosines.masked_fill(~taken, -2).max(dim=1)
    return MaxSim(
        query,
        first.tokens,
        second.tokens,
        cosines.numpy(),
        best.numpy(),
        highest.numpy(),
        (rows @ others.T).amax(dim=1).clamp(-1, 1).numpy(),
        len(others),
        count / (count + len(others)),
        tuple(dict.fromkeys((*told, *first.encoded.warnings, *second.encoded.warnings))),
    )


def _declared(backbone: Backbone) -> tuple[Declared | None, list[Sentence]]:
    """Steps that its files declare for each token, and what is told; PoolscopeError says what is wrong."""
    folder, width = here(backbone.spec), len(backbone.ordinary.layers[-1].mean)
    try:
        declared = None if folder is None else read_per_token(folder, width)
    except RefusalError as refusal:
        named = {"reason": refusal.sentence}
        raise PoolscopeError("backbone", backbone.spec.key, "errors.declared", **named) from refusal
    if declared is None or folder is None:
        return None, [Sentence("maxsim.plain")]
    told = [Sentence("maxsim.projected", size=declared.says.size or width)]
    prompts = dict(read_prompts(folder))
    if typed := [f"“{prompts[name]}”" for name in ("query", "document") if name in prompts]:
        told.append(Sentence("maxsim.prompts", prompts=" · ".join(typed)))
    if declared.says.filled:
        told.append(Sentence("maxsim.filled", length=declared.says.filled))
    return declared, told
