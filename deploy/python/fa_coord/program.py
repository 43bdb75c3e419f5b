"""The program fa-coord: found, run, and its errors raised."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Optional, Sequence

VARIABLE = "FA_COORD"
PREFIX = "fa-coord: "
WARNING = PREFIX + "warning: "


class ProgramError(Exception):
    """What fa-coord said.

    code  its exit code (docs/exit-codes.md); None if it could not be started,
          negative if a signal ended it
    """

    def __init__(self, text: str, code: Optional[int] = None) -> None:
        super().__init__(text)
        self.code = code


def message(stderr: str, code: Optional[int]) -> str:
    """The error in what the program printed: from its line to the end, without
    warnings and progress before it."""
    lines = stderr.rstrip().splitlines()
    for i in range(len(lines) - 1, -1, -1):
        if lines[i].startswith(PREFIX) and not lines[i].startswith(WARNING):
            return "\n".join([lines[i][len(PREFIX):], *lines[i + 1:]])
    return lines[-1] if lines else f"fa-coord ended with exit code {code}"


def find(program: Optional[str] = None) -> str:
    """The path of fa-coord: 'program', or $FA_COORD, or what PATH has.
    Raises ProgramError where there is none."""
    name = program or os.environ.get(VARIABLE) or "fa-coord"
    path = shutil.which(name)
    if path is None:
        raise ProgramError(f"there is no program '{name}'; add its folder to PATH, or set {VARIABLE} to its path")
    return os.path.abspath(path)


def output(arguments: Sequence[str], program: Optional[str] = None) -> str:
    """Run fa-coord to its end, and return what it printed on stdout.
    Raises ProgramError, unless it ends with exit code 0."""
    done = subprocess.run([find(program), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        raise ProgramError(message(done.stderr, done.returncode), done.returncode)
    return done.stdout
