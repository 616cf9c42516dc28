"""Adapters give what peft gives that has not merged them, and nothing else is read from their folders."""

import json
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.export import program
from components.analyses.passport import fingerprint
from components.errors import PoolscopeError
from components.model.catalogue import refreshed
from components.model.examine import examine
from components.model.files import version
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.tiny import change, checkpoint, reweigh, tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # of peft's own
TEXT = "the film is not good at all"
HEAD = {"task_type": "SEQ_CLS"}
LORA = {"r": 4, "target_modules": ["query", "value"]}
BY_HALF = {"rank_pattern": {"value": 2}, "use_rslora": True}
IA3 = {"feedforward_modules": [], "target_modules": ["query", "value"]}
GPT2 = {"r": 2, "target_modules": ["c_attn"], "fan_in_fan_out": True}
CASES: dict[str, tuple[str, Any, dict[str, Any], str]] = {  # family of the base, config of peft, what is said
    "LoRA": ("bert", peft.LoraConfig, LORA | HEAD, "LoRA 4, in its query, value. Its head comes from"),
    "DoRA": ("bert", peft.LoraConfig, LORA | HEAD | {"use_dora": True}, "DoRA 4, in its query, value."),
    "a pattern": ("bert", peft.LoraConfig, LORA | HEAD | BY_HALF, "LoRA 4"),
    "IA3": ("bert", peft.IA3Config, IA3 | HEAD, "IA³"),
    "GPT-2": (
        "gpt2",
        peft.LoraConfig,
        GPT2 | HEAD,
        "LoRA 2, in its c_attn. Its head comes from the adapter (score).",
    ),
    "no head": ("bert", peft.LoraConfig, LORA, "The adapter holds no head."),
    "the body alone": ("bert", peft.LoraConfig, LORA, "The adapter holds no head."),
}


def adapted(folder: Path, kind: str) -> tuple[BackboneSpec, torch.Tensor]:
    """An adapter beside its base, and the logits of both by peft: (1, K)."""
    family, config, settings, _ = CASES[kind]
    base = checkpoint(folder / "base", family, family)
    labels = 3 if "task_type" in settings else 2
    made = AutoModelForSequenceClassification.from_pretrained(
        base.location, num_labels=labels, ignore_mismatched_sizes=True
    )
    inner = AutoModel.from_pretrained(base.location) if kind == "the body alone" else made
    torch.manual_seed(1)
    model = peft.get_peft_model(inner, config(**settings))
    for weight in filter(lambda weight: weight.requires_grad, model.parameters()):
        weight.data = weight.data + torch.randn_like(weight) * 0.2
    model.save_pretrained(folder / "adapter")
    if inner is not made:
        made.base_model.load_state_dict(model.merge_and_unload().state_dict())
    inputs = tokenizer()(TEXT, return_tensors="pt")
    change(folder / "adapter" / "adapter_config.json", base_model_name_or_path="../base")
    with torch.no_grad():
        logits: torch.Tensor = (made if inner is not made else model).eval()(**inputs).logits
    return BackboneSpec("adapter", "A", "t", "", "local", str(folder / "adapter")), logits


@pytest.mark.parametrize("kind", CASES)
def test_an_adapter_gives_what_peft_gives(tmp_path: Path, kind: str) -> None:
    spec, logits = adapted(tmp_path, kind)
    backbone = load(spec)
    with torch.no_grad():
        ours = backbone.model(**backbone.tokenizer(TEXT, return_tensors="pt")).logits
    torch.testing.assert_close(ours, logits, atol=2e-5, rtol=1e-4)
    assert (backbone.head_trained, backbone.body_trained) == (True, True)
    assert CASES[kind][3] in str(backbone.adapted)
    assert str(backbone.adapted).startswith("Merged into ../base:")
    examined = examine(backbone, Query("adapter", TEXT))
    assert analyse(examined).warnings == ()
    assert "An adapter was merged" in program(examined)


def test_a_head_that_neither_has_is_random(tmp_path: Path) -> None:
    spec, _ = adapted(tmp_path, "no head")
    reweigh(
        tmp_path / "base", lambda tensors: [tensors.pop(name) for name in [*tensors] if "classifier" in name]
    )
    assert load(spec).provenance.random_head == ("classifier.weight",)


def test_an_adapter_is_another_where_its_base_is(tmp_path: Path) -> None:
    spec, _ = adapted(tmp_path, "LoRA")
    before = version(spec), fingerprint(spec)
    assert refreshed(spec).available
    reweigh(tmp_path / "base", lambda tensors: tensors.update({"more": torch.ones(1)}))
    assert not {*before} & {version(spec), fingerprint(spec)}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "code": ({"megatron_config": {"a": 1}, "megatron_core": "antigravity"}, "sets “megatron_config”"),
    "another start": ({"init_lora_weights": "pissa"}, "sets “init_lora_weights”"),
    "no base": ({"base_model_name_or_path": "org/gone"}, "the model org/gone, which is not on this machine"),
    "odd base": ({"base_model_name_or_path": "/etc/secret/base"}, "the model base, which is not"),
    "another kind": ({"peft_type": "PREFIX_TUNING"}, "of the kind PREFIX_TUNING; LORA, IA3 are"),
    "other layers": ({"target_modules": ["key"]}, "its adapter does not fit ../base"),
    "other ranks": ({"r": 9}, "peft cannot merge its adapter"),
    "no layers": ({"target_modules": ["nothing"]}, "peft cannot merge its adapter"),
}


def test_what_is_not_an_adapter_of_its_base_is_refused(tmp_path: Path) -> None:
    spec, _ = adapted(tmp_path, "LoRA")
    stated = tmp_path / "adapter" / "adapter_config.json"
    whole = stated.read_text()
    for name, (keys, says) in REFUSED.items():
        stated.write_text(json.dumps(json.loads(whole) | keys))
        with pytest.raises(PoolscopeError) as refusal:
            load(spec)
        assert says in str(refusal.value), name
    stated.write_text(whole)
    (tmp_path / "adapter" / "adapter_model.safetensors").rename(tmp_path / "adapter" / "adapter_model.bin")
    with pytest.raises(PoolscopeError, match=r"it holds no adapter_model\.safetensors, and pickled"):
        load(spec)
