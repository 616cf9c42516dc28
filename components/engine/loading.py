"""BackboneSpec -> Backbone: a checkpoint read from safetensors alone, without code of its own."""

from __future__ import annotations

import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from components.engine.backbone import Backbone, Provenance
from components.engine.cut import find_cut
from components.errors import PoolscopeError
from components.types import BackboneSpec

LONGEST = 512  # tokens, where neither tokenizer nor config states a limit
UNLIMITED = 1_000_000  # from here on a stated limit is a way to say that there is none


def load(spec: BackboneSpec) -> Backbone:
    """Load a checkpoint in float32, from safetensors only and without code of its own."""
    if spec.source != "hub" and not spec.available:
        raise PoolscopeError("backbone", spec.key, "its files are not on this machine")
    source = {"revision": spec.revision} if spec.source == "hub" else {"local_files_only": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(spec.location, trust_remote_code=False, **source)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # weights that the checkpoint lacks are drawn alike every time
            model, info = AutoModelForSequenceClassification.from_pretrained(
                spec.location,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                **source,
            )
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise PoolscopeError("backbone", spec.key, f"it cannot be loaded: {reason}") from error
    model.eval().requires_grad_(False)
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False  # one pass needs no key-value cache
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise PoolscopeError(
            "backbone", spec.key, "its tokenizer cannot tell where in the text a token stands"
        )
    if tokenizer.pad_token_id is None and model.config.pad_token_id is not None:
        tokenizer.pad_token_id = model.config.pad_token_id
    example = dict(tokenizer("a b c", return_tensors="pt"))
    return Backbone(
        spec=spec,
        model=model,
        tokenizer=tokenizer,
        cut=find_cut(model, example),
        limit=_limit(model, tokenizer),
        provenance=Provenance(
            missing=tuple(sorted(info["missing_keys"])),
            unexpected=tuple(sorted(info["unexpected_keys"])),
            mismatched=tuple(sorted(str(key) for key, *_ in info["mismatched_keys"])),
        ),
    )


def _limit(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> int:
    """The longest input in tokens: the smaller of what tokenizer and config state."""
    stated = (tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None) or 0)
    return min((limit for limit in stated if 0 < limit < UNLIMITED), default=LONGEST)
