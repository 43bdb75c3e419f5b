"""The same sweeps through a real sshd on loopback."""

import os
import signal
import unittest

import rig


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Ssh(rig.Rig):
    def test_a_sweep_over_ssh_with_costs(self):
        folder = self.few()
        hosts = self.hosts(self.sshd().line("rate=0.68"))
        self.run_coord(folder, "sweep", "--hosts", hosts, "--device", "cpu")
        report = self.report(folder, "--cost")
        self.assert_all_correct(report)
        [host] = report["cost"]["hosts"]
        self.assertEqual(host["rate_usd_per_h"], 0.68)
        self.assertAlmostEqual(host["usd"], host["hours"] * 0.68, places=6)
        text = self.run_coord(folder, "report", "--cost").stdout
        self.assertIn("measuring", text)
        self.assert_invariants(folder)

    def test_two_hosts_side_by_side(self):
        folder = self.few(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=[1, 2, 4, 8])
        remote = self.sshd().line(f"rate=0.68 workdir={self.with_runner(self.path('remote'))}")
        hosts = self.hosts("localhost", remote)
        self.run_coord(folder, "sweep", "--hosts", hosts, "--device", "cpu")
        report = self.report(folder, "--cost")
        self.assert_all_correct(report)
        self.assertEqual({h["host"] for h in report["cost"]["hosts"]},
                         {"localhost", remote.split(" ")[0]})
        self.assertEqual(report["cost"]["unpriced"], ["localhost"])
        # Without a canary, which emulated times have only where it is asked for.
        self.assertEqual(self.query(folder, "SELECT DISTINCT purpose, round FROM result"), [("screen", 0)])
        self.assert_invariants(folder)

    def test_a_builder_builds_for_a_host_that_only_measures(self):
        folder = self.few()
        measures = self.sshd().line(f"role=gpu workdir={self.with_runner(self.path('remote'))}")
        hosts = self.hosts(f"localhost role=builder workdir={self.path('local')}", measures)
        self.run_coord(folder, "sweep", "--hosts", hosts, "--device", "cpu")
        self.assert_all_correct(self.report(folder))
        self.assertEqual(self.query(folder, "SELECT DISTINCT host FROM build"), [("localhost",)])
        self.assertEqual(self.query(folder, "SELECT DISTINCT host FROM result"), [(measures.split(" ")[0],)])
        self.assert_invariants(folder)

    def test_the_systems_ssh_does_the_same(self):
        folder = self.few()
        hosts = self.hosts(self.sshd().line())
        self.run_coord(folder, "sweep", "--hosts", hosts, "--device", "cpu", "--ssh=openssh")
        self.assert_all_correct(self.report(folder))

    def test_an_unknown_host_key_is_refused(self):
        folder = self.few()
        line = self.sshd().line().replace("hostkey=", "#")
        ran = self.run_coord(folder, "sweep", "--hosts", self.hosts(line), "--device", "cpu", code=4)
        self.assertIn("--accept-new-host-keys", ran.stderr)
        self.assertIn(self.sshds[0].fingerprint(), ran.stderr)

    def test_nothing_answers(self):
        folder = self.few()
        sshd = self.sshd()
        line = sshd.line()
        sshd.stop()
        ran = self.run_coord(folder, "sweep", "--hosts", self.hosts(line), "--device", "cpu", code=3)
        self.assertIn("127.0.0.1", ran.stderr)

    def test_a_broken_connection_is_made_again(self):
        folder = self.few(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=[1, 2, 4, 8])
        sshd = self.sshd()
        coord = self.start(folder, "sweep", "--hosts", self.hosts(sshd.line()), "--device", "cpu")
        rig.until("a first result", lambda: self.settled(folder) >= 1, 120)
        self.cut(sshd)
        self.assertEqual(coord.wait(200), 0, self.stderr())
        self.assert_invariants(folder)
        self.assertEqual({o for _, _, o in self.final_table(folder)}, {"correct"})

    def cut(self, sshd):
        """End the server's child that carries the session, as a lost link would."""
        children = [int(p) for p in os.listdir("/proc") if p.isdigit() and rig.parent(p) == sshd.process.pid]
        self.assertTrue(children)
        for pid in children:
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
