"""A command that writes a file is killed in drawn calls (failing_calls.c): the file is the old one or absent, and the
same command works again and leaves nothing beside it (F2).

FA_CUTS says how often, and FA_SEED draws the same calls again.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import unittest

import landscape
import rig
import test_io_errors

CUTS = int(os.environ.get("FA_CUTS", "4"))
KINDS = ("open", "write", "sync", "truncate")
END_S = 120  # a hang, whatever the speed of the machine


class Output(rig.Rig):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(int(os.environ.get("FA_SEED", "1")))
        shutil.copy(os.path.join(rig.FIXTURES, "compare", "base.db"), self.path("base.db"))
        with sqlite3.connect(self.path("base.db")) as db:  # so that its readers write nothing
            db.execute("PRAGMA journal_mode=DELETE")
        landscape.make(self.path("bowl.json"), xs=(1, 2, 4, 8, 16))

    def failing(self, command, order=""):
        """Run it; how it ended, and its calls on 'out' and on files beside it."""
        counts = test_io_errors.Counts(self.path("home", "counts"))
        preload = {"LD_PRELOAD": test_io_errors.SHIM, "FA_FAIL_COUNTS": counts.path, "FA_FAIL_PROGRAM": "fa-coord",
                   "FA_FAIL_PATH": "out", "FA_FAIL": order}
        ran = subprocess.run([os.path.join(self.bin, "fa-coord"), *command], cwd=self.folder,
                             env={**self.env, **preload}, stdin=subprocess.DEVNULL, capture_output=True, timeout=END_S)
        return ran, counts.calls()

    def killed(self, order, *command):
        ran, _ = self.failing(command, order)
        self.assertEqual(ran.returncode, -signal.SIGKILL, ran.stderr)

    def names(self):
        """What the folder holds; the lock of a database stays beside it."""
        return {name for name in os.listdir(self.folder) if name != "out.lock"}

    def bytes_of(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def cuts(self, command):
        """Orders to kill it, one for each drawn call."""
        ran, calls = self.failing(command)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        orders = [f"{kind} 0 {n} 1" for kind in KINDS for n in range(1, calls[kind] + 1)]
        self.assertGreater(calls["write"], 0)
        return self.draw.sample(orders, min(CUTS, len(orders)))

    def new_file(self, *command):
        """'out' does not exist before."""
        before = self.names()
        for order in self.cuts(command):
            with self.subTest(order=order):
                os.remove(self.path("out"))
                self.killed(order, *command)
                self.assertFalse(os.path.exists(self.path("out")))
                self.run_coord(self.folder, *command)
                self.assertEqual(self.names(), before | {"out"})

    def old_file(self, *command):
        """'out' exists before, and is replaced."""
        orders = self.cuts([*command, "--force"])
        whole, before = self.bytes_of("out"), self.names()
        for order in orders:
            with self.subTest(order=order):
                with open(self.path("out"), "wb") as f:
                    f.write(b"old")
                self.killed(order, *command, "--force")
                self.assertEqual(self.bytes_of("out"), b"old")
                self.run_coord(self.folder, *command, "--force")
                self.assertEqual(self.bytes_of("out"), whole)
                self.assertEqual(self.names(), before)

    def test_an_export(self):
        self.new_file("export", "--db", "base.db", "--out", "out")
        self.old_file("export", "--db", "base.db", "--out", "out")

    def test_a_page(self):
        self.new_file("report", "base.db", "--html", "out")
        self.old_file("report", "base.db", "--html", "out")

    def test_a_recovered_database(self):
        self.new_file("recover", "base.db", "--to", "out")
        self.run_coord(self.folder, "verify", "out")

    def test_an_imported_database(self):
        self.new_file("import", "bowl.json", "--out", "out")
        self.run_coord(self.folder, "verify", "out")

    def test_an_imported_sweep_file(self):
        self.new_file("import", "bowl.json", "--sweep", "out")


if __name__ == "__main__":
    unittest.main()
