"""kill -9 of the coordinator in each state of a rented host, at moments that FA_SEED draws, FA_TRIES times.

After each kill the truth is the machine itself: what 'fa-coord release --dry-run' lists must be all that runs, and
after 'fa-coord release' nothing may run.  The times of the rows are compared with the machine's own clock.
"""

import os
import random
import unittest

import rented
import rig

TRIES = int(os.environ.get("FA_TRIES", "100"))
SEED = int(os.environ.get("FA_SEED", "1"))
NEAR_S = 1.0  # between a row's time and the machine's own


class Kills(rented.Rented):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(SEED)
        self.line = self.machine("box", "rate=0.68")
        self.args = ("sweep", "--device", self.record(compile_ms=20.0), "--hosts", self.hosts(self.line))

    def states(self, db):
        """What to wait for before the kill."""
        row = lambda state: lambda: (state,) in self.rows(self.path(db), "state")
        return {
            "wanted": lambda: os.path.exists(self.path(db)),
            "starting": row("starting"),
            "acquired": row("acquired"),
            "in use": lambda: "ready:" in self.stderr(),
            "stopping": row("stopping"),
        }

    def kill_in(self, state, db):
        """True if it was killed, and not over before."""
        with self.start(self.folder, *self.args, "--db", db) as coord:
            reached = self.states(db)[state]
            rig.until(state, lambda: reached() or coord.poll() is not None)
            try:
                coord.wait(self.draw.random() * self.draw.choice((0.01, 0.1, 1.0)))
            except rig.subprocess.TimeoutExpired:
                pass
            killed = coord.poll() is None
            coord.kill()
        return killed

    def is_made(self, db):
        """False if it was killed before the database had its tables."""
        if not os.path.exists(self.path(db)):
            return False
        return "is an empty file" not in self.run_coord(self.folder, "release", db, "--dry-run", code=None).stderr

    def check(self, db):
        """Nothing runs unnoticed, and nothing runs after a release."""
        listed = self.is_made(db) and bool(self.machines(self.folder, db))
        if self.runs("box"):
            self.assertTrue(listed, "a machine runs, and nothing says so")
        if listed:
            self.run_coord(self.folder, "release", db)
            self.assertEqual(self.machines(self.folder, db), [])
        self.assertFalse(self.runs("box"))

    def compare_clocks(self, db):
        """Seconds between the rows of a database and the machine's own clock, at most."""
        far = 0.0
        for id, started, released in self.rows(self.path(db), "id, started_utc, released_utc"):
            mine = [line.split() for line in self.read("box", "clock").splitlines() if line.split()[3] == id]
            begun = [float(line[1]) for line in mine if line[0] == "asked"]
            ended = [float(line[1]) for line in mine if line[0] == "stop"]
            if begun:
                far = max(far, begun[0] - started / 1e9)
            if ended:
                far = max(far, released / 1e9 - ended[-1])
        return far

    def test_no_machine_is_left_running_unnoticed(self):
        names = list(self.states("x"))
        killed, far = 0, 0.0
        for i in range(TRIES):
            db = f"k{i}.db"
            killed += self.kill_in(names[i % len(names)], db)
            self.check(db)
            if self.is_made(db):
                far = max(far, self.compare_clocks(db))
            self.assertEqual(self.end_workers(), [])
        rig.figure("coordinators killed", killed, f"of {TRIES}")
        rig.figure("rows and machine's own clock differ", far, "s")
        self.assertGreater(killed, TRIES / 2)
        self.assertLess(far, NEAR_S)


if __name__ == "__main__":
    unittest.main()
