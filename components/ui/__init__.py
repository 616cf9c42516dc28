"""The page. Loads gradio first, without what gradio writes for editors: a third of the time that takes.

For each class of components gradio parses its source, twice, to compare it with a stub (.pyi) beside it. It
leaves out a class whose file cannot be told.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def _no_stubs() -> Iterator[None]:
    """Within, nobody can tell in which file a class of gradio's stands."""
    whole = inspect.getfile

    def of_others(object: Any) -> str:
        if isinstance(object, type) and object.__module__.startswith("gradio."):
            raise OSError("no stub is wanted")
        return whole(object)

    inspect.getfile = of_others
    try:
        yield
    finally:
        inspect.getfile = whole


with _no_stubs():
    import gradio  # noqa: F401 # for whoever imports it next
