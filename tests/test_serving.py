"""What to set in servers: the options that they have, and a word where they have none."""

import json
import re

import pytest
from sentence_transformers.sentence_transformer.modules import Pooling

from components.analyses.detect import DECLARED, SERVING, Way, settings
from components.model.declaration import KNOWN, METHODS
from components.model.pooling import POOLINGS

SERVERS = ("sentence-transformers", "vLLM", "llama.cpp", "TEI")


def options(*ways: Way, layers: int = 4) -> dict[str, tuple[tuple[str, ...], list[str]]]:
    return {one.engine: (one.options, list(map(str, one.lacks))) for one in settings(ways, layers)}


def test_every_pooling_of_a_server_is_one_of_ours() -> None:
    assert tuple(engine["title"] for engine in SERVING["engines"].values()) == SERVERS
    for engine in SERVING["engines"].values():
        assert set(engine["pooling"]) <= {*POOLINGS, *KNOWN["splade"]}
        assert engine["source"].startswith("https://")
    assert SERVING["lengths"] == sorted(set(SERVING["lengths"]))
    assert set(SERVING["prefixed"]) <= set(SERVING["lengths"])


def test_sentence_transformers_has_the_modes_that_are_named() -> None:
    poolings = SERVING["engines"]["sentence-transformers"]["pooling"]
    named = {re.findall(r'pooling_mode="(\w+)"|$', option)[0] for option in poolings.values()}
    assert named == {*Pooling.POOLING_MODES, ""}
    assert poolings.keys() == {*METHODS.values(), DECLARED, *KNOWN["splade"]}


def test_the_mean_of_the_last_layer() -> None:
    assert options(Way("mean", 4, normalised=True)) == {
        "sentence-transformers": (
            ('Pooling(..., pooling_mode="mean")', "encode(..., normalize_embeddings=True)"),
            [],
        ),
        "vLLM": (("""--pooler-config '{"pooling_type": "MEAN"}'""", '"use_activation": true'), []),
        "llama.cpp": (("--embeddings --pooling mean", '"embd_normalize": 2'), []),
        "TEI": (("--pooling mean", '"normalize": true'), []),
    }


def test_of_ties_the_one_is_set_that_a_server_has() -> None:
    found = options(Way("native", 4), Way("cls", 4), Way("first", 4))
    assert found["TEI"] == (("--pooling cls", '"normalize": false'), [])
    assert options(Way("cls", 4), Way("lasttoken", 4))["TEI"][0][0] == "--pooling last-token"  # as in XLNet


def test_what_a_server_has_no_option_for_is_said() -> None:
    found = options(Way("max", 2, False, True, 20, "query: "))
    assert found["vLLM"][1] == ["the pooling max", "layer 2", "behind the prefix “query: ”"]
    assert found["TEI"][1] == ["the pooling max", "layer 2", "without special tokens", "cut after 20 tokens"]


@pytest.mark.parametrize("prefix", ['say "it": ', "a\nb", "{count}"])
def test_a_prefix_is_written_as_a_text(prefix: str) -> None:
    (option,) = (one for one in options(Way("mean", 4, prefix=prefix))["TEI"][0] if "prompt" in one)
    assert json.loads(option.removeprefix("--default-prompt ")) == prefix
