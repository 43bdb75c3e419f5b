"""Hosts that start= and stop= acquire and release: real sshds, of rent.sh."""

import json
import os
import sqlite3

import boxes
import landscape
import rig

RENT = os.path.join(rig.SOURCE, "tests", "e2e", "rent.sh")


class Rented(boxes.Boxes):
    def machine(self, name, attributes=""):
        """A line of hosts.txt for a machine that is off."""
        self.with_runner(self.path(name))
        sshd = self.sshd(name=f"sshd-{name}")
        sshd.stop()
        self.of[name] = sshd
        line = sshd.line(f"workdir={self.path(name)} {attributes}").split(" ", 1)[1]
        user = sshd.line().split("@")[0]
        return (f'{user}@{name} start="{RENT} {sshd.folder} start" stop="{RENT} {sshd.folder} stop" {line}')

    def tearDown(self):
        for name in self.of:
            if self.runs(name):
                os.kill(int(self.read(name, "pid")), 15)
        super().tearDown()

    def read(self, name, what):
        try:
            with open(self.of[name].path(what)) as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def runs(self, name):
        """Is there a machine that costs money?"""
        try:
            with open(f"/proc/{int(self.read(name, 'pid'))}/cmdline", "rb") as f:
                return bool(f.read())
        except (ValueError, FileNotFoundError):
            return False

    def clock(self, name, word):
        """When the machine did that, by its own clock: seconds."""
        return [float(line.split()[1]) for line in self.read(name, "clock").splitlines() if line.split()[0] == word]

    def behave(self, name, what, value=""):
        with open(self.of[name].path(what), "w") as f:
            f.write(value)

    def behave_again(self, name, what):
        os.unlink(self.of[name].path(what))

    def machines(self, folder, db):
        """What is not released, as fa-coord says."""
        return json.loads(self.run_coord(folder, "release", db, "--dry-run", "--json").stdout)["machines"]

    def rows(self, db, columns="host, state"):
        """Acquisitions, the oldest first; none while there is no database yet."""
        if not os.path.exists(db):
            return []
        con = sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=10)
        try:
            return con.execute(f"SELECT {columns} FROM acquisition ORDER BY started_utc").fetchall()
        except sqlite3.Error:
            return []
        finally:
            con.close()

    def record(self, **options):
        """A landscape for 'replay='; few configurations that build at once."""
        landscape.make(self.path("bowl.json"), **{"xs": (16, 32), "ys": (1, 2), "unrolls": (1,), "compile_ms": 20.0,
                                                  **options})
        return "replay=bowl.json"
