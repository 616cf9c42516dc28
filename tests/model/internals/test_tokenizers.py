"""The internals of tokenizers are where they were."""

import json

from components.model.internals.tokenizers_internals import normalizer_state
from tests.tiny import tokenizer

MOVED = "tokenizers has moved Normalizer.__getstate__: see tokenizers_internals.py for what it was needed for"


def test_a_normalizer_tells_its_parameters() -> None:
    whole = tokenizer()
    written = json.loads(whole.backend_tokenizer.to_str())["normalizer"]
    assert normalizer_state(whole) == written == {"type": "Lowercase"}, MOVED


def test_a_tokenizer_without_a_normalizer() -> None:
    whole = tokenizer()
    whole.backend_tokenizer.normalizer = None
    assert normalizer_state(whole) == {}
