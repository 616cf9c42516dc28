"""Asking the app over HTTP, as a program does."""

import json
from typing import Any

import httpx

from components.ui.gradio_internals import CLOSE

QUESTION = {"backbone": "bert-sentiment", "text": "not good"}
ANALYZE = "/gradio_api/call/v2/analyze"
AT_ONCE = httpx.Limits(max_connections=250, max_keepalive_connections=0)


def reported(query: str, session: str = "x") -> dict[str, str]:
    """The body that asks for the report, or the passport, of a link."""
    return {"query": query, "page": "https://example.org/", "session_hash": session}


def client_of(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=60)


def joined(client: httpx.Client, endpoint: str = "analyze", **fields: object) -> str:
    """The event of a question that waits in the queue."""
    asked = client.post(f"/gradio_api/call/v2/{endpoint}", json=fields)
    return str(asked.raise_for_status().json()["event_id"])


def heard(client: httpx.Client, event: str, endpoint: str = "analyze") -> str:
    """What a program hears of an event until its end."""
    return client.get(f"/gradio_api/call/{endpoint}/{event}").text


def answers_of(client: httpx.Client, session: str) -> str:
    """Give what comes of a session's questions, until it is told to close the stream, as a page does."""
    lines = []
    with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if CLOSE in line.encode():
                break
    return "\n".join(lines)


def ask(client: httpx.Client, **fields: object) -> dict[str, Any]:
    """What curl would get of /analyze: an answer, or {"error": message}."""
    lines = heard(client, joined(client, **{**QUESTION, **fields})).splitlines()
    *_, last = (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))
    return last[0] if isinstance(last, list) else last
