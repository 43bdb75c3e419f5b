"""fa-coord fuzz: right at every shape, wrong at some, not run, continued."""

import fcntl
import json
import os
import unittest

import rig


class Fuzz(rig.Rig):
    def fuzz(self, folder, *args, code=0):
        return self.run_coord(folder, "fuzz", "--device", "cpu", *args, code=code)

    def edit(self, folder, name, old, new):
        path = os.path.join(folder, name)
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, "w") as f:
            f.write(text.replace(old, new))

    def results(self, folder):
        return self.query(folder, "SELECT count(*) FROM result")[0][0]

    def test_a_right_kernel_killed_on_the_way_and_changed(self):
        folder = self.kernel("vector_add")
        some = ("--config", "ITEMS=8,VECTOR=true", "--config", "BLOCK_SIZE=64", "--config", "ITEMS=2")
        coord = self.start(folder, "fuzz", "--device", "cpu", *some)
        try:
            rig.until("progress", lambda: coord.poll() is not None or self.settled(folder) >= 3, 60)
        finally:
            coord.kill()
            coord.wait()
        kept = set(self.query(folder, "SELECT nonce FROM result"))
        self.assertGreaterEqual(len(kept), 3)
        ran = self.fuzz(folder, *some)
        self.assertIn("3 configurations x 4 shapes: 12 right, 0 wrong, 0 skipped", ran.stdout)
        self.assertLessEqual(kept, set(self.query(folder, "SELECT nonce FROM result")))
        self.assertEqual(self.results(folder), 12)
        self.fuzz(folder, *some)
        self.assertEqual(self.results(folder), 12)
        self.assertEqual(self.query(folder, "SELECT DISTINCT json_array_length(samples) FROM result"), [(1,)])
        self.edit(folder, "vector_add.cu", "extern", "/* another byte */ extern")
        self.assertIn("1 configuration x 4 shapes: 4 right", self.fuzz(folder).stdout)
        self.assertEqual(self.results(folder), 16)
        self.assert_invariants(folder)
        refused = self.run_coord(folder, "resume", "vector_add.fuzz.db", code=2)
        self.assertIn("fa-coord fuzz", refused.stderr)
        refused = self.run_coord(folder, "sweep", "--device", "cpu", "--db", "vector_add.fuzz.db", code=2)
        self.assertIn("a database of its own", refused.stderr)

    def test_beside_a_command_on_the_database_nothing_begins(self):
        folder = self.few()
        self.run_coord(folder, "sweep", "--device", "cpu")
        with open(os.path.join(folder, "vector_add.db.lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for command in ("fuzz", "--device", "cpu"), ("confirm", "vector_add.db"):
                refused = self.run_coord(folder, *command, code=7)
                self.assertIn("vector_add.db is in use by fa-coord with pid ", refused.stderr)
        self.assertFalse(os.path.exists(os.path.join(folder, "vector_add.fuzz.db")))

    def test_a_kernel_that_forgets_the_tail(self):
        folder = self.fixture("forgets_tail")
        with self.subTest("wrong where there is one, and that is said first"):
            ran = self.fuzz(folder, "--all", code=1)
            self.assertIn("2 configurations x 3 shapes: 3 right, 1 wrong, 2 skipped", ran.stdout)
            wrong = ran.stdout.splitlines()[1]
            for text in ("WIDTH=4", "n-257", "correctness", "'out'[256] is NaN or unwritten"):
                self.assertIn(text, wrong)
            ran = self.fuzz(folder, "--config", "WIDTH=4", "--shape", "n-257", "--json", code=1)
            result = json.loads(ran.stdout)
            self.assertEqual([result[k] for k in ("right", "wrong", "skipped")], [0, 1, 0])
            self.assertEqual(result["findings"][0]["params"], {"WIDTH": 4})
            self.fuzz(folder, "--all", "--shape", "n-256")
        with self.subTest("what a gate rejects is skipped until it does not"):
            ran = self.fuzz(folder, code=2)
            self.assertIn("1 configuration x 3 shapes: 2 right, 0 wrong, 1 skipped", ran.stdout)
            self.assertIn("gate 'too_long': N is too large", ran.stdout)
            before = self.results(folder)
            self.edit(folder, "sweep.json", "> 100000", "> 300000")
            self.assertIn("3 right", self.fuzz(folder).stdout)
            self.assertEqual(self.results(folder), before + 1)
            self.edit(folder, "sweep.json", "> 300000", "> 100000")
            self.fuzz(folder, code=2)
            self.assert_invariants(folder)
        with self.subTest("the best of the sweep is tried beside the baseline"):
            self.edit(folder, "sweep.json", '"WIDTH": [1, 4]', '"WIDTH": [4]')
            refused = self.fuzz(folder, "--best", "1", code=2)
            self.assertIn("run fa-coord sweep first", refused.stderr)
            self.edit(folder, "sweep.json", '"baseline": { "WIDTH": 1 }', '"baseline": { "WIDTH": 4 }')
            self.run_coord(folder, "sweep", "--device", "cpu")
            self.edit(folder, "sweep.json", '"baseline": { "WIDTH": 4 }', '"baseline": { "WIDTH": 1 }')
            self.assertIn("2 configurations x 3 shapes: 3 right, 1 wrong, 2 skipped",
                          self.fuzz(folder, code=1).stdout)
            self.assertIn("1 configuration x 3 shapes: 1 right, 1 wrong, 1 skipped",
                          self.fuzz(folder, "--best", "1", code=1).stdout)

    def test_without_a_host_nothing_is_known(self):
        folder = self.fixture("forgets_tail")
        hosts = self.hosts("nobody@127.0.0.1:1 hostkey=SHA256:" + "A" * 43)
        self.fuzz(folder, "--hosts", hosts, code=2)


if __name__ == "__main__":
    unittest.main()
