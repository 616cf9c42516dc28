"""Names in an address that are not the page's: others read them, or count with them who came from where."""

from __future__ import annotations

from fnmatch import fnmatchcase

FOREIGN = (
    *("lang", "talk"),  # the page's own, of what no control sets
    *("__*", "view", "page", "deep_link"),  # gradio's, some of them for Hugging Face
    *("logs", "not-for-all-audiences", "embed", "duplicate"),  # of Hugging Face
    *("utm_*", "mc_*", "_ga*", "_hs*", "*clid", "gbraid", "wbraid", "igsh*", "ref", "ref_*", "si", "spm"),
    *("from", "share*", "isappinstalled", "timestamp"),  # added where a link is passed on
)  # patterns


def foreign(name: str) -> bool:
    """Whether somebody else puts this name into addresses."""
    return any(fnmatchcase(name, pattern) for pattern in FOREIGN)
