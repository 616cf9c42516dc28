"""Findings of the evidence."""

from tests.exhibits.findings.row import Row

ROWS: dict[str, Row] = {}
