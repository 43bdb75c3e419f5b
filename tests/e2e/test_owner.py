"""A worker serves one sweep: a resumed sweep gets it back, another one is told who owns it."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import landscape
import rig


class Owner(rig.Rig):
    def held_sweep(self):
        """A sweep whose compiler waits for let_go(). Returns its folder and process."""
        self.held = self.path("held")
        os.mkdir(self.path("bin"))
        with open(self.path("bin", "c++"), "w") as f:
            f.write(f"""#!/bin/sh
case "$*" in *params.h*) while [ -e '{self.held}' ]; do touch '{self.held}.begun'; sleep 0.05; done;; esac
exec '{shutil.which("c++")}' "$@"
""")
        os.chmod(self.path("bin", "c++"), 0o755)
        self.env["PATH"] = self.path("bin") + ":" + self.env["PATH"]
        open(self.held, "w").close()
        folder = self.few("first", confirm=True, ITEMS=[1])
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("it builds", lambda: os.path.exists(self.held + ".begun") or coord.poll() is not None)
        self.assertIsNone(coord.poll(), self.stderr())
        return folder, coord

    def let_go(self):
        os.remove(self.held)

    def second_sweep(self, *args):
        """Another sweep that finds the worker taken. Returns its folder and process; it logs to 'log'."""
        folder = self.few("other")
        with open(self.path("second"), "wb") as err:
            coord = subprocess.Popen([os.path.join(self.bin, "fa-coord"), "sweep", "--device", "cpu", "--log", self.path("log"), *args],
                                     cwd=folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        self.addCleanup(coord.kill)
        rig.until("it waits", lambda: "; waiting" in self.said() or coord.poll() is not None)
        self.assertIsNone(coord.poll(), self.said())
        return folder, coord

    def said(self):
        with open(self.path("second")) as f:
            return f.read()

    def log(self):
        with open(self.path("log")) as f:
            return f.read()

    def test_a_second_sweep_waits_and_says_for_whom(self):
        first, one = self.held_sweep()
        second, two = self.second_sweep()
        [since] = self.query(first, "SELECT strftime('%Y-%m-%dT%H:%M', epoch / 1000000000, 'unixepoch') FROM run")[0]
        path = os.path.realpath(os.path.join(first, "vector_add.db"))
        reason = rf"localhost: its worker serves another sweep: \w+@[^,]+, pid {one.pid}, {path}, since {since}:\d\dZ"
        self.assertRegex(self.said(), rf"(?m)^{rig.STAMP}{reason}; waiting$")
        with self.subTest("also in status"):
            rig.until("the reason is stored", lambda: "waiting" in self.run_coord(second, "status").stdout)
            self.assertRegex(self.run_coord(second, "status").stdout, rf"(?m)^waiting: {reason}$")
            [waiting] = json.loads(self.run_coord(second, "status", "--json").stdout)["waiting"]
            self.assertRegex(waiting, rf"^{reason}$")
        with self.subTest("of a GPU that has not told its facts, there is only the reason"):
            landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(4,), unrolls=(2,))
            three = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--db", "three.db")
            self.addCleanup(three.kill)
            rig.until("the reason is stored", lambda: "waiting" in self.run_coord(self.folder, "status", "three.db", code=None).stdout)
            self.assertRegex(self.run_coord(self.folder, "status", "three.db").stdout, rf"\Arunning since .*, pid {three.pid} .*\nwaiting: {reason}\n\Z")
            three.send_signal(signal.SIGINT)
            self.assertEqual(three.wait(60), 130)
        with self.subTest("a check does not wait"):
            self.assertRegex(self.run_coord(second, "check", "--device", "cpu").stdout, f"nothing: no usable host: {reason}")
        self.let_go()
        self.assertEqual(one.wait(120), 0, self.stderr())
        self.assertEqual(two.wait(120), 0, self.said())
        self.assertEqual(self.query(first, "SELECT count(*) FROM lease WHERE ending <> 'done'"), [(0,)])
        [(last,)] = self.query(first, "SELECT max(ended_utc) FROM lease WHERE purpose = 'confirm'")
        [(begun,)] = self.query(second, "SELECT min(leased_utc) FROM lease")
        self.assertLess(last, begun, "not between the steps of the first")
        self.assert_all_correct(self.report(second))
        self.assertEqual(self.said().count("; waiting"), 1, self.said())
        self.assertNotIn("HOST-BROKEN", self.log(), "it went on over the connection that waited")
        self.assertNotIn("waiting", self.run_coord(second, "status").stdout)

    def test_a_host_that_was_repaired_is_used_at_once(self):
        """Its worker had the PATH of the login before, and is gone; so also for another sweep."""
        repaired = self.env["PATH"]
        os.mkdir(self.path("bin"))
        for name in os.listdir("/usr/bin"):
            if name not in ("c++", "g++", "clang++"):
                os.symlink(os.path.join("/usr/bin", name), self.path("bin", name))
        self.env["PATH"] = self.path("bin")
        first = self.kernel("vector_add", "first")
        refused = self.run_coord(first, "sweep", "--device", "cpu", code=3)
        self.assertIn("there is no C++ compiler", refused.stderr)
        rig.until("its worker has ended", lambda: not self.workers())
        self.env["PATH"] = repaired
        self.run_coord(self.few(), "sweep", "--device", "cpu")


if __name__ == "__main__":
    unittest.main()
