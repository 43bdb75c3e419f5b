"""The views of 'fa-coord export --format views', read from a database.

Nothing is written: neither the file nor, beside it, a log of SQLite, which a
plain read-only connection to a database in WAL mode would leave.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import urllib.request
from typing import Any, Dict, List, Optional, Tuple

Row = Dict[str, Any]


def read(path: str, views: str, name: str) -> List[Row]:
    """The rows of the view 'name', which the SQL 'views' creates for this
    connection.  Raises ValueError if there is no such view, and sqlite3.Error
    if SQLite refuses the file."""
    before = _at_rest(path)
    if before is not None:
        try:
            rows = _read(path, "mode=ro&immutable=1", views, name)
        except sqlite3.Error:
            if _at_rest(path) == before:
                raise
        else:
            if _at_rest(path) == before:
                return rows
    return _read(path, "mode=ro", views, name)  # a coordinator writes it, and SQLite's log is there already


def _at_rest(path: str) -> Optional[Tuple[int, int, int]]:
    """What tells a file from a changed one; None while it has a log."""
    if os.path.exists(path + "-wal"):
        return None
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: str, options: str, views: str, name: str) -> List[Row]:
    uri = f"file:{urllib.request.pathname2url(path)}?{options}"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.executescript(views)
        known = [row[0] for row in connection.execute("SELECT name FROM temp.sqlite_master WHERE type='view'")]
        if name not in known:
            raise ValueError(f"there is no view '{name}'; there are {', '.join(known)}")
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f'SELECT * FROM temp."{name}"')]
