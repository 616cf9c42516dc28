"""How often one visitor may ask, and how long an answer may take."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial, wraps
from html import escape
from ipaddress import ip_address, ip_network
from typing import Any

import gradio as gr
from anyio.to_thread import run_sync
from gradio.context import LocalContext

from components.errors import PoolscopeError
from components.ui.languages import spoken

MINUTE = 60.0  # seconds
KNOWN = 10_000  # visitors who are remembered: a flood of addresses must not fill the memory
ARRIVED = "poolscope.arrived"  # in the ASGI scope of a request: when it came, on the event loop's clock


class Rate:
    """Lets every visitor spend ``often`` at once, and ``often`` in each minute from then on.

    At most ``known`` visitors are remembered; who was not seen for longest is forgotten first.
    """

    def __init__(self, often: float, known: int = KNOWN) -> None:
        self._often = often
        self._known = known
        self._whole: OrderedDict[str, float] = OrderedDict()  # visitor -> when everything may be spent again

    def wait(self, visitor: str, cost: float, now: float) -> int:
        """Spend ``cost`` at the time ``now``, in seconds: gives 0, or in how many seconds there is enough."""
        whole = max(self._whole.pop(visitor, now), now)
        after = whole + cost * MINUTE / self._often
        missing = math.ceil(after - now - MINUTE - 1e-6)  # a rounding error is no debt
        self._whole[visitor] = whole if missing > 0 else after
        if len(self._whole) > self._known:
            self._whole.popitem(last=False)
        return max(missing, 0)


def visitor_of(peer: str, forwarded: str) -> str:
    """Who asks: the ``peer`` or, where that stands in a private network, the one whom its proxies heard.

    ``forwarded`` is X-Forwarded-For. Every proxy writes whom it heard at its end, so the last public address
    is the one that nobody can make up. IPv6 addresses count by their network: one visitor has a whole one.
    """
    for address in (peer, *reversed(forwarded.split(","))):
        network = _network(address.strip())
        if network is None:
            break
        if network.is_global:
            return str(network)
    return str(_network(peer) or peer)


def _network(address: str) -> Any:
    """The network that stands for an address, or None if it is none."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return ip_network((known, 64 if known.version == 6 else 32), strict=False)


def plain(message: str, headers: Mapping[str, str]) -> str:
    """``message`` for the one who asked: gradio's page shows it as HTML, a program as it is."""
    return escape(message) if "origin" in headers else message


class Patience:
    """Ends every answer after ``seconds``, counted from when the question came.

    A thread cannot be stopped. Whoever waited in vain gets a message, and functions that take turns go on
    taking turns: the next one begins when the one before has really ended, whether it was given up or not.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def bound(self, function: Callable[..., Any], turn: asyncio.Lock | None = None) -> Callable[..., Any]:
        """``function`` in a thread, at most as long as patience lasts; its errors become ``gr.Error``."""

        @wraps(function)
        async def bounded(*args: Any, **named: Any) -> Any:
            call = partial(function, *args, **named)
            work = partial(run_sync, call, abandon_on_cancel=True)
            try:
                async with asyncio.timeout_at(self._deadline()):
                    return await (work() if turn is None else _in_turn(turn, work))
            except TimeoutError as error:
                late = spoken(_headers())("busy.late", seconds=f"{self._seconds:g}")
                raise gr.Error(late, print_exception=False) from error
            except PoolscopeError as error:
                told = plain(error.said(spoken(_headers())), _headers())
                raise gr.Error(told, print_exception=False) from error
            except gr.Error:
                raise
            except Exception as error:
                raise gr.Error(spoken(_headers())("verdict.bug")) from error

        return bounded

    def _deadline(self) -> float:
        """When patience ends, on the event loop's clock."""
        asked = LocalContext.request.get(None)
        scope = asked.request.scope if asked is not None and asked.request is not None else {}
        arrived: float = scope.get(ARRIVED, asyncio.get_running_loop().time())
        return arrived + self._seconds


def _headers() -> Mapping[str, str]:
    """The headers of the request that is being answered."""
    asked = LocalContext.request.get(None)
    return asked.headers if asked is not None else {}


async def _in_turn(turn: asyncio.Lock, work: Callable[[], Any]) -> Any:
    """The result of ``work``. The turn ends with the work itself, even if nobody waits for it any longer."""
    await turn.acquire()
    task = asyncio.ensure_future(work())
    task.add_done_callback(lambda _: turn.release())
    return await asyncio.shield(task)
