"""Poolscope; its version is that of all that stands in here."""

VERSION = "1.0.0"  # as CITATION.cff says, too
