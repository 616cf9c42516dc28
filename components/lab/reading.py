"""Reads the table that the command is given: CSV, TSV, JSON Lines or Parquet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from components.errors import PoolscopeError
from components.tables import Sheet, read_sheet

PARQUET = (".parquet", ".pq")


def read_file(file: Path) -> Sheet:
    """The table in ``file``; PoolscopeError says why it cannot be read.

    For Parquet, pandas needs pyarrow, which nothing else here does.
    """
    try:
        if file.suffix.lower() in PARQUET:
            return read_sheet(_as_json(file))
        return read_sheet(file.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise PoolscopeError("table", str(file), "errors.table_file", reason=error.strerror) from error


def _as_json(file: Path) -> str:
    """The rows of a Parquet file as JSON Lines; what is not there is null."""
    try:
        rows: str = pd.read_parquet(file).to_json(orient="records", lines=True)
    except ImportError as error:
        raise PoolscopeError("table", str(file), "errors.table_pyarrow") from error
    except (ValueError, OverflowError) as error:  # pyarrow's errors of a broken file are ValueErrors too
        raise PoolscopeError("table", str(file), "errors.table_parquet") from error
    return rows
