"""What hosts compiled is kept by the coordinator: no fleet compiles it twice."""

import os
import unittest

import boxes
import rig
import sweepfile


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Kept(boxes.Boxes):
    def kept(self):
        folder = self.path("home", ".cache", "fa-coord", "kept")
        try:
            return set(os.listdir(folder))
        except FileNotFoundError:
            return set()

    def built(self, folder):
        """Artifacts of a sweep's builds."""
        return {a for a, in self.query(folder, "SELECT artifact FROM build WHERE outcome = 'built'")}

    def builds(self, folder):
        return self.query(folder, "SELECT host, count(*) FROM build GROUP BY host ORDER BY host")

    def test_what_a_lost_builder_built_is_measured_by_a_host_that_comes_later(self):
        """The builder builds all of it and is gone; another shape is for a host that never built."""
        folder = self.small()
        gpu = self.box("gpu", "role=gpu")
        self.sweep(folder, self.box("builder", "role=builder slots=2"), gpu)
        self.finish()
        before = self.builds(folder)
        self.assertEqual([host for host, _ in before], [self.address("builder")])
        self.assertLessEqual(self.built(folder), self.kept())
        self.kill("builder")
        self.kill("gpu")

        sweep = sweepfile.read(folder)
        sweep["emulation_shapes"] = [{"name": "other", "N": 5101}]
        sweepfile.write(folder, sweep)
        self.sweep(folder, self.box("fresh", "slots=1"))
        self.finish()
        self.assertEqual(self.builds(folder), before, "nothing was built again")
        self.assertEqual(self.settled(folder), 18)
        self.assert_invariants(folder)

    def test_another_database_uploads_nothing_again(self):
        """The host has the worker, the runner and all artifacts: what is carried is login and messages."""
        folder = self.small()
        line, proxy = self.by_proxy("a", self.box("a"))
        self.sweep(folder, line, args=("--db", "first.db"))
        self.assertEqual(self.coord.wait(240), 0, self.stderr())
        first, size = proxy.carried, os.path.getsize(os.path.join(self.bin, "fa-worker"))
        self.assertGreater(first, size)
        self.sweep(folder, line, args=("--db", "second.db"))
        self.assertEqual(self.coord.wait(240), 0, self.stderr())
        rig.figure("carried for the second database", (proxy.carried - first) / 1e3, "kB")
        self.assertLess(proxy.carried - first, size / 4)


if __name__ == "__main__":
    unittest.main()
