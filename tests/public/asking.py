"""Asking the app over HTTP, as a program does."""

import json
from typing import Any

import httpx

QUESTION = {"backbone": "bert-sentiment", "text": "not good"}
ANALYZE = "/gradio_api/call/v2/analyze"
AT_ONCE = httpx.Limits(max_connections=250, max_keepalive_connections=0)


def client_of(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=60)


def ask(client: httpx.Client, **fields: object) -> dict[str, Any]:
    """What curl would get of /analyze: an answer, or {"error": message}."""
    asked = client.post(ANALYZE, json={**QUESTION, **fields}).raise_for_status().json()
    lines = client.get(f"/gradio_api/call/analyze/{asked['event_id']}").text.splitlines()
    *_, last = (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))
    return last[0] if isinstance(last, list) else last
