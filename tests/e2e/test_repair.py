"""A host that was repaired between two tries is seen as it is now."""

import os
import re
import shutil
import subprocess
import time
import unittest

import rig


class Repair(rig.Rig):
    def path_without_compilers(self):
        """The programs of this machine, without any compiler."""
        folder = self.path("bin")
        os.mkdir(folder)
        for name in os.listdir("/usr/bin"):
            if not re.search(r"\+\+|^cc$|gcc|clang", name):
                os.symlink(os.path.join("/usr/bin", name), os.path.join(folder, name))
        return folder

    def log(self):
        with open(os.path.join(self.workdir, "worker.log")) as f:
            return f.read()

    def test_the_next_try_starts_a_new_worker(self):
        folder = self.few(BLOCK_SIZE=[256], ITEMS=[1])
        whole, self.env["PATH"] = self.env["PATH"], self.path_without_compilers()
        left, fresh = (os.path.join(self.workdir, ".fa-worker-" + "0" * 32 + end) for end in (".8.4711", ".8.4712"))
        for path, age_s in (left, 3600), (fresh, 0):
            open(path, "w").close()
            os.utime(path, (time.time() - age_s,) * 2)
        self.assertIn("there is no C++ compiler", self.run_coord(folder, "sweep", "--device", "cpu", code=3).stderr)
        self.assertFalse(os.path.exists(left), "an upload that was cut")
        self.assertTrue(os.path.exists(fresh), "one that may be on its way")
        self.env["PATH"] = whole
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.assert_all_correct(self.report(folder))
        self.assertIn("ENDED why=it cannot do any work", self.log())
        with self.subTest("when it is finished, its worker ends, and asking again starts none"):
            rig.until("the worker has ended", lambda: not self.workers(), 30)
            before = self.log()
            unreachable = self.hosts("127.0.0.1:9")
            for command in ["sweep", "--device", "cpu"], ["resume"], ["sweep", "--device", "cpu", "--hosts", unreachable]:
                self.assertIn("nothing is left to do: no host is used", self.run_coord(folder, *command).stderr)
                self.assertEqual(self.workers(), [])
            self.assertEqual(self.log(), before)

    def test_a_work_folder_that_vanishes_is_made_again(self):
        folder = self.few()
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("a result", lambda: self.settled(folder))
        os.rename(self.workdir, self.path("vanished"))  # at once: while files are removed, a new worker makes others
        ended = f"localhost: the worker ended: its work folder {self.workdir} is gone; trying again"
        rig.until("its worker ends", lambda: "the worker ended" in self.stderr(), 60)
        self.assertIn(ended, self.stderr())
        self.assertEqual(coord.wait(120), 0, self.stderr())
        self.assertEqual({r["outcome"] for r in self.report(folder)["results"]}, {"correct"})

    def limited(self, folder, files):
        """A sweep on one slot that may open so many files."""
        sweep = os.path.join(self.bin, "fa-coord") + " sweep --device cpu --hosts " + self.hosts("localhost slots=1")
        return subprocess.run(["sh", "-c", f"ulimit -n {files}; exec {sweep}"], cwd=folder, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)

    def test_64_open_files_are_enough_and_fewer_are_named(self):
        folder = self.few(BLOCK_SIZE=[256], ITEMS=[1])
        few = self.limited(folder, 55)
        self.assertEqual(few.returncode, 3, few.stderr)
        self.assertIn("at most 55 open files are allowed here, and 58 are needed; raise the limit with 'ulimit -n 58'",
                      few.stderr)
        enough = self.limited(folder, 64)
        self.assertEqual(enough.returncode, 0, enough.stderr)
        self.assert_all_correct(self.report(folder))

    def test_a_limit_of_a_file_is_no_compile_error_and_can_be_raised(self):
        folder = self.few(BLOCK_SIZE=[256], ITEMS=[1])
        whole = self.env["PATH"]
        os.mkdir(self.path("small"))
        with open(self.path("small", "c++"), "w") as f:
            f.write(f"""#!/bin/sh
case "$*" in *params.h*) ulimit -f 1;; esac
exec '{shutil.which("c++")}' "$@"
""")
        os.chmod(self.path("small", "c++"), 0o755)
        self.env["PATH"] = self.path("small") + ":" + whole
        refused = self.run_coord(folder, "sweep", "--device", "cpu", code=3)
        self.assertIn("raise 'ulimit -f' for logins there", refused.stderr)
        self.assertEqual(self.settled(folder), 0)
        self.env["PATH"] = whole
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.assert_all_correct(self.report(folder))


if __name__ == "__main__":
    unittest.main()
