"""Whether a model of the hub can be classified with here, from its small files alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from components.errors import PoolscopeError
from components.model.checkpoint_files import CONFIG, TOKENIZER_CONFIG, VOCABULARIES
from components.model.safety.refusal import RefusalError
from components.model.safety.stated import check_plain, check_stated
from components.model.safety.tokenizer_keys import check_keys

Classifies = Callable[[str], bool]  # whether transformers classifies texts with a type of model


def classifies(kind: str) -> bool:
    """Ask transformers in this process, which loads it; none of its models is loaded."""
    from components.model.internals.transformers_internals import classifying_types

    return kind in classifying_types()


def check_config(model: str, config: dict[str, Any], known: Classifies) -> None:
    """Refuse what its config.json shows to be impossible, or what would be refused when it is loaded."""
    with _said(model):
        check_stated(config)
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise PoolscopeError("backbone", model, "errors.no_type", file=CONFIG)
    if not known(kind):
        raise PoolscopeError("backbone", model, "errors.no_classes", type=repr(kind[:40]))


def check_tokenizer_config(model: str, config: dict[str, Any]) -> None:
    """Refuse a tokenizer with code of its own, or whose settings lead to other files."""
    with _said(model):
        check_plain(config)
        check_keys(TOKENIZER_CONFIG, config)


def check_vocabulary(model: str, names: Collection[str]) -> None:
    """Refuse a model of which no tokenizer can be made that tells where in a text a token stands."""
    held = [name for name in VOCABULARIES if name in names]
    if not held:
        raise PoolscopeError("backbone", model, "errors.no_tokenizer")
    if all(name.endswith(".model") for name in held) and not (find_spec("sentencepiece") and _protobuf()):
        raise PoolscopeError("backbone", model, "errors.slow_tokenizer", file=held[0])


@contextmanager
def _said(model: str) -> Iterator[None]:
    """Say to whom asked for ``model`` what is refused inside."""
    try:
        yield
    except RefusalError as refusal:
        raise PoolscopeError("backbone", model, "errors.refused", reason=refusal.sentence) from refusal


def _protobuf() -> bool:
    return find_spec("google") is not None and find_spec("google.protobuf") is not None
