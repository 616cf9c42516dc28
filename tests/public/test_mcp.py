"""The endpoints as tools of the Model Context Protocol, asked by its official client."""

import json
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from tests.public.asking import QUESTION, ask, client_of
from tests.serving import served


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with served("app.py", log=folder / "mcp.log", GRADIO_MCP_SERVER="true") as url:
        yield url


@asynccontextmanager
async def session(url: str) -> Any:
    async with (
        streamable_http_client(f"{url}/gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        yield client


def call(url: str, tool: str, **arguments: Any) -> CallToolResult:
    async def called() -> CallToolResult:
        async with session(url) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(called)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_every_endpoint_is_a_tool_that_says_what_it_takes(server: str) -> None:
    async def listed() -> dict[str, Any]:
        async with session(server) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = anyio.run(listed)
    endpoints = httpx.get(f"{server}/gradio_api/info", timeout=60).json()["named_endpoints"]
    assert {f"/{name}" for name in tools} == set(endpoints)
    for name, tool in tools.items():
        taken = {one["parameter_name"]: one for one in endpoints[f"/{name}"]["parameters"]}
        assert set(tool.inputSchema["properties"]) == set(taken)
        needed = {key for key, one in taken.items() if not one["parameter_has_default"]}
        assert set(tool.inputSchema.get("required", ())) == needed
        assert tool.description
        for field, schema in tool.inputSchema["properties"].items():
            assert schema["description"], (name, field)


def test_a_tool_answers_as_the_endpoint_does(server: str) -> None:
    result = call(server, "analyze", **QUESTION)
    assert not result.isError
    answer = json.loads(text_of(result))
    with client_of(server) as client:
        same = ask(client, **QUESTION)
    for timed in (answer, same):
        del timed["milliseconds"]
    assert answer == same
