"""Findings of the lab, of one's own table."""

from tests.exhibits.findings.row import Row

ROWS: dict[str, Row] = {}
