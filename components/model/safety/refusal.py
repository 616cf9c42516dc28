"""Why a checkpoint is not loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import clear_frames

from components.texts import Sentence

SHOWN = 200  # characters of somebody else's message
FOLDERS = re.compile(r"(?<!\w)/(?:[^\s/'\"`]+/)+")

logger = logging.getLogger(__name__)


class RefusalError(Exception):
    """A checkpoint that is not loaded; its sentence is the reason, written for the visitor."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.sentence = Sentence(key, **values)
        super().__init__(str(self.sentence))


@contextmanager
def foreign(key: str, /, **values: object) -> Iterator[None]:
    """Turn whatever is raised inside into a RefusalError that begins with the sentence of ``key``.

    What lies in a folder may make transformers, tokenizers and torch raise anything: KeyError, TypeError,
    AssertionError, MemoryError and, from Rust, a panic that is no Exception at all. So everything is caught,
    and for that very reason nothing but a call of theirs may stand inside: a mistake of ours is no
    fault of the checkpoint, and shows itself. The owner's log has the whole story.
    """
    try:
        yield
    except (RefusalError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        if lacks_memory(error):
            raise RefusalError("refusals.no_memory") from error
        what = Sentence(key, **values)
        logger.warning("%s", what, exc_info=error)
        raise RefusalError("refusals.foreign", what=what, error=_shown(error)) from error


def lacks_memory(error: BaseException) -> bool:
    """Whether an allocation failed: Python's own, C++'s or torch's, which has no exception for it."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "bad_alloc" in str(error)


def forget(error: BaseException) -> None:
    """Empty the frames that an error and its causes keep: the weights that they hold may be gigabytes."""
    cause: BaseException | None = error
    while cause is not None:
        clear_frames(cause.__traceback__)
        cause = cause.__cause__ or cause.__context__


def _shown(error: BaseException) -> str:
    """The first line of an error, and its name: of a bounded length, and without folders of this machine."""
    first = FOLDERS.sub("", next(iter(str(error).strip().splitlines()), ""))
    told = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return told if len(told) <= SHOWN else f"{told[: SHOWN - 1]}…"
