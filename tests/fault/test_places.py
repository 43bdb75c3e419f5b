"""Folders that are not as usual: no /dev/shm, temporary and work folders from which nothing may be executed.

Each is mounted in a mount namespace of the coordinator, which its local worker inherits.
"""

import os
import shlex
import subprocess
import unittest

import rig


def may_mount():
    try:
        tried = subprocess.run(["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"],
                               stdin=subprocess.DEVNULL, capture_output=True)
    except FileNotFoundError:
        return False
    return tried.returncode == 0


@unittest.skipUnless(may_mount(), "this user may not mount anything")
class Places(rig.Rig):
    def sweep(self, mounts, code=0):
        """A sweep of one configuration after these shell commands."""
        folder = self.few(BLOCK_SIZE=[256], ITEMS=[1])
        coord = shlex.quote(os.path.join(self.bin, "fa-coord"))
        ran = subprocess.run(["unshare", "--mount", "sh", "-e", "-c",
                              f"{mounts}\nexec {coord} sweep --device cpu --linger 1"], cwd=folder, env=self.env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return folder, ran.stderr

    def mounted(self, name, options):
        """The command that puts an empty file system there."""
        os.makedirs(self.path(name), mode=0o700, exist_ok=True)
        return f"mount -t tmpfs -o {options} tmpfs {shlex.quote(self.path(name))}"

    def test_no_shared_memory_is_needed(self):
        folder, _ = self.sweep("mount -t tmpfs -o ro tmpfs /dev/shm")
        self.assert_all_correct(self.report(folder))

    def test_nothing_is_executed_in_the_temporary_folder(self):
        self.env["TMPDIR"] = self.path("scratch")
        folder, _ = self.sweep(self.mounted("scratch", "noexec,mode=700"))
        self.assert_all_correct(self.report(folder))

    def test_a_work_folder_without_execution_is_named_with_the_remedy(self):
        _, said = self.sweep(self.mounted("home/.cache", "noexec,mode=700"), code=3)
        [line] = [line for line in said.splitlines() if line.startswith("fa-coord: ")]
        self.assertIn(os.path.join("home", ".cache"), line)
        self.assertIn("noexec", line)
        self.assertIn("workdir=", line)


if __name__ == "__main__":
    unittest.main()
