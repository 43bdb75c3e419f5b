"""fa-coord prune: what sweeps left, here and on hosts, and nothing that is still used."""

import fcntl
import glob
import json
import os
import time
import unittest

import rig


def age(path, days=8):
    """Make a file, or all in a folder, look as if it was last used so long ago."""
    then = time.time() - days * 86400
    for folder, _, names in os.walk(path):
        for name in names:
            os.utime(os.path.join(folder, name), (then, then))
    os.utime(path, (then, then))


class Prune(rig.Rig):
    def prune(self, folder, *args, code=0):
        return json.loads(self.run_coord(folder, "prune", "--json", *args, code=code).stdout)

    def swept(self, *args):
        folder = self.few(BLOCK_SIZE=[256], ITEMS=[1])
        self.run_coord(folder, "sweep", "--device", "cpu", "--quiet", *args)
        return folder

    def test_beside_a_database(self):
        folder = self.swept()
        [db] = glob.glob(os.path.join(folder, "*.db"))
        proof = db[:-3] + ".fuzz.db"
        for path in proof, db + ".fa-part":
            with open(path, "w") as f:
                f.write("x" * 2048)
            age(path)
        plan = self.prune(folder, "--dry-run")
        self.assertEqual({e["kind"] for e in plan["entries"]}, {"proof", "part"})
        self.assertEqual((plan["dry_run"], plan["bytes"], plan["kept"]), (True, 4096, 0))
        self.assertTrue(os.path.exists(proof))
        text = self.run_coord(folder, "prune", "--dry-run").stdout
        self.assertIn("4.0 KiB would be removed", text)
        self.assertIn("8 d", text)
        self.assertEqual(self.prune(folder)["bytes"], 4096)
        self.assertFalse(os.path.exists(proof))
        self.assertIn("nothing to remove", self.run_coord(folder, "prune").stdout)
        self.assert_all_correct(self.report(folder))
        bad = self.run_coord(folder, "prune", "--older", "7", code=2)
        self.assertIn("--older '7': write a number of s, min, h, d or w", bad.stderr)

    @unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
    def test_the_work_folder_of_a_host(self):
        far = self.with_runner(self.path("far"))
        hosts = self.hosts(self.sshd().line(f"workdir={far}"))
        folder = self.swept("--hosts", hosts)
        self.end_workers()
        age(far)
        before = sorted(os.listdir(os.path.join(far, "artifacts")))
        with open(os.path.join(far, "lock")) as lock, self.subTest("a worker that lives keeps its folder"):
            fcntl.flock(lock, fcntl.LOCK_SH)  # as a worker does
            [busy] = self.prune(folder, "--hosts", hosts)["entries"]
            self.assertIn("another worker", busy["kept"])
            self.assertEqual(sorted(os.listdir(os.path.join(far, "artifacts"))), before)
        old = os.path.join(far, "fa-worker-" + "0" * 32)
        mine = os.path.join(far, "mine.txt")
        for path in old, mine:
            with open(path, "w") as f:
                f.write("x")
        age(far)
        plan = self.prune(folder, "--hosts", hosts, "--dry-run")
        kinds = {e["kind"] for e in plan["entries"]}
        self.assertTrue({"artifact", "build", "program"} <= kinds, kinds)
        self.assertEqual(sorted(os.listdir(os.path.join(far, "artifacts"))), before)
        done = self.prune(folder, "--hosts", hosts)
        self.assertEqual((done["bytes"], done["removed"]), (plan["bytes"], plan["removed"]))
        self.assertEqual(os.listdir(os.path.join(far, "artifacts")), [])
        self.assertFalse(os.path.exists(old))
        self.assertTrue(os.path.exists(mine))
        self.assertEqual(len(glob.glob(os.path.join(far, "fa-worker-*"))), 1)

    def test_a_host_that_cannot_be_reached_is_said_and_the_others_are_pruned(self):
        far = self.path("far")
        hosts = self.hosts("127.0.0.1:1", f"localhost workdir={far}")
        os.makedirs(far)
        old = os.path.join(far, "worker.log.old")
        with open(old, "w") as f:
            f.write("x")
        age(old)
        ran = self.run_coord(self.folder, "prune", "--hosts", hosts, "--json", code=None)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("127.0.0.1:1", ran.stderr)
        self.assertEqual([e["kind"] for e in json.loads(ran.stdout)["entries"]], ["log"])
        self.assertFalse(os.path.exists(old))


if __name__ == "__main__":
    unittest.main()
