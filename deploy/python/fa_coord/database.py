"""The database of a sweep, read only."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import program, tables, views

if TYPE_CHECKING:
    import pandas

VIEWS = "views"  # of 'fa-coord export --format'
PARAMS = "CREATE TEMP VIEW fa_params AS SELECT params FROM config LIMIT 1;"  # the tunables are the same in all


class Database:
    """A database, also while a coordinator writes it.  Every call reads it as
    it is now.

    path     the file
    program  fa-coord; without it $FA_COORD, or that of PATH
    where    a condition in SQL on the configurations ('fa-coord report --where')

    Raises ProgramError where fa-coord refuses the database.
    """

    def __init__(self, path: str, program: Optional[str] = None, where: Optional[str] = None) -> None:
        self.path = os.path.abspath(path)
        self.program = program
        self.where = where

    def report(self) -> Dict[str, Any]:
        """All that 'fa-coord report --json' says (docs/report.md)."""
        where = ["--where", self.where] if self.where else []
        return json.loads(program.output(["report", self.path, "--json", *where], self.program))

    def status(self) -> Dict[str, Any]:
        """All that 'fa-coord status --json' says."""
        return json.loads(program.output(["status", self.path, "--json"], self.program))

    def trace(self) -> Dict[str, Any]:
        """What hosts and GPUs did over time (docs/exchange.md)."""
        return json.loads(self._export("trace"))

    def rows(self, table: str, shape: Optional[str] = None) -> List[tables.Row]:
        """A table without pandas: a list of dicts.  'table' is results, samples,
        builds, cost, hosts, verdict or convergence; 'shape' is for the last,
        and without it the headline's."""
        if table not in tables.COLUMNS:
            raise ValueError(f"there is no table '{table}'; there are {', '.join(tables.COLUMNS)}")
        if table == "builds":
            return self._build_rows()
        report = self.report()
        if table == "convergence":
            return tables.convergence(report, self.trace(), shape or report["shapes"][0]["name"])
        return getattr(tables, table)(report)

    def results(self) -> pandas.DataFrame:
        """A row is a configuration at a shape; times in seconds."""
        return self._frame("results")

    def samples(self) -> pandas.DataFrame:
        """A row is a sample, in seconds."""
        return self._frame("samples")

    def builds(self) -> pandas.DataFrame:
        """A row is a build, its time in seconds of the compiler."""
        return self._frame("builds")

    def cost(self) -> pandas.DataFrame:
        """A row is a host and what it was held for, in hours and dollars."""
        return self._frame("cost")

    def hosts(self) -> pandas.DataFrame:
        """A row is a GPU with its host; hours and dollars of the host."""
        return self._frame("hosts")

    def verdict(self) -> pandas.DataFrame:
        """A row is the baseline or a finalist of the confirmation at a shape."""
        return self._frame("verdict")

    def convergence(self, shape: Optional[str] = None) -> pandas.DataFrame:
        """A row is a configuration in the order of the search, with the best
        median until then; times in seconds."""
        return self._frame("convergence", shape)

    def sentence(self) -> Optional[str]:
        """The verdict in one sentence; None without a confirmation."""
        return self.report()["verdict"].get("sentence")

    def view_rows(self, name: str) -> List[tables.Row]:
        """The rows of a view of docs/exchange.md, such as 'fa_sample'.  Raises
        ProgramError where this fa-coord has no views, and sqlite3.Error where
        the database has an older format that they do not fit."""
        return views.read(self.path, self._export(VIEWS), name)

    def has_views(self) -> bool:
        """Whether this fa-coord knows the views."""
        return VIEWS in program.output(["export", "--help"], self.program).split()

    def _build_rows(self) -> List[tables.Row]:
        if self.has_views():
            with contextlib.suppress(sqlite3.Error):  # an older format: the trace has less, of any format
                return self._with_bools(self.view_rows("fa_build"))
        return tables.builds(self.trace())

    def _with_bools(self, rows: List[tables.Row]) -> List[tables.Row]:
        """The rows of a view, in which SQLite has 0 and 1 for false and true."""
        names = {"baseline"}
        for row in views.read(self.path, PARAMS, "fa_params"):
            for name, value in json.loads(row["params"]).items():
                while rows and name + "_" in rows[0]:  # it has the name of a column
                    name += "_"
                if isinstance(value, bool):
                    names.add(name)
        return [{name: bool(value) if name in names else value for name, value in row.items()} for row in rows]

    def _export(self, format_name: str) -> str:
        return program.output(["export", "--db", self.path, "--format", format_name], self.program)

    def _frame(self, table: str, shape: Optional[str] = None) -> pandas.DataFrame:
        import pandas
        rows = self.rows(table, shape)
        return pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(tables.COLUMNS[table]))
