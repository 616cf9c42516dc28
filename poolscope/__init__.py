"""Poolscope as a library: ``poolscope_show`` for notebooks, and endpoints of its API as functions.

``backbone`` may also name a folder, and what the hub has is downloaded first. PoolscopeError is a refusal.
"""

from functools import cache
from typing import Any

from components import VERSION

__version__ = VERSION


def __getattr__(name: str) -> Any:
    if name == "poolscope_show":
        from components.notebook import poolscope_show

        return poolscope_show
    if name in _functions():
        return _functions()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", "poolscope_show", *_functions()]


@cache  # one engine, which loads a checkpoint once
def _functions() -> dict[str, Any]:
    from components.analyses.registry import analyses
    from components.inference.engine import Engine
    from components.settings import Settings

    engine = Engine(Settings(sources="any"))
    found = {name: kind.endpoint(engine.answer) for name, kind in analyses().items()}
    return {"backbones": lambda: [spec.to_json() for spec in engine.backbones()], **found}
