"""A worker serves one sweep: a resumed sweep gets it back, another one is told who owns it."""

import os
import shutil
import time
import unittest

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
        folder = self.kernel("vector_add", "first")
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("it builds", lambda: os.path.exists(self.held + ".begun") or coord.poll() is not None)
        self.assertIsNone(coord.poll(), self.stderr())
        return folder, coord

    def let_go(self):
        os.remove(self.held)

    def test_a_second_sweep_is_told_whose_worker_it_is(self):
        first, coord = self.held_sweep()
        second = self.kernel("vector_add", "second")
        began = time.monotonic()
        refused = self.run_coord(second, "sweep", "--device", "cpu", code=3)
        self.assertLess(time.monotonic() - began, 30)
        [since] = self.query(first, "SELECT strftime('%Y-%m-%dT%H:%M', epoch / 1000000000, 'unixepoch') FROM run")[0]
        path = os.path.realpath(os.path.join(first, "vector_add.db"))
        self.assertRegex(refused.stderr,
                         rf"localhost: its worker serves another sweep: \w+@[^,]+, pid {coord.pid}, "
                         rf"{path}, since {since}:\d\dZ; wait for it, or give this sweep another workdir=")
        self.assertEqual(refused.stderr.count("; trying again"), 1, "said once, not at each try")
        self.let_go()
        self.assertEqual(coord.wait(120), 0, self.stderr())
        self.assertNotIn("trying again", self.stderr())
        self.assertEqual(self.query(first, "SELECT count(*) FROM lease WHERE ending <> 'done'"), [(0,)])
        with self.subTest("once it is done, the next has it at once"):
            self.run_coord(second, "sweep", "--device", "cpu")
            self.assert_all_correct(self.report(second))

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
