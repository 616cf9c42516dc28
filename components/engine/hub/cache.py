"""What of the hub is on this machine: whole checkpoints in huggingface_hub's cache, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.file_download import repo_folder_name

from components.engine import config
from components.types import BackboneSpec

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
VOCABULARIES = (  # one of these makes a tokenizer
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
    "sentencepiece.model",
    "sentencepiece.bpe.model",
)
COMMIT = re.compile(r"[0-9a-f]{40}")


def storage(model: str) -> Path:
    """Where the cache keeps everything of a model."""
    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=model, repo_type="model")


def place(model: str, commit: str) -> Path:
    """The folder for the files of one commit, whether it is there or not."""
    return storage(model) / "snapshots" / commit


def folder(spec: BackboneSpec) -> Path | None:
    """Where the checkpoint of ``spec`` lies on this machine, or None.

    A hub id is looked up in the cache alone: libraries that take either would read a folder of that name.
    """
    if spec.source == "hub":
        return snapshot(spec.location, spec.revision or "")
    return Path(spec.location) if Path(spec.location).is_dir() else None


def snapshot(model: str, commit: str) -> Path | None:
    """The folder of a checkpoint that is wholly on this machine, or None."""
    kept = place(model, commit)
    return kept if COMMIT.fullmatch(commit) and whole(kept) else None


def newest(model: str) -> str | None:
    """The commit that was brought here last of those that are wholly on this machine, or None."""
    kept = [each for each in (storage(model) / "snapshots").glob("*") if COMMIT.fullmatch(each.name)]
    complete = [each for each in kept if whole(each)]
    return max(complete, key=lambda each: each.stat().st_mtime).name if complete else None


def whole(folder: Path) -> bool:
    """Whether a folder holds a config, all of the weights that it names, and a vocabulary.

    A download brings the config last, so what it left half done never is.
    """
    if not (folder / CONFIG).is_file() or not any((folder / name).is_file() for name in VOCABULARIES):
        return False
    if (folder / WEIGHTS).is_file():
        return True
    named = shards(config.read(folder / INDEX))
    return bool(named) and all((folder / name).is_file() for name in named)


def shards(index: dict[str, object]) -> tuple[str, ...]:
    """The files of weights that an index names, in order; () where it names none or anything else."""
    weights = index.get("weight_map")
    names = set(weights.values()) if isinstance(weights, dict) and _all_text(weights) else set()
    plain = all(re.fullmatch(r"\w[\w.-]*\.safetensors", name) for name in names)
    return tuple(sorted(names)) if plain else ()


def _all_text(weights: dict[object, object]) -> bool:
    return all(isinstance(name, str) for name in weights.values())
