"""The external baseline: a command in the blocks of a confirmation, good, bad and endless."""

import os
import sys
import unittest

import rig
import sweepfile

GOOD = """
import json, os, sys
n, samples = map(int, sys.argv[1].split(":"))
assert sorted(os.listdir(".")) == ["lib", "measure.py"], os.listdir(".")
assert sys.stdin.read() == "" and os.environ["TMPDIR"].endswith("/tmp")
with open("lib/scale.txt") as f:
    scale = float(f.read())
print(json.dumps({"name": "numbers", "samples": [n * scale] * samples, "more": {"n": n}}))
"""
GARBAGE = "print('3.5 ms')"
WRONG = "print('{\"samples\": [73.5, 74]}')"
HANG = "import time; print('{\"samples\": [1e-3]}', flush=True); time.sleep(1000)"
FLOOD = "while True: print('x' * 4096)"
FAILS = "raise SystemExit('measure.py: PyTorch is needed, and this python3 has none')"
SLOW = "#" * 1000000 + "\nimport time; time.sleep(1)\n"  # its files take a while to arrive, and it to fail
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
FORKS = """
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
print('{"samples": [1e-3, 2e-3]}')
"""


class External(rig.Rig):
    def sweep_with(self, **external):
        folder = self.kernel("vector_add", confirm=True)
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64], "ITEMS": [1, 2], "VECTOR": [False]}
        sweep["confirm"] = {"fuzz": False}
        sweep["external_baseline"] = {
            "name": "numbers", "command": [sys.executable, "measure.py", "{N}:{samples}"],
            "files": ["measure.py", "lib/scale.txt"], "samples": 4, "timeout_s": 30, **external}
        sweepfile.write(folder, sweep)
        os.mkdir(os.path.join(folder, "lib"))
        with open(os.path.join(folder, "lib", "scale.txt"), "w") as f:
            f.write("1e-7")
        return folder

    def script(self, folder, text):
        with open(os.path.join(folder, "measure.py"), "w") as f:
            f.write(text)

    def shapes(self, folder, **sizes):
        sweep = sweepfile.read(folder)
        sweep["emulation_shapes"] = [{"name": name, "N": n} for name, n in sizes.items()]
        sweepfile.write(folder, sweep)

    def runs(self, folder):
        """Outcomes of the newest pass, in order."""
        return self.query(folder, """
            SELECT outcome, detail FROM tool WHERE purpose = 'external' AND counted = 1
            AND round / 10000 = (SELECT max(pass) FROM contest) ORDER BY round""")

    def test_it_is_compared_in_the_blocks(self):
        folder = self.sweep_with()
        self.script(folder, GOOD)
        ran = self.run_coord(folder, "sweep", "--device", "cpu")
        self.assertIn("External baseline numbers (numbers), measured by its own command", ran.stdout)
        self.assertEqual([outcome for outcome, _ in self.runs(folder)], ["ran"] * 3)
        verdict = self.report(folder)["verdict"]
        external = verdict["external"]
        self.assertEqual((external["ran"], external["failed"], external["why"]), (3, 0, ""))
        [shape] = external["shapes"]
        self.assertEqual((shape["shape"], shape["best"]["blocks"]), ("n5k", 3))
        self.assertAlmostEqual(shape["median_s"], 5001e-7, delta=1e-4)  # at the level of its blocks
        [at] = verdict["shapes"]
        self.assertAlmostEqual(shape["best"]["speedup"], shape["median_s"] / at["best_median_s"],
                               delta=0.5 * shape["best"]["speedup"])
        with self.subTest("each run took part in a block, on its GPU"):
            odd = self.query(folder, """
                SELECT t.round FROM tool t WHERE NOT EXISTS (SELECT 1 FROM result r WHERE r.purpose = 'confirm'
                AND r.round = t.round AND r.gpu = t.gpu AND r.shape = t.shape)""")
            self.assertEqual(odd, [])
        self.assert_invariants(folder)

    def test_one_that_fails_runs_once_on_a_host(self):
        folder = self.sweep_with()
        self.shapes(folder, n5k=5001, n6k=6001, n7k=7001)
        self.script(folder, SLOW + FAILS)
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.assertEqual([outcome for outcome, _ in self.runs(folder)], ["failed"])
        self.assertEqual(self.report(folder)["verdict"]["blocks"], 3)
        self.assert_invariants(folder)

    def test_a_host_on_which_it_fails_says_nothing_of_another(self):
        folder = self.sweep_with()
        self.shapes(folder, n5k=5001, n6k=6001)
        self.script(folder, "import os\nassert '/w2/' not in os.getcwd(), 'not here'\n" + GOOD)
        hosts = self.hosts("localhost", self.sshd().line(f"workdir={self.with_runner(self.path('w2'))}"))
        self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", hosts)
        bad = self.query(folder, "SELECT outcome, detail FROM tool WHERE host <> 'localhost'")
        self.assertEqual(bad, [("failed", "exit status 1: AssertionError: not here")])
        good = self.query(folder, "SELECT outcome, gpu, round, shape FROM tool WHERE host = 'localhost' ORDER BY 3, 4")
        with self.subTest("it misses no block of the other"):
            blocks = self.query(folder, """
                SELECT DISTINCT 'ran', gpu, round, shape FROM result WHERE purpose = 'confirm' AND gpu = ?
                ORDER BY 3, 4""", good[0][1])
            self.assertGreaterEqual(len(good), 2)
            self.assertEqual(good, blocks)
        self.assert_invariants(folder)

    def test_whatever_it_does_the_confirmation_goes_on(self):
        folder = self.sweep_with(timeout_s=2)
        self.script(folder, FAILS)
        ran = self.run_coord(folder, "sweep", "--device", "cpu")
        why = "localhost: failed: exit status 1: measure.py: PyTorch is needed, and this python3 has none"
        self.assertIn(f"The external baseline numbers has no time: {why}", ran.stdout)
        self.assertEqual(len(self.runs(folder)), 1)  # it is not run again
        cases = {
            "garbage": (GARBAGE, "garbage", "it printed no JSON object: stdout:1:"),
            "wrong unit": (WRONG, "garbage", "its samples add up to 147.5 s"),
            "hang": (HANG, "timeout", "it did not end within 2 s"),
            "flood": (FLOOD, "failed", "it wrote more than 512 KiB"),
        }
        for name, (text, outcome, detail) in cases.items():
            with self.subTest(name):
                self.script(folder, text)
                self.run_coord(folder, "confirm")
                [(got, why)] = self.runs(folder)
                self.assertEqual(got, outcome)
                self.assertTrue(why.startswith(detail), why)
                verdict = self.report(folder)["verdict"]
                self.assertEqual((verdict["state"], verdict["blocks"]), ("done", 3))
                self.assertEqual((verdict["external"]["ran"], verdict["external"]["failed"]), (0, 1))
        with self.subTest("killed from outside"):
            self.script(folder, KILLED)
            self.run_coord(folder, "confirm")
            crashes = self.query(folder, "SELECT round % 10000, attempt, counted FROM tool WHERE outcome = 'crash'")
            self.assertEqual(sorted(crashes), [(1, 1, 0), (1, 2, 0), (1, 3, 0)])
            external = self.report(folder)["verdict"]["external"]
            self.assertEqual((external["ran"], external["failed"], external["why"]),
                             (0, 1, "localhost: crash: signal 9 (SIGKILL)"))
        with self.subTest("what it forks ends with it"):
            self.script(folder, FORKS)
            self.run_coord(folder, "confirm")
            self.assertEqual([outcome for outcome, _ in self.runs(folder)], ["ran"] * 3)
            self.assertEqual([p for p in self.processes() if "time.sleep" in p[1]], [])
        self.assert_invariants(folder)


if __name__ == "__main__":
    unittest.main()
