"""What a checkpoint raises while it runs: anybody may have made it, so it is a sentence, whatever it is."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import format_tb

from components.errors import PoolscopeError
from components.model.safety.refusal import forget, lacks_memory
from components.types import BackboneSpec

logger = logging.getLogger(__name__)


@contextmanager
def told(spec: BackboneSpec) -> Iterator[None]:
    """Turn whatever ``spec`` raises inside into a PoolscopeError, unless it comes with the app.

    What a bundled checkpoint raises is a mistake of ours, and shows itself; only a panic of Rust, which is no
    Exception and would pass by whoever catches one, is made a RuntimeError. The log says where it happened,
    not what: that may hold a visitor's text.
    """
    try:
        yield
    except (PoolscopeError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if spec.source == "bundled":
            if isinstance(error, Exception):
                raise
            raise RuntimeError(f"{kind} of {spec.key}") from error
        logger.warning("%s of %s\n%s", kind, spec.key, "".join(format_tb(error.__traceback__)))
        forget(error)
        if lacks_memory(error):
            raise PoolscopeError("backbone", spec.key, "errors.no_memory") from None
        raise PoolscopeError("backbone", spec.key, "errors.failed", error=kind) from None
