"""Poolscope as a library. Light to import: torch is loaded by what measures, once that is asked for."""

from typing import TYPE_CHECKING, Any

from components import VERSION

if TYPE_CHECKING:
    from components.notebook import poolscope_show as poolscope_show

__version__ = VERSION


def __getattr__(name: str) -> Any:
    if name == "poolscope_show":
        from components.notebook import poolscope_show

        return poolscope_show
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
