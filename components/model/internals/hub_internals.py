"""What Poolscope needs of huggingface_hub and huggingface_hub does not promise to keep.

The values of ``constants`` come from the variables HF_*, which are documented; the module is not. They are
read when they are needed.
"""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import constants, get_token
from huggingface_hub.file_download import repo_folder_name


def cache_folder() -> Path:
    """Where the cache is: HF_HUB_CACHE."""
    return Path(constants.HF_HUB_CACHE)


def model_folder(model: str) -> Path:
    """Where the cache keeps everything of a model.

    The layout is documented; how a folder is named after an id is known to one function alone.
    """
    return cache_folder() / repo_folder_name(repo_id=model, repo_type="model")


def lock_file(model: str, digest: str) -> Path:
    """What huggingface_hub locks while it downloads a file, so that two programs do not write one blob."""
    return cache_folder() / ".locks" / model_folder(model).name / f"{digest}.lock"


def endpoint() -> str:
    """The address of the hub: HF_ENDPOINT. `HfApi` asks it too, but bounds neither time nor size."""
    return str(constants.ENDPOINT)


def token() -> str | None:
    """The owner's token, unless HF_HUB_DISABLE_IMPLICIT_TOKEN keeps it from being sent."""
    return None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
