"""Poolscope as a library: ``poolscope_show`` for notebooks, and endpoints of its API as functions.

``backbone`` may also name a folder, and what the hub has is downloaded first. PoolscopeError is a refusal.
"""

from collections.abc import Callable
from functools import cache, wraps
from inspect import isgenerator, signature
from typing import Any

from components import VERSION
from components.errors import PoolscopeError as PoolscopeError

__version__ = VERSION


def __getattr__(name: str) -> Any:
    if name == "poolscope_show":
        from components.notebook import poolscope_show

        return poolscope_show
    if name in _functions():
        return _functions()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["PoolscopeError", "__version__", "poolscope_show", *_functions()]


@cache  # one engine, which loads a checkpoint once
def _functions() -> dict[str, Any]:
    from components.analyses.registry import analyses
    from components.endpoints import endpoints
    from components.inference.engine import Engine
    from components.settings import Settings

    settings = Settings(sources="any")
    engine = Engine(settings)

    def brought(endpoint: Callable[..., Any]) -> Callable[..., Any]:
        taken = signature(endpoint)

        @wraps(endpoint)
        def whole(*values: Any, **named: Any) -> Any:
            given = taken.bind(*values, **named)
            if isinstance(keys := given.arguments.get("backbones"), list | tuple):
                given.arguments["backbones"] = [engine.bring(key).key for key in keys]
            answer = endpoint(*given.args, **given.kwargs)
            return list(answer)[-1] if isgenerator(answer) else answer  # how far it is does not matter here

        whole.__signature__ = taken.replace(return_annotation=Any)  # type: ignore[attr-defined]  # not a stream
        return whole

    several = {one.__name__: brought(one) for one in endpoints(engine, settings.lab_rows)}
    one = {name: kind.endpoint(engine.answer) for name, kind in analyses().items()}
    return {name: several[name] for name in ("backbones", "poolings", "compare", "fit")} | one
