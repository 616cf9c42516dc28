"""What a checkpoint of sentence-transformers may put before a text, for a query or a passage for example."""

from __future__ import annotations

from pathlib import Path

from components.model.files import ENCODING, read_object

MOST, LONGEST = 8, 300  # prompts that are tried, and characters of each


def read_prompts(folder: Path) -> tuple[tuple[str, str], ...]:
    """Its prompts by name; none where the files in ``folder`` say nothing that can be read."""
    said = read_object(folder / ENCODING).get("prompts")
    listed = list(said.items()) if isinstance(said, dict) else []
    texts = [(name[:LONGEST], text) for name, text in listed if isinstance(text, str)]
    return tuple((name, text) for name, text in texts if 0 < len(text) <= LONGEST)[:MOST]
