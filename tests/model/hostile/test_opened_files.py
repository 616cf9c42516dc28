"""Whatever the settings of a tokenizer name: nothing outside of the checkpoint's folder is opened."""

import json
import random
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from components.model.loading import load, read_config, read_tokenizer
from components.model.safety import RefusalError, allowed
from components.types import BackboneSpec
from tests.model.hostile.spoiling import change, refusal
from tests.serving import ROOT

COUNT = 60
NAMING = (  # arguments of transformers' tokenizers that name a file or a folder
    "gguf_file", "subfolder", "vocab_file", "merges_file", "tokenizer_file", "spm_file", "emoji_file",
    "normalizer_file", "added_tokens_file", "special_tokens_map_file", "chat_template_file", "cache_dir",
    "fast_tokenizer_files", "name_or_path", "_name_or_path", "config", "tokenizer_object", "init_inputs",
    "sp_model_kwargs", "mecab_kwargs", "sudachi_kwargs", "source_spm", "vocab", "entity_vocab_file",
    "tokenizer_class", "repo_id", "model_specific_special_tokens", "extra_special_tokens", "chat_template",
)  # fmt: skip
OWN = (
    ROOT,
    Path(sys.prefix),
    Path(sys.base_prefix),
    Path(sysconfig.get_path("stdlib")),
    Path("/proc"),
    Path("/sys"),
)


@contextmanager
def watched() -> Iterator[list[str]]:
    """The paths of all files that are opened meanwhile; an audit hook can only be told to rest."""
    opened: list[str] = []
    going = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if going and event == "open" and isinstance(arguments[0], str | bytes | Path):
            opened.append(
                str(Path(arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]))
            )

    sys.addaudithook(hook)
    try:
        yield opened
    finally:
        going = False


def outside(opened: list[str], folder: Path) -> list[str]:
    """What lies neither in the folder nor among Python's own files; resolved, so ".." leads nowhere."""
    inside = [one.resolve() for one in (folder, *OWN)]
    places = [Path(one).absolute().resolve() for one in opened]
    return [str(one) for one in places if not any(one.is_relative_to(place) for place in inside)]


def hostile(seed: int, bait: Path) -> dict[str, Any]:
    """Settings of which one to three name a file elsewhere."""
    draw = random.Random(seed)
    keys = draw.sample((*NAMING, *sorted(allowed())), draw.randint(1, 3))
    keys[0] = NAMING[seed % len(NAMING)]
    aways = (
        str(bait),
        f"../{bait.name}",
        "../../..",
        "..",
        f"file://{bait}",
        [str(bait)],
        {"model_file": str(bait)},
    )
    return {key: draw.choice(aways) for key in keys}


@pytest.fixture
def bait(tmp_path: Path, good: BackboneSpec) -> Path:
    """A whole tokenizer in a folder beside, whose files somebody would like to be opened."""
    shutil.copytree(good.location, tmp_path / "bait")
    return tmp_path / "bait"


def test_hostile_settings_open_nothing_outside(good: BackboneSpec, tmp_path: Path, bait: Path) -> None:
    folder = tmp_path / "inside" / "spoilt"
    shutil.copytree(good.location, folder)
    settings = (folder / "tokenizer_config.json").read_text()
    refused = 0
    for seed in range(COUNT):
        (folder / "tokenizer_config.json").write_text(settings)
        change(folder / "tokenizer_config.json", **hostile(seed, bait / "tokenizer.json"))
        with watched() as opened:
            try:
                read_tokenizer(folder, read_config(folder))
            except RefusalError:
                refused += 1
        assert str(folder / "config.json") in opened  # the watch sees
        assert outside(opened, folder) == [], (folder / "tokenizer_config.json").read_text()
    assert 0 < refused < COUNT


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gguf_file", "/etc/passwd"),
        ("subfolder", "../../.."),
        ("fast_tokenizer_files", ["../tokenizer.4.0.json"]),
        ("init_inputs", ["/etc/passwd"]),
        ("sp_model_kwargs", {"model_file": "/etc/passwd"}),
        ("vocab_file", 0),
        ("merges_file", True),
        ("somebodys_file", "/etc/passwd"),
    ],
)
@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_key_that_may_name_a_file_is_refused_by_its_name(
    unread: BackboneSpec, file: str, key: str, value: object
) -> None:
    (Path(unread.location) / file).write_text(json.dumps({key: value}))
    told = refusal(unread)
    assert f"its {file} holds {key}" in told
    assert "passwd" not in told


def test_keys_of_old_checkpoints_and_of_their_own_tokens_are_no_matter(unread: BackboneSpec) -> None:
    file = Path(unread.location) / "tokenizer_config.json"
    gone = str(Path(tempfile.gettempdir()) / "gone" / "special_tokens_map.json")
    change(file, special_tokens_map_file=gone, full_tokenizer_file=None, name_or_path="a/b", bod_token="good")
    assert load(unread).labels
