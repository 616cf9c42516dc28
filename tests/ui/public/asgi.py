"""ASGI apps, asked without a network."""

import asyncio
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope

CASES = tomllib.loads(Path(__file__).with_name("requests.toml").read_text("utf-8"))
HTTP: Scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}


async def answers(app: ASGIApp, *asked: Mapping[str, Any], client: str = "127.0.0.1") -> list[httpx.Response]:
    """Ask an app one thing after the other: each is what httpx takes of a request."""
    transport = httpx.ASGITransport(app, client=(client, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as session:
        return [await session.request(**{"method": "GET", "url": "/", **one}) for one in asked]


async def sent(app: ASGIApp, scope: Mapping[str, Any], receive: Receive) -> list[Message]:
    """What an app sends to one request."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    await app({**HTTP, **scope}, receive, send)
    return messages


async def never() -> Message:
    """Receive nothing."""
    return await asyncio.Future()
