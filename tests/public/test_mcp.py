"""The endpoints as tools of the Model Context Protocol, asked by its official client."""

import json
from collections.abc import Awaitable, Callable
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


def test_a_message_of_another_kind_is_taken_and_the_log_says_nothing(real: httpx.Client) -> None:
    odd = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"name": "analyze"}}
    accepted = {"Accept": "application/json, text/event-stream"}
    assert real.post("/gradio_api/mcp/", json=odd, headers=accepted).status_code == 202


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


WRONG: list[tuple[str, dict[str, Any], str]] = [  # what a tool is asked, and how it is refused
    ("nothing", {}, "endpoint: 'nothing' was given; there are analyze, anatomy, "),
    ("find", {"backbone": "bert", "odd": 1}, "field: 'odd' was given; find takes backbone."),
    ("find", {"backbone": {"path": "/"}}, "backbone: {'path': '/'} was given; a text, a number or"),
    ("analyze", {"backbone": "nobody", "text": "x"}, "backbone: 'nobody' was given; allowed are "),
    ("analyze", {"backbone": "nobody", "text": 5}, "text: 5 was given; a text is expected."),
]


def test_a_tool_says_which_field_is_wrong_what_was_given_and_what_is_allowed(real: httpx.Client) -> None:
    async def ask_all(client: ClientSession) -> list[Any]:
        return [await client.call_tool(tool, given) for tool, given, _ in WRONG]

    for refused, (_, _, said) in zip(told(real, ask_all), WRONG, strict=True):
        assert (refused.isError, refused.content[0].text[: len(said)]) == (True, said)


def test_who_asks_for_progress_is_told_of_each_step(real: httpx.Client) -> None:
    seen: list[float] = []

    async def note(step: float, _total: float | None, _message: str | None) -> None:
        seen.append(step)

    asked = {"backbone": QUESTION["backbone"]}  # is here already
    result = told(real, lambda client: client.call_tool("fetch", asked, progress_callback=note))
    assert (json.loads(result.content[0].text), seen) == ({"done": 0, "total": 0}, [1])


def test_where_the_owner_has_not_turned_it_on_there_are_no_tools(faulty: httpx.Client) -> None:
    assert {faulty.get(f"/gradio_api/mcp/{path}").status_code for path in ("sse", "schema")} == {404}
