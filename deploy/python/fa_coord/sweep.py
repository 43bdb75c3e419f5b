"""A sweep file, from a dict."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, Optional

from . import program

FILE = "sweep.json"


def plain(value: Any) -> Any:
    """'value' as JSON knows it: ranges and arrays become lists, and numbers of
    numpy become numbers.  Raises TypeError for anything else."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist())
    raise TypeError(f"a sweep file cannot hold {value!r}; write a number, a text, a bool, a list or a dict")


class Sweep(Dict[str, Any]):
    """The content of a sweep file (docs/sweep-file.md), a dict that can be
    written: Sweep(name=..., kernel={...}, tunables={...}, ...), or
    Sweep(a_dict)."""

    def text(self) -> str:
        """The sweep file.  Raises TypeError or ValueError for what JSON cannot
        hold."""
        try:
            return json.dumps(plain(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        except ValueError:
            raise ValueError("a sweep file cannot hold a number that is infinite or NaN") from None

    def write(self, folder: str, force: bool = False, check: bool = True, program: Optional[str] = None) -> str:
        """Write sweep.json into a folder, which has the kernel's sources, have
        'fa-coord check' read it, and return its path.

        force    replace a file that is there; else FileExistsError
        check    False for a folder whose sources come later

        Raises ProgramError with the message of the check; the file stays, so
        that you find the line that the message names."""
        path = os.path.join(folder, FILE)
        text = self.text()
        if not force and os.path.exists(path):
            raise FileExistsError(f"{path} exists; write(force=True) replaces it")
        part = path + ".fa-part"
        with open(part, "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(part, path)
        if check:
            summary(path, program)
        return path


def summary(path: str, program_path: Optional[str] = None) -> Dict[str, Any]:
    """What 'fa-coord check --no-build --json' says of a sweep file: its name,
    configurations, how many pass the gates, and so on.  Raises ProgramError
    where something is wrong with it."""
    return json.loads(program.output(["check", path, "--no-build", "--json"], program_path))
