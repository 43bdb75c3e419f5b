"""Hosts that cannot do what a sweep needs: one clear end, and the right exit code."""

import os
import shutil
import signal
import subprocess
import unittest

import rig
import sweepfile


class Hosts(rig.Rig):
    def sweep(self, hosts, code, *args):
        folder = self.few()
        ran = self.run_coord(folder, "sweep", "--hosts", hosts, "--device", "cpu", *args, code=code)
        return folder, ran.stderr

    def test_a_file_without_a_host_that_measures_is_refused(self):
        _, said = self.sweep(self.hosts("localhost role=builder"), 2)
        self.assertIn("no host can measure", said)

    def test_a_file_without_a_host_that_builds_is_refused(self):
        _, said = self.sweep(self.hosts("localhost role=gpu"), 2)
        self.assertIn("no host can build", said)

    def test_a_builder_alone_does_not_wait_for_a_host_that_never_comes(self):
        _, said = self.sweep(self.hosts("localhost role=builder", "root@127.0.0.1:1"), 3)
        self.assertIn("no host is left that can measure", said)
        self.assertIn("Connection refused", said)

    def test_a_host_is_named_once_in_its_message(self):
        _, said = self.sweep(self.hosts("root@127.0.0.1:1"), 3)
        self.assertNotIn("root@127.0.0.1:1: root@127.0.0.1:1", said)
        self.assertEqual(said.count("trying again"), 1)

    def test_a_budget_without_a_price_is_refused(self):
        _, said = self.sweep(self.hosts("localhost"), 2, "--budget", "3")
        self.assertIn("rate=", said)

    @unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
    def test_two_names_of_one_worker_use_it_once(self):
        line = self.sshd().line()
        folder, said = self.sweep(self.hosts(line, "localhost"), 0)
        self.assertIn("under another name", said)
        self.assertNotIn("broke the protocol", said)
        self.assert_all_correct(self.report(folder))
        self.assert_invariants(folder)

    @unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
    def test_what_libssh2_cannot_do_the_systems_ssh_does(self):
        folder = self.few(BLOCK_SIZE=[64], ITEMS=[1])
        line = self.sshd(["Ciphers aes256-gcm@openssh.com"]).line()
        ran = self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", self.hosts(line))
        self.assertEqual(ran.stderr.count("libssh2 cannot agree with the server on algorithms"), 1)
        ran = self.run_coord(folder, "sweep", "--device", "cpu", "--fresh", "--ssh=libssh2", "--hosts",
                             self.hosts(line), code=3)
        self.assertIn("use --ssh=openssh", ran.stderr)

    def test_a_second_name_that_comes_late_takes_the_gpu_along(self):
        folder, sshd = self.kernel("vector_add"), self.sshd()
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64, 128, 256, 512], "ITEMS": [1], "VECTOR": [False]}
        sweepfile.write(folder, sweep)
        hosts = self.hosts(sshd.line(), "localhost")
        sshd.process.send_signal(signal.SIGSTOP)
        coord = self.start(folder, "sweep", "--device", "cpu", "--hosts", hosts)
        rig.until("the first name is in use", lambda: "localhost: ready" in self.stderr() or coord.poll() is not None)
        sshd.process.send_signal(signal.SIGCONT)
        self.assertEqual(coord.wait(240), 0, self.stderr())
        self.assertIn("localhost: not used: it is the worker of", self.stderr())
        self.assert_all_correct(self.report(folder))
        self.assert_invariants(folder)

    def test_results_of_another_database_are_left_alone(self):
        """Results of a killed coordinator do not make its host unusable for the next one."""
        folder = self.few(BLOCK_SIZE=[64, 128, 256, 512, 1024])
        for n in range(2):  # each waits for the linger time of the one before
            coord = self.start(folder, "sweep", "--device", "cpu", "--db", f"{n}.db", "--linger", "1")
            rig.until("a worker", lambda: self.workers() or coord.poll() is not None, 60)
            rig.until("work", lambda: "ready" in self.stderr() or coord.poll() is not None, 60)
            coord.kill()
            coord.wait()
        ran = self.run_coord(folder, "sweep", "--device", "cpu", "--db", "last.db")
        self.assertNotIn("broke the protocol", ran.stderr)


def can_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class Disk(rig.Rig):
    @unittest.skipUnless(shutil.which("unshare") and can_mount(), "cannot mount")
    def test_a_full_disk_is_not_the_kernels_fault(self):
        """If the disk is full, no configuration ends as 'compile'."""
        folder = self.kernel("vector_add")
        worker = os.path.getsize(os.path.join(rig.BIN, "fa-worker"))
        size = worker // 1024 + 550
        hosts = self.hosts(f"localhost workdir={self.path('small')}")
        os.mkdir(self.path("small"))
        script = (f"mount -t tmpfs -o size={size}k none {self.path('small')} && "
                  f"exec {rig.BIN}/fa-coord sweep --hosts {hosts} --device cpu")
        subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=folder, env=self.env, capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=120)
        wrong = self.query(folder, "SELECT outcome, reason FROM outcome WHERE outcome <> 'correct'")
        self.assertEqual(wrong, [])


class Nothing(rig.Rig):
    def test_a_sweep_without_a_right_configuration_exits_1(self):
        folder = self.few()
        sweep = sweepfile.read(folder)
        sweep["tolerance"]["relative_l2"] = 1e-30
        sweepfile.write(folder, sweep)
        ran = self.run_coord(folder, "sweep", "--device", "cpu", code=1)
        self.assertIn("no configuration is correct", ran.stderr)


if __name__ == "__main__":
    unittest.main()
