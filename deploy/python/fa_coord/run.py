"""A sweep that runs as a child of this process."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional

from . import program as programs
from . import sweep as sweeps
from .database import Database

NO_SWEEP = (2, 7)  # exit codes of status before the database is there, and before it has a sweep
KEEPS_RESULTS = (0, 5, 6)  # exit codes: done, partial, a cap reached
INTERRUPTED = (130, -signal.SIGINT)  # by stop(); the latter before the program could take it


def flags(options: Dict[str, Any]) -> List[str]:
    """Options as flags: max_hours=2 is '--max-hours 2', fresh=True '--fresh'.
    None and False are left out."""
    found: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        found.append("--" + name.replace("_", "-"))
        if value is not True:
            found.append(str(value))
    return found


def progress(status: Optional[Dict[str, Any]]) -> str:
    """One line that says how far a sweep is."""
    if status is None:
        return "starting"
    counts = status["counts"]
    failed = sum(counts[name] for name in ("compile", "runtime", "correctness", "timeout", "lost", "crash"))
    text = f"{status['done']}/{status['total']} measured  {counts['correct']} correct  {failed} failed"
    if status.get("eta_s") is not None:
        minutes, seconds = divmod(round(status["eta_s"]), 60)
        text += f"  {minutes}:{seconds:02d} left"
    if status.get("total_usd"):
        text += f"  ${status['total_usd']:.2f}"
    return text


class Run:
    """'fa-coord sweep' as a child process; it begins at once.

    sweep    the sweep file
    db       the database; without it NAME.db beside the sweep file
    program  fa-coord; without it $FA_COORD, or that of PATH
    options  the flags of 'fa-coord sweep': hosts="hosts.txt", device="cpu",
             evaluations=20, budget=5 (dollars), max_hours=2, ...

    It has a session of its own, so that a cell of a notebook can be interrupted
    without the sweep; stop() interrupts that.  When this process ends, or a 'with'
    block, the sweep is stopped, and can be resumed.
    """

    def __init__(self, sweep: str, db: Optional[str] = None, program: Optional[str] = None, **options: Any) -> None:
        self._program = programs.find(program)
        if db is None:
            name = sweeps.summary(sweep, program)["name"]
            db = os.path.join(os.path.dirname(os.path.abspath(sweep)), name + ".db")
        self.database = Database(db, program)
        self._stopped = False
        self._log = tempfile.TemporaryFile()  # until the end, then 'self._said'
        self._said: Optional[str] = None
        command = [self._program, "sweep", sweep, "--db", self.database.path, "--quiet", *flags(options)]
        self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=self._log, start_new_session=True)
        atexit.register(self.stop)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the child still runs."""
        return self._child.poll() is None

    def status(self) -> Optional[Dict[str, Any]]:
        """What 'fa-coord status --json' says; None before the
        database has a sweep."""
        if not os.path.exists(self.database.path):
            return None
        try:
            return self.database.status()
        except programs.ProgramError as error:
            if error.code in NO_SWEEP and self.running:
                return None
            raise

    def wait(self, timeout_s: Optional[float] = None, every_s: float = 1.0,
             show: Optional[Callable[[str], None]] = None) -> int:
        """Wait for the end.  Returns the exit code (docs/exit-codes.md): 0 done,
        5 partial, 6 a cap reached, or 130 after stop().

        timeout_s  raise TimeoutError after this many seconds; the sweep goes on
        every_s    seconds between two looks at the progress
        show       called with one line of progress when it has changed

        Raises ProgramError with the message of the sweep for any other end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        shown = ""
        while True:
            left = every_s if deadline is None else min(every_s, deadline - time.monotonic())
            try:
                self._child.wait(max(left, 0))
            except subprocess.TimeoutExpired:
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError(f"the sweep still runs after {timeout_s} s") from None
            running = self.running
            if show is not None:
                line = self._progress()
                if line != shown:
                    show(line)
                shown = line
            if not running:
                return self._end()

    def watch(self, every_s: float = 1.0) -> int:
        """wait(), with one line of progress that is printed again where it
        stands."""
        try:
            return self.wait(every_s=every_s, show=lambda line: print(f"\r{line:<78}", end="", flush=True))
        finally:
            print(file=sys.stdout)

    def stop(self, timeout_s: float = 60) -> int:
        """Send SIGINT, the Ctrl-C of fa-coord: it lets running work finish for
        15 s at most, and leaves a database that can be resumed.  Returns the
        exit code, as of a sweep that had ended before.  After 'timeout_s' a
        second SIGINT ends it at once."""
        for _ in range(2):
            if self.running:
                self._stopped = True
                self._child.send_signal(signal.SIGINT)
                try:
                    self._child.wait(timeout_s)
                except subprocess.TimeoutExpired:
                    continue
            break
        self._child.wait()
        return self._finish()

    def log(self) -> str:
        """What the sweep has printed as messages."""
        if self._said is not None:
            return self._said
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode("utf-8", "replace")

    def _progress(self) -> str:
        try:
            return progress(self.status())
        except programs.ProgramError:  # wait() raises what the sweep said
            return "ended"

    def _finish(self) -> int:
        """The exit code of a child that has ended."""
        self._said = self.log()
        self._log.close()
        atexit.unregister(self.stop)
        return self._child.returncode

    def _end(self) -> int:
        code = self._finish()
        if code in KEEPS_RESULTS or (self._stopped and code in INTERRUPTED):
            return code
        raise programs.ProgramError(programs.message(self.log(), code), code)
