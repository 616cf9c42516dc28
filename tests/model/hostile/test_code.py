"""Code that a checkpoint brings along is refused, and what leads away from its folder."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from components.model.loading import load
from components.types import BackboneSpec
from tests.model.hostile.spoiling import WEIGHTS, change, refusal


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.made),)


def test_pickled_weights_are_not_opened(spec: BackboneSpec, tmp_path: Path) -> None:
    folder = Path(spec.location)
    (folder / WEIGHTS).unlink()
    torch.save(Bomb(tmp_path / "ran"), folder / "pytorch_model.bin")
    assert "pickled weights are never read" in refusal(spec)
    assert not (tmp_path / "ran").exists()


def test_an_adapter_that_names_another_folder_is_not_followed(spec: BackboneSpec, good: BackboneSpec) -> None:
    folder = Path(spec.location)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": good.location}))
    (folder / "config.json").unlink()
    assert "config.json cannot be read" in refusal(spec)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("inside", [False, True])
def test_code_of_its_own_is_refused(spec: BackboneSpec, tmp_path: Path, file: str, inside: bool) -> None:
    folder = Path(spec.location)
    (folder / "own.py").write_text(f"import os; os.mkdir({str(tmp_path / 'ran')!r})")
    names = {f"Auto{kind}": "own.Own" for kind in ("Config", "Tokenizer", "ModelForSequenceClassification")}
    own = {"auto_map": names}
    change(folder / file, **({"text_config": own} if inside else own))
    assert "Python code of its own" in refusal(spec)
    assert not (tmp_path / "ran").exists()


def test_a_kernel_on_the_hub_is_not_asked_for(spec: BackboneSpec) -> None:
    change(Path(spec.location) / "config.json", attn_implementation="somebody/kernel")
    assert load(spec).model.config._attn_implementation in ("sdpa", "eager")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("quantization_config", {"quant_method": "bitsandbytes", "load_in_8bit": True}, "quantised"),
        ("configuration_files", ["config.4.0.0.json"], "other files"),
        ("transformers_weights", "pytorch_model.bin", "other files"),
        ("transformers_weights", "../good/model.safetensors", "other files"),
        ("fusion_config", {"patch_embeddings": True}, "transformers' own classes"),
    ],
)
def test_a_config_that_leads_elsewhere_is_refused(
    spec: BackboneSpec, key: str, value: object, reason: str
) -> None:
    change(Path(spec.location) / "config.json", **{key: value})
    assert reason in refusal(spec)
