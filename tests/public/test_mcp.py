"""The endpoints as tools of the Model Context Protocol, asked by its official client."""

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import anyio
import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from tests.public.asking import QUESTION, ask


def told(app: httpx.Client, ask: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """What a session says that asks an app."""

    async def session() -> Any:
        async with (
            streamable_http_client(str(app.base_url.join("/gradio_api/mcp/"))) as (read, write, _),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            return await ask(client)

    return anyio.run(session)


def test_no_caller_decides_whom_the_tools_ask(real: httpx.Client) -> None:
    """Not even the first; the fixture sees that nobody else was asked, and that the log says nothing."""
    asked = {"name": "analyze", "arguments": QUESTION}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    accepted = {"Accept": "application/json, text/event-stream"}
    for header in ("Host", "X-Forwarded-Host"):
        answer = real.post("/gradio_api/mcp/", json=call, headers={**accepted, header: "evil.example"})
        assert '"isError":false' in answer.text
    odd = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": asked}
    assert real.post("/gradio_api/mcp/", json=odd, headers=accepted).status_code == HTTPStatus.ACCEPTED


def test_every_endpoint_is_a_tool_that_says_what_it_takes(real: httpx.Client) -> None:
    tools = {tool.name: tool for tool in told(real, lambda client: client.list_tools()).tools}
    endpoints = real.get("/gradio_api/info").json()["named_endpoints"]
    assert {f"/{name}" for name in tools} == set(endpoints)
    for name, tool in tools.items():
        taken = {one["parameter_name"]: one for one in endpoints[f"/{name}"]["parameters"]}
        assert set(tool.inputSchema["properties"]) == set(taken)
        needed = {key for key, one in taken.items() if not one["parameter_has_default"]}
        assert set(tool.inputSchema.get("required", ())) == needed
        assert tool.description
        for field, schema in tool.inputSchema["properties"].items():
            assert schema["description"], (name, field)


def test_a_tool_answers_as_the_endpoint_does(real: httpx.Client) -> None:
    result = told(real, lambda client: client.call_tool("analyze", QUESTION))
    (content,) = result.content
    assert isinstance(content, TextContent)
    answer, same = json.loads(content.text), ask(real, **QUESTION)
    for timed in (answer, same):
        del timed["milliseconds"]
    assert (answer, result.isError) == (same, False)


def test_where_the_owner_has_not_turned_it_on_there_are_no_tools(faulty: httpx.Client) -> None:
    assert {faulty.get(f"/gradio_api/mcp/{path}").status_code for path in ("sse", "schema")} == {404}
