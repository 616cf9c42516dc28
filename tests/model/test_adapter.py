"""Adapters give what peft gives that has not merged them, and nothing else is read from their folders."""

import json
import tomllib
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from peft.tuners.tuners_utils import BaseTuner
from transformers import AutoModel, AutoModelForSequenceClassification

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.export import program
from components.analyses.passport import fingerprint
from components.errors import PoolscopeError
from components.model.adapter import STATED
from components.model.catalogue import refreshed
from components.model.examine import examine
from components.model.files import version
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.checkpoints import passport_of
from tests.tiny import WORDS, change, checkpoint, reweigh, tokenizer

HEARD = (".*is_gradient_checkpointing:FutureWarning", ":UserWarning")  # of peft's own
pytestmark = [pytest.mark.filterwarnings(f"ignore:{one}") for one in HEARD]
TEXT = "the film is not good at all"
TABLES = tomllib.loads(Path(__file__).with_name("adapter.toml").read_text(encoding="utf-8"))
CASES, OTHERS, REFUSED = TABLES["cases"], TABLES["others"], TABLES["refused"]


def adapted(folder: Path, kind: str) -> tuple[BackboneSpec, torch.Tensor]:
    """An adapter beside its base, and the logits of both by peft: (1, K)."""
    case, settings = CASES[kind], CASES[kind]["settings"]
    base = checkpoint(folder / "base", case["family"], case["family"])
    labels = 3 if "task_type" in settings else 2
    made = AutoModelForSequenceClassification.from_pretrained(
        base.location, num_labels=labels, ignore_mismatched_sizes=True
    )
    made.resize_token_embeddings(len(WORDS) + case.get("tokens", 0), mean_resizing=False)
    inner = AutoModel.from_pretrained(base.location) if kind == "the body alone" else made
    torch.manual_seed(1)
    model = peft.get_peft_model(inner, getattr(peft, case["config"])(**settings))
    for weight in filter(lambda weight: weight.requires_grad, model.parameters()):
        weight.data = weight.data + torch.randn_like(weight) * 0.2
    model.save_pretrained(folder / "adapter", save_embedding_layers="tokens" in case)
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
    assert CASES[kind]["says"] in str(backbone.adapted)
    assert str(backbone.adapted).startswith("Merged into ../base:")
    examined = examine(backbone, Query("adapter", TEXT))
    assert analyse(examined).warnings == ()
    assert "An adapter was merged" in program(examined)


@pytest.mark.parametrize("case", OTHERS)
def test_what_a_head_was_made_for_is_said_where_that_is_no_text(tmp_path: Path, case: dict[str, Any]) -> None:
    """It is the adapter's own, of the task that peft had, or that of a base whose config says its class."""
    spec, _ = adapted(tmp_path, case["kind"])
    change(tmp_path / "adapter" / "adapter_config.json", **case.get("adapter", {}))
    change(tmp_path / "base" / "config.json", **case.get("base", {}))
    backbone = load(spec)
    warnings = analyse(examine(backbone, Query("adapter", TEXT))).warnings
    assert [case["says"] in str(one) for one in warnings] == ([True] if case["says"] else [])
    assert {*warnings} <= {*passport_of(backbone).says}


def test_kinds_that_are_no_tuner_of_peft_are_the_learned_prompts() -> None:
    kinds = peft.mapping.PEFT_TYPE_TO_TUNER_MAPPING.items()
    others = {kind.value for kind, tuner in kinds if not issubclass(tuner, BaseTuner)}
    assert others == {*STATED["prompts"]}


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


def test_what_is_not_an_adapter_of_its_base_is_refused(tmp_path: Path) -> None:
    spec, _ = adapted(tmp_path, "LoRA")
    stated = tmp_path / "adapter" / "adapter_config.json"
    whole = stated.read_text()
    for says, keys in REFUSED.items():
        stated.write_text(json.dumps(json.loads(whole) | keys))
        with pytest.raises(PoolscopeError) as refusal:
            load(spec)
        assert says.removesuffix(" (") in str(refusal.value)
    stated.write_text(whole)
    (tmp_path / "adapter" / "adapter_model.safetensors").rename(tmp_path / "adapter" / "adapter_model.bin")
    with pytest.raises(PoolscopeError, match=r"it holds no adapter_model\.safetensors, and pickled"):
        load(spec)
