"""What cannot be answered, as programs hear of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr

from components.errors import PoolscopeError


@contextmanager
def refused_in_english() -> Iterator[None]:
    """Turns a refusal into gradio's error, in English: that is what programs read, whoever asks."""
    try:
        yield
    except PoolscopeError as error:
        raise gr.Error(str(error), print_exception=False) from error
