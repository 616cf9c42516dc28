"""Tiny random checkpoints of any family, made on the spot."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, PreTrainedTokenizerFast

from components.inference.engine import Engine
from components.settings import Settings
from components.types import BackboneSpec

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = (*SPECIAL, "the", "film", "is", "not", "good", "bad", "at", "all", *"abc", "man", "sleeps", "!", ",")
BART = {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 37, "decoder_ffn_dim": 37}
SIZE = {  # the same small sizes under the names that different families have for them
    "bert": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 37},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 2},
    "gpt_neo": {"hidden_size": 32, "num_layers": 2, "num_heads": 2, "attention_types": [[["global"], 2]]},
    "bart": {"d_model": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2, **BART},
}


def between(first: str, last: str) -> processors.TemplateProcessing:
    """Template that puts one token before a text and another behind each."""
    return processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(token, WORDS.index(token)) for token in (first, last)],
    )


def tokenizer() -> PreTrainedTokenizerFast:
    """Whole lower-cased words between [CLS] and [SEP]."""
    inner = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = between("[CLS]", "[SEP]")
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=24,
        model_input_names=["input_ids", "attention_mask"],
    )


def checkpoint(
    folder: Path, model_type: str = "bert", size: str = "bert", headless: bool = False, **config: Any
) -> BackboneSpec:
    """Save a random checkpoint with weights large enough that every token tells."""
    common = {"vocab_size": len(WORDS), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    whole = AutoConfig.for_model(model_type, **{**common, **SIZE[size], **config})
    torch.manual_seed(0)
    make = AutoModel if headless else AutoModelForSequenceClassification
    model = make.from_config(whole)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.3)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return BackboneSpec(folder.name, folder.name, "test", "", "local", str(folder))


def change(file: Path, **keys: Any) -> None:
    """State these keys in a JSON file, made if there is none."""
    file.write_text(json.dumps((json.loads(file.read_text()) if file.exists() else {}) | keys))


def alter(folder: Path, case: Mapping[str, Any]) -> None:
    """Do to a folder what a case says: files that go, or move; keys of some; texts of others."""
    for name in case.get("without", ()):
        (folder / name).unlink()
    for name, to in case.get("moved", {}).items():
        (folder / name).rename(folder / to)
    for name, keys in case.get("files", {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        change(folder / name, **keys)
    for name, text in case.get("texts", {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def reweigh(folder: Path, edit: Callable[[dict[str, Tensor]], object]) -> None:
    """Edit the tensors of a checkpoint's weights in their place."""
    tensors = load_file(folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def catalogue(folder: Path, places: Mapping[str, Path], more: str = "") -> Path:
    """Write a catalogue in a folder: the checkpoints at these places, by key, and ``more``."""
    lines = [f'[{key}]\ntitle = "{key}"\ntask = "sentiment"\npath = "{path}"' for key, path in places.items()]
    file = folder / "backbones.toml"
    file.write_text("\n".join([more, *lines]), encoding="utf-8")
    return file


def engine_on(folder: Path, places: Mapping[str, Path]) -> Engine:
    """The engine on the checkpoints at these places, whose catalogue is written in a folder."""
    return Engine(Settings(catalogue=catalogue(folder, places)))
