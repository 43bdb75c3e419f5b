"""Another version of fa-worker on a host: installed, still running from an earlier coordinator, or with another protocol
(F18).

The other version is fa-worker with bytes at its end: another hash, the same behaviour.
"""

import os
import shutil
import unittest

import boxes
import landscape
import rig

END_S = 240  # a hang, whatever the speed of the machine


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Versions(boxes.Boxes):
    def other_version(self):
        """A folder with this fa-coord and another fa-worker."""
        folder = self.path("other")
        os.mkdir(folder)
        for name in ("fa-coord", "fa-worker"):
            shutil.copy(os.path.join(rig.BIN, name), folder)
        with open(os.path.join(folder, "fa-worker"), "ab") as f:
            f.write(b"another version")
        return folder

    def installed(self, name):
        return [n for n in os.listdir(self.path(name)) if n.startswith("fa-worker-")]

    def programs(self):
        """The files that the workers run."""
        found = set()
        for pid, _ in self.workers():
            try:
                found.add(os.path.basename(os.readlink(f"/proc/{pid}/exe")))
            except FileNotFoundError:  # it has just ended
                pass
        return found

    def test_a_worker_of_another_version_that_still_runs(self):
        landscape.make(self.path("bowl.json"), xs=(1, 2, 4, 8), ys=(1, 2), unrolls=(1, 2), compile_ms=200)
        line = self.box("b0")
        args = ("sweep", "--device", "replay=bowl.json", "--db", "x.db", "--hosts", self.hosts(line))
        ours, self.bin = self.bin, self.other_version()
        self._start(self.folder, END_S, *args)
        self.until_settled(1)
        self.end_coordinator()
        [first] = self.installed("b0")
        self.assertEqual(self.programs(), {first})
        self.bin = ours
        self._start(self.folder, END_S, *args)
        self.until("the new one runs", lambda: self.programs() and first not in self.programs())
        self.finish()
        self.assertIn(f"{self.address('b0')}: its worker is of another version, from an earlier run, and is replaced",
                      self.stderr())
        self.assertEqual(self.stderr().count("another version"), 1, self.stderr())
        self.assertEqual(len(self.installed("b0")), 2, "this run's own one was installed")

    def test_a_worker_with_another_protocol(self):
        self.build_replay_runner()
        honest, other = self.box("honest"), self.stand_in("other", "beats", lines=["protocol 2"])
        folder = self.path("sweep")
        os.mkdir(folder)
        self._start(folder, END_S, "sweep", "--device", "replay=../one.json", "--hosts", self.hosts(honest, other))
        self.finish()
        told = [line for line in self.stderr().splitlines() if self.address("other") in line]
        self.assertEqual(len(told), 1, self.stderr())
        self.assertRegex(told[0], r"not used: .*worker \S+ speaks protocol 2, fa-coord \S+ speaks 1")
        self.assertEqual(self.heard("other", "WELCOME"), 0)

    def test_the_only_worker_has_another_protocol(self):
        landscape.make(self.path("one.json"), xs=(16,), ys=(1,), unrolls=(1,), compile_ms=1)
        other = self.stand_in("other", "beats", lines=["protocol 2"])
        ran = self.run_coord(self.folder, "sweep", "--device", "replay=one.json", "--hosts", self.hosts(other), code=3)
        self.assertEqual(ran.stderr.count("speaks protocol 2"), 1, ran.stderr)


if __name__ == "__main__":
    unittest.main()
