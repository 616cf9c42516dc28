"""A tiny random checkpoint of any family that transformers can classify with."""

import tomllib
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from components.types import BackboneSpec
from tests.tiny import WORDS, tokenizer

FAMILIES = tuple(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES)
HERE = Path(__file__).parent
SIZES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "sizes.toml").read_text(encoding="utf-8"))
FACTS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "reads.toml").read_text(encoding="utf-8"))
TOKENS = {"pad_token_id": 0, "bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
BUILT = tuple(family for family in FAMILIES if family not in FACTS["not_built"])


def tiny_config(family: str, **more: Any) -> PreTrainedConfig:
    """A config of ``family`` with the sizes of sizes.toml; ``more`` is set besides."""
    default = AutoConfig.for_model(family)
    known = {*default.to_dict(), *type(default).attribute_map.values()}
    own = dict(SIZES.get(family, {}))
    dropped = own.pop("drop", ())
    common = {name: size for name, size in SIZES["common"].items() if name in known and name not in dropped}
    tokens = {name: token for name, token in TOKENS.items() if name in known or name != "cls_token_id"}
    return AutoConfig.for_model(family, **{"vocab_size": 64, **common, **tokens, **own, **more})


def tiny_model(family: str, **more: Any) -> PreTrainedModel:
    """A model with weights large enough that every token tells."""
    torch.manual_seed(0)
    model: PreTrainedModel = AutoModelForSequenceClassification.from_config(tiny_config(family, **more))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "norm" not in name.lower():
                parameter.normal_(std=0.2)
    return model.eval()


def boundless() -> PreTrainedTokenizerFast:
    """The tokenizer of whole words without a limit of its own: the model's must be found."""
    words = tokenizer()
    words.model_max_length = 10**30
    return words


def tiny_checkpoint(folder: Path, family: str, **more: Any) -> BackboneSpec:
    """Such a model in a folder, with a tokenizer of whole words."""
    assert len(WORDS) <= 64
    tiny_model(family, **more).save_pretrained(folder)
    boundless().save_pretrained(folder)
    return BackboneSpec(family, family, "made up", "", "local", str(folder))
