"""The one exception that visitors see."""

from collections.abc import Callable
from typing import Any, TypeVar

from components.texts import Sentence, Texts, load_texts

Asking = TypeVar("Asking")
PLAIN = {"errors.word": "errors.sentence", "errors.no_tokens": "errors.sentence"}  # on the page


class PoolscopeError(ValueError):
    """A request that cannot be answered as asked; its text is written for the visitor.

    It names the field, what was given and what is allowed, and never shows more than the first 60 characters
    of what was given, unless that is a Sentence. ``key`` and ``values`` make the sentence that says what is
    allowed. ``str`` gives the message in English, ``said`` in any language, ``plainly`` as the page says it.
    """

    def __init__(self, field: str, given: object, key: str, /, **values: object) -> None:
        self.field, self.key, name = field, key, f"fields.{field}"
        self.sentence = Sentence(
            "errors.message",
            field=Sentence(name) if name in load_texts().entries else field,
            given=given if isinstance(given, Sentence) else _shown(given),
            allowed=Sentence(key, **values),
        )
        super().__init__(str(self.sentence))

    def __reduce__(self) -> tuple[Any, ...]:
        """Give what another process makes the same error of: a given value is only sent as it is shown."""
        return remade, (type(self), self.field, self.key, self.sentence)

    def said(self, say: Texts) -> str:
        """The message in the language of ``say``."""
        return self.sentence.said(say)

    def plainly(self, say: Texts) -> str:
        """Say it to who stands before an empty box: only what to do, without field and value."""
        return say(PLAIN[self.key]) if self.key in PLAIN else self.said(say)


def or_why(ask: Callable[[], Asking]) -> Asking | Sentence:
    """Give what ``ask`` does, or why it cannot be had."""
    try:
        return ask()
    except PoolscopeError as error:
        return error.sentence


def remade(kind: type[PoolscopeError], field: str, key: str, sentence: Sentence) -> PoolscopeError:
    """An error as it was in the process that raised it."""
    error = kind.__new__(kind, str(sentence))
    error.field, error.key, error.sentence = field, key, sentence
    return error


def _shown(given: object) -> str | Sentence:
    try:
        shown = repr(given)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
        return Sentence("errors.unwritable")
    return shown if len(shown) <= 60 else f"{shown[:59]}…"
