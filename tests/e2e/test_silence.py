"""Frozen programs: a sleeping laptop, a worker that hangs (F6, F7)."""

import os
import signal
import time
import unittest

import rig


class Silence(rig.Rig):
    def freeze(self, pid, seconds):
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)  # the time itself is what is tested
        finally:
            os.kill(pid, signal.SIGCONT)

    def lost(self, folder):
        return self.query(folder, "SELECT count(*) FROM lease WHERE ending = 'lost'")[0][0]

    def test_a_frozen_coordinator_blames_nobody(self):
        folder = self.kernel("vector_add")
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("a first result", lambda: self.settled(folder) >= 1, 120)
        self.freeze(coord.pid, 40)
        self.assertEqual(coord.wait(120), 0, self.stderr())
        self.assertEqual(self.lost(folder), 0)
        self.assert_invariants(folder)
        held = self.query(folder, "SELECT sum(end_ns - start_ns) / 1e9 FROM interval")[0][0]
        self.assertGreater(held, 40, "the time asleep is billed")

    def test_the_work_of_a_frozen_worker_goes_to_another(self):
        folder = self.kernel("vector_add")
        hosts = self.hosts("localhost", self.sshd().line(f"workdir={self.with_runner(self.path('remote'))}"))
        coord = self.start(folder, "sweep", "--hosts", hosts, "--device", "cpu")
        rig.until("results of both", lambda: len(self.measured_by(folder)) == 2, 120)
        victim = [p for p in self.workers() if self.path("remote") in p[1]][0][0]
        os.kill(victim, signal.SIGSTOP)
        try:
            self.assertEqual(coord.wait(150), 0, self.stderr())
        finally:
            os.kill(victim, signal.SIGCONT)
        self.assert_all_correct(self.report(folder))
        self.assert_invariants(folder)

    def measured_by(self, folder):
        return self.query(folder, "SELECT DISTINCT host FROM result") if self.settled(folder) else []


if __name__ == "__main__":
    unittest.main()
