"""Sweeps of one user on one host, each with the GPUs that its hosts file names: beside each other where these differ."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import unittest

import rig


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class SideBySide(rig.Rig):
    def setUp(self):
        super().setUp()
        self.sweeps = {}
        # Builds of kernels for the GPUs LIST wait while the file held-LIST is there.
        os.mkdir(self.path("bin"))
        with open(self.path("bin", "c++"), "w") as f:
            f.write(f"""#!/bin/sh
list=${{PWD##*/gpus-}} list=${{list%%/*}}
case "$*" in *params.h*) while [ -e '{self.folder}/held-'"$list" ]; do sleep 0.05; done;; esac
exec '{shutil.which("c++")}' "$@"
""")
        os.chmod(self.path("bin", "c++"), 0o755)
        self.env["PATH"] = self.path("bin") + ":" + self.env["PATH"]
        self.far = self.sshd(path_too=True)
        self.host = self.far.line().split(" ")[0]

    def hold(self, gpus):
        open(self.path("held-" + gpus), "w").close()

    def let_go(self, gpus):
        os.remove(self.path("held-" + gpus))

    def sweep(self, name, gpus, *args, size=64):
        """Start a sweep of two kernels on these GPUs of the host. What another one has built is not built again."""
        folder = self.few(name, BLOCK_SIZE=[size], ITEMS=[1, 2])
        with open(os.path.join(folder, "hosts.txt"), "w") as f:
            f.write(self.far.line(f"gpus={gpus}") + "\n")
        with open(self.path(name + ".said"), "wb") as said:
            self.sweeps[name] = subprocess.Popen(
                [os.path.join(self.bin, "fa-coord"), "sweep", "--device", "cpu", "--hosts", "hosts.txt", *args],
                cwd=folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
        self.addCleanup(self.sweeps[name].wait)
        self.addCleanup(self.sweeps[name].kill)

    def said(self, name):
        with open(self.path(name + ".said"), errors="replace") as f:
            return f.read()

    def until_said(self, name, text):
        rig.until(f"{name} says '{text}'", lambda: text in self.said(name) or self.sweeps[name].poll() is not None)
        self.assertIn(text, self.said(name))

    def assert_done(self, name):
        self.assertEqual(self.sweeps[name].wait(240), 0, self.said(name))
        self.assert_all_correct(self.report(self.path(name)))
        self.assert_invariants(self.path(name))

    def owner(self, name):
        """How others are told of its sweep."""
        path = os.path.realpath(self.path(name, "vector_add.db"))
        return rf"\w+@[^,]+, pid {self.sweeps[name].pid}, \S*{path[-40:]}, since [^,;]+Z"

    def waiting(self, name):
        """What status says that it waits for."""
        return json.loads(self.run_coord(self.path(name), "status", "--json").stdout)["waiting"]

    def gpus(self, name):
        return {uuid for uuid, in self.query(self.path(name), "SELECT uuid FROM gpu")}

    def assert_never_at_once(self):
        """No GPU was leased for measuring by two sweeps at a time."""
        leases = sorted((gpu, begun, ended, name) for name in self.sweeps for gpu, begun, ended in self.query(
            self.path(name), "SELECT gpu, leased_utc, ended_utc FROM lease WHERE gpu <> ''"))
        last = {}
        for gpu, begun, ended, name in leases:
            before, of = last.get(gpu, (0, name))
            self.assertTrue(of == name or before <= begun, f"{gpu} of {of} and {name}")
            last[gpu] = max((before, of), (ended or begun, name))

    def test_each_uses_its_own_gpus_from_the_start(self):
        self.hold("0")
        self.hold("0,1")
        self.sweep("first", "0")
        self.until_said("first", ", 1 GPU, ")
        self.sweep("second", "1")
        self.assert_done("second")
        self.assertIsNone(self.sweeps["first"].poll(), "it ran beside the first")
        self.assertNotIn("waiting", self.said("second"))
        self.assertEqual(self.gpus("first") & self.gpus("second"), set())
        self.sweep("third", "0,1", size=256)
        self.until_said("third", "; waiting")
        reason = rf"{self.host}: its GPU 0 serves another sweep: {self.owner('first')}"
        self.assertRegex(self.said("third"), rf"(?m)^{rig.STAMP}{reason}; waiting for that$")
        self.assertIn(", 1 GPU, ", self.said("third"))
        with self.subTest("also in status"):
            rig.until("the reason is stored", lambda: self.waiting("third"))
            [waiting] = self.waiting("third")
            self.assertRegex(waiting, rf"^{reason}$")
            self.assertRegex(self.run_coord(self.path("third"), "status").stdout, rf"(?m)^waiting: {reason}$")
        self.let_go("0")
        self.assert_done("first")
        self.until_said("third", ", 2 GPUs, ")
        rig.until("it waits no more", lambda: not self.waiting("third"))
        self.let_go("0,1")
        self.assert_done("third")
        self.assertEqual(self.gpus("third"), self.gpus("first") | self.gpus("second"))
        self.assertEqual(self.said("third").count("waiting"), 1, self.said("third"))
        self.assert_never_at_once()

    def test_a_worker_of_an_older_version_has_the_whole_host(self):
        with open(os.path.join(self.workdir, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.sweep("sweep", "1")
            self.until_said("sweep", "; waiting")
            self.assertRegex(self.said("sweep"), rf"(?m)^{rig.STAMP}{self.host}: its worker is of an older version, which shares no GPUs: .*; waiting$")
        self.assert_done("sweep")
        self.assertEqual(self.said("sweep").count("waiting"), 1, self.said("sweep"))

    def test_a_killed_sweep_frees_its_gpus_and_harms_no_other(self):
        for gpus in ("0,1", "2", "0,1,2"):
            self.hold(gpus)
        self.sweep("first", "0,1", "--linger", "0")
        self.until_said("first", ", 2 GPUs, ")
        self.sweep("beside", "2")
        self.until_said("beside", ", 1 GPU, ")
        self.sweep("second", "1,0,2")
        self.until_said("second", "; waiting")
        reason = rf"{self.host}: its GPU 0,1 serve another sweep: {self.owner('first')}, and others"
        self.assertRegex(self.said("second"), rf"(?m)^{rig.STAMP}{reason}; waiting$")
        self.assertNotIn("ready", self.said("second"))
        self.sweeps["first"].send_signal(signal.SIGKILL)
        self.until_said("second", "; free in at most ")
        self.assertRegex(self.said("second"), rf"its GPU 0,1 wait for another sweep: {self.owner('first')}, and others; "
                                              r"free in at most \d+ s; waiting")
        self.until_said("second", ", 2 GPUs, ")
        self.assertRegex(self.said("second"), rf"its GPU 2 serves another sweep: {self.owner('beside')}; waiting for that")
        self.assertIsNone(self.sweeps["beside"].poll())
        self.let_go("2")
        self.assert_done("beside")
        self.assertEqual(self.query(self.path("beside"), "SELECT count(*) FROM lease WHERE ending <> 'done'"), [(0,)])
        self.let_go("0,1,2")
        self.assert_done("second")
        self.let_go("0,1")
        self.run_coord(self.path("first"), "resume", "--hosts", "hosts.txt")
        self.assert_all_correct(self.report(self.path("first")))
        self.assert_never_at_once()


if __name__ == "__main__":
    unittest.main()
