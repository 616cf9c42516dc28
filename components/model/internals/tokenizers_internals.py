"""What Poolscope needs of tokenizers and tokenizers does not promise to keep."""

from __future__ import annotations

import json
from typing import Any

from transformers import PreTrainedTokenizerFast


def normalizer_state(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """The tokenizer's normalizer as it stands in tokenizer.json; {} without one.

    A normalizer tells its parameters to pickle alone. ``Tokenizer.to_str`` would write the whole vocabulary.
    """
    normalizer = tokenizer.backend_tokenizer.normalizer
    state: dict[str, Any] = json.loads(normalizer.__getstate__()) if normalizer else {}
    return state
