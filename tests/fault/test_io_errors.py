"""F9: calls that fail in fa-coord or in fa-worker (failing_calls.c), at moments drawn by FA_SEED.

A sweep whose disk or memory fails ends by itself: complete, or with one message
that names the place and the remedy.  Once all is well again, the same command
completes it, and what was stored stays stored.  To repeat one of them:

    FA_ORDER="fa-coord read 5 75 1"    # program, kind, errno, from which call, how many (0: all)
"""

import array
import concurrent.futures
import errno
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import landscape
import rig

FAULT = os.environ["FA_FAULT_DIR"]
SHIM = os.path.join(FAULT, "failing_calls.so")
KINDS = {"open": (errno.EIO, errno.ENOSPC, errno.EMFILE), "read": (errno.EIO,), "write": (errno.EIO, errno.ENOSPC),
         "sync": (errno.EIO, errno.ENOSPC), "truncate": (errno.EIO,), "map": (errno.ENOMEM,),
         "memory": (errno.ENOMEM,)}
PROGRAMS = ("fa-coord", "fa-worker")
END_S = 280  # a sweep waits for its only host for 120 s
AT_ONCE = 12
CODES = (1, 3, 5, 7)  # docs/exit-codes.md
REMEDY = re.compile(r"make room|free some|dmesg|ulimit|run the same command again|workdir=|worker\.log|fa-coord doctor"
                    r"|fa-runner cannot open the device: exit status 127: (?!No such file)")
LIBRARY = re.compile(r"Assertion failed|out of memory|OUT OF MEMORY|bad_alloc")


class Counts:
    """The numbers that a test shares with processes."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.write(bytes(8 * (len(KINDS) + 2)))

    def _read(self):
        with open(self.path, "rb") as f:
            return array.array("Q", f.read())

    def calls(self):
        return dict(zip(KINDS, self._read()))

    def failed(self):
        return self._read()[len(KINDS)]

    def heal(self):
        with open(self.path, "r+b") as f:
            f.seek(8 * (len(KINDS) + 1))
            f.write(b"\1")


class Sweep:
    """One sweep in a folder, with a HOME and a worker of its own."""

    def __init__(self, test, name, kept=None):
        self.folder = test.path(name)
        self.env = {**test.env, "HOME": os.path.join(self.folder, "home"),
                    "XDG_RUNTIME_DIR": os.path.join(self.folder, "run")}
        for key in ("HOME", "XDG_RUNTIME_DIR"):
            os.makedirs(self.env[key], mode=0o700)
        self.workdir = os.path.join(self.env["HOME"], ".cache", "fa-coord")
        if kept:
            shutil.copytree(kept, self.workdir)
        self.program = os.path.join(test.bin, "fa-coord")
        self.command = ("sweep", "--device", f"replay={test.record}", "--speed-up", "100000", "--db", "x.db",
                        "--linger", "1")
        self.counts = Counts(os.path.join(self.folder, "counts"))

    def failing(self, program, order, part=""):
        """Run it; calls are counted, and without an order none fails.  'part' is of the files' paths."""
        preload = {"LD_PRELOAD": SHIM, "FA_FAIL_COUNTS": self.counts.path, "FA_FAIL_PROGRAM": program,
                   "FA_FAIL_PATH": part or self.folder, "FA_FAIL": " ".join(map(str, order))}
        return self.run(*self.command, env={**self.env, **preload})

    def run(self, *args, env=None):
        return subprocess.run([self.program, *args], cwd=self.folder, env=env or self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=END_S)

    def rows(self, sql):
        """Rows of its database; none while it has no tables."""
        try:
            db = sqlite3.connect(f"file:{os.path.join(self.folder, 'x.db')}?mode=ro", uri=True, timeout=10)
        except sqlite3.OperationalError:
            return set()
        try:
            return set(db.execute(sql).fetchall())
        except sqlite3.OperationalError:
            return set()
        finally:
            db.close()

    def nonces(self):
        return self.rows("SELECT nonce FROM result")

    def table(self):
        return self.rows("SELECT config, shape, outcome FROM outcome")


def ending(ran, kind):
    """What is wrong with how a sweep ended, or None."""
    if ran.returncode == 0:
        return None
    said = [line for line in ran.stderr.splitlines() if line.startswith("fa-coord: ")]
    if kind == "memory" and ran.returncode == -signal.SIGABRT:  # of ZeroMQ and C++, whose allocations abort
        return None if LIBRARY.search(ran.stderr) else "it aborted without a word"
    if ran.returncode not in CODES:
        return f"exit code {ran.returncode}"
    if len(said) != 1:
        return f"{len(said)} messages"
    if not REMEDY.search(said[0]):
        return "no remedy"
    if not re.search(r"x\.db|localhost: |/", said[0]) and kind != "memory":
        return "no place"
    return "it says that the file is corrupt" if "corrupt" in said[0] else None


class IoErrors(rig.Rig):
    def setUp(self):
        super().setUp()
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        shutil.copy(os.path.join(rig.BIN, "fa-coord"), self.bin)
        shutil.copy(os.path.join(FAULT, "fa-worker"), self.bin)  # one that can be preloaded
        self.record = self.path("bowl.json")
        landscape.make(self.record, xs=(32, 64), ys=(2, 4), unrolls=(1, 2))
        self.kept = rig.RUNNERS

    def learn(self):
        self.calls = {program: self.count(program) for program in PROGRAMS}

    def count(self, program):
        """How many calls of each kind a sweep makes that nothing disturbs."""
        sweep = Sweep(self, f"count-{program}", self.kept)
        ran = sweep.failing(program, ())
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.wanted = sweep.table()
        self.end_workers()
        if self.kept == rig.RUNNERS:
            self.workdir = sweep.workdir  # whose runner is kept for later tests
            self.kept = self.path("kept")
            for part in "builds", "artifacts":
                shutil.copytree(os.path.join(sweep.workdir, part), os.path.join(self.kept, part))
            os.chmod(self.kept, 0o700)
        return sweep.counts.calls()

    def draw(self, n, times):
        """Orders, each kind of call in turn; 'times' is how often a program's calls fail."""
        self.learn()
        seed = int(os.environ.get("FA_SEED") or os.environ.get("FA_USUAL_SEED") or random.randrange(1 << 30))
        print(f"FA_SEED={seed}")
        chance = random.Random(seed)
        kinds = [(program, kind) for kind in KINDS for program in PROGRAMS
                 if self.calls[program][kind]]
        for i in range(n):
            program, kind = kinds[i % len(kinds)]
            yield (program, kind, chance.choice(KINDS[kind]), chance.randint(1, self.calls[program][kind]),
                   chance.choice(times[program]))

    def trial(self, number, order):
        """What is wrong with a sweep under this order, or None; and its seconds."""
        program, kind, *_ = order
        sweep = Sweep(self, str(number), self.kept)
        began = time.monotonic()
        try:
            ran = sweep.failing(program, order[1:])
        except subprocess.TimeoutExpired:
            return "it did not end", END_S
        took = time.monotonic() - began
        wrong, stored = ending(ran, kind), sweep.nonces()
        sweep.counts.heal()
        again = sweep.run(*sweep.command)
        if not wrong and again.returncode:
            wrong = "it does not go on"
        if not wrong and not stored <= sweep.nonces():
            wrong = "a stored result is lost"
        if not wrong and sweep.table() != self.wanted:
            wrong = "another table"
        if not wrong and sweep.run("verify", "x.db").returncode:
            wrong = "verify finds something"
        return (f"{wrong}: exit {ran.returncode}\n{ran.stderr}\nagain: {again.stderr}" if wrong else None), took

    def suffer(self, orders):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            ends = list(pool.map(self.trial, range(len(orders)), orders))
        wrong = [f'FA_ORDER="{" ".join(map(str, order))}": {text}' for order, (text, _) in zip(orders, ends) if text]
        print(f"{len(orders)} repetitions, {len(orders) - len(wrong)} passed, "
              f"worst {max(took for _, took in ends):.1f} s")
        self.assertEqual(wrong, [], "\n".join(wrong))


class Drawn(IoErrors):
    def test_a_sweep_survives_failing_calls(self):
        given = os.environ.get("FA_ORDER")
        orders = list(self.draw(12, {"fa-coord": (1, 0), "fa-worker": (1,)}))
        if given:
            program, kind, *numbers = given.split()
            orders = [(program, kind, *map(int, numbers))]
        self.suffer(orders)


class Named(IoErrors):
    def test_what_cannot_be_read_is_not_called_corrupt(self):
        sweep = Sweep(self, "read", self.kept)
        first = sweep.run(*sweep.command)
        self.assertEqual(first.returncode, 0, first.stderr)
        for since in 1, 2, 6:
            ran = sweep.failing("fa-coord", ("read", errno.EIO, since, 0), "x.db")
            self.assertEqual(ran.returncode, 7, ran.stderr)
            self.assertRegex(ran.stderr, "(?m)^fa-coord: x.db: .*Input/output error: see the kernel's log")

    def test_a_file_that_is_refused_gives_the_lease_back(self):
        sweep = Sweep(self, "refused", self.kept)
        ran = sweep.failing("fa-worker", ("open", errno.EIO, 1, 8), "/gen/params.h")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("it refused a lease: '", ran.stderr)
        self.assertEqual(sweep.counts.failed(), 8)
        self.assertEqual(sweep.rows("SELECT outcome FROM outcome"), {("correct",)})


if __name__ == "__main__":
    unittest.main()
