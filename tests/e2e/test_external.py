"""The external baseline: a command in the blocks of a confirmation, good, bad and endless."""

import json
import math
import os
import statistics
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
STAYS = """
import json, os, sys
runs = 0
for line in sys.stdin:
    n, samples = map(int, json.loads(line))
    runs += 1
    print(json.dumps({"name": "numbers", "samples": [n * 1e-7] * samples, "pid": os.getpid(), "runs": runs}), flush=True)
    assert runs < int(sys.argv[1]), "enough"
"""
GARBAGE = "print('3.5 ms')"
WRONG = "print('{\"samples\": [73.5, 74]}')"
HANG = "import time; print('{\"samples\": [1e-3]}', flush=True); time.sleep(1000)"
FLOOD = "while True: print('x' * 4096)"
FAILS = "raise SystemExit('measure.py: PyTorch is needed, and this python3 has none')"
SLOW = "#" * 1000000 + "\nimport time; time.sleep(1)\n"  # its files take a while to arrive, and it to fail
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
# The host of /w2/ joins before the other one has a time, however late it comes.
ELSEWHERE = """
import os, time
if "/w2/" in os.getcwd():
    open({flag!r}, "w").close()
    raise AssertionError("not here")
end = time.monotonic() + 80
while not os.path.exists({flag!r}) and time.monotonic() < end:
    time.sleep(0.05)
"""
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
        [external] = verdict["externals"]
        self.assertIsNone(verdict["against"])
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

    def test_one_process_answers_for_several_blocks(self):
        folder = self.sweep_with(command=[sys.executable, "measure.py", "100"], ask=["{N}", "{samples}"],
                                 files=["measure.py"])
        self.script(folder, STAYS)
        sweep = sweepfile.read(folder)
        one = sweep["external_baseline"]
        sweep["external_baseline"] = [
            one, {**one, "name": "same-process", "samples": 5},
            {**one, "name": "tired", "command": [sys.executable, "measure.py", "1"]}]
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        outputs = self.query(folder, "SELECT name, output FROM tool WHERE purpose = 'external' AND counted = 1")
        said = {name: [json.loads(output) for of, output in outputs if of == name] for name, _ in outputs}
        with self.subTest("a run is a question, and each process answers all of its command and files"):
            shared = said["numbers"] + said["same-process"]
            self.assertEqual(sorted(answer["runs"] for answer in shared), [1, 2, 3, 4, 5, 6])
            self.assertEqual(len({answer["pid"] for answer in shared}), 1)
        with self.subTest("one that ends after an answer is started again"):
            self.assertEqual([answer["runs"] for answer in said["tired"]], [1, 1, 1])
        counts = [(e["name"], e["ran"], e["failed"]) for e in self.report(folder)["verdict"]["externals"]]
        self.assertEqual(counts, [("numbers", 3, 0), ("same-process", 3, 0), ("tired", 3, 0)])
        self.assert_invariants(folder)

    def test_several_stand_in_the_same_blocks(self):
        folder = self.sweep_with()
        self.script(folder, GOOD)
        sweep = sweepfile.read(folder)
        one = sweep["external_baseline"]
        sweep["external_baseline"] = [
            {**one, "blocks": 2}, {**one, "name": "slower", "samples": 5, "blocks": 1},
            {**one, "name": "absent", "command": ["there-is-no-such-program"]}]
        sweep["confirm"]["against"] = "slower"
        sweepfile.write(folder, sweep)
        ran = self.run_coord(folder, "sweep", "--device", "cpu")
        runs = self.query(folder, """
            SELECT round % 10000, name, outcome FROM tool WHERE purpose = 'external' AND counted = 1 ORDER BY 1, 2""")
        with self.subTest("each joins as many blocks as it is to, the one that the rule is against all of them"):
            self.assertEqual(runs, [(1, "absent", "missing"), (1, "numbers", "ran"), (1, "slower", "ran"),
                                    (2, "numbers", "ran"), (2, "slower", "ran"), (3, "slower", "ran")])
        verdict = self.report(folder)["verdict"]
        self.assertEqual((verdict["against"], verdict["success"], verdict["state"]), ("slower", False, "done"))
        counts = [(e["name"], e["ran"], e["failed"]) for e in verdict["externals"]]
        self.assertEqual(counts, [("absent", 0, 1), ("numbers", 2, 0), ("slower", 3, 0)])
        blocks = [e["shapes"][0]["best"]["blocks"] for e in verdict["externals"]]
        self.assertEqual(blocks, [0, 2, 3])
        self.assertIn("External baseline numbers (numbers)", ran.stdout)
        self.assertIn("The external baseline absent has no time: localhost: missing", ran.stdout)
        self.assertIn("Without   absent has no time: localhost: missing", self.run_coord(folder, "report").stdout)
        with self.subTest("another confirmation reads the rule again"):
            self.run_coord(folder, "confirm")
            self.assertEqual(self.query(folder, "SELECT pass, against FROM contest"), [(1, "slower"), (2, "slower")])
        self.assert_invariants(folder)

    def test_all_follows_the_geometric_mean(self):
        folder = self.sweep_with()
        self.script(folder, GOOD)
        self.shapes(folder, n5k=5001, n6k=6001)
        sweep = sweepfile.read(folder)
        sweep["search"] = {"strategy": "random:2", "objective": "geomean"}
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        verdict = self.report(folder)["verdict"]
        self.assertEqual([shape["shape"] for shape in verdict["shapes"]], ["geomean", "n5k", "n6k"])
        [external] = verdict["externals"]
        self.assertEqual([shape["shape"] for shape in external["shapes"]], ["geomean", "n5k", "n6k"])
        self.assertEqual([shape["best"]["blocks"] for shape in external["shapes"]], [3, 3, 3])
        with self.subTest("a block's ratio is the mean of those of its shapes"):
            logs = {}
            for config, block, samples in self.query(folder, """
                    SELECT config, round, samples FROM result WHERE purpose = 'confirm' AND counted = 1"""):
                mean = math.log(statistics.median(json.loads(samples))) / 2
                logs.setdefault(block, {}).setdefault(config, 0)
                logs[block][config] += mean
            for one in verdict["finalists"]:
                ratios = [times[verdict["baseline"]["key"]] - times[one["key"]] for times in logs.values()]
                pairs = [(a + b) / 2 for i, a in enumerate(ratios) for b in ratios[i:]]
                self.assertAlmostEqual(one["speedup"], math.exp(statistics.median(pairs)), places=9)
        export = json.loads(self.run_coord(folder, "export", "--format", "json").stdout)
        self.assertEqual(export["best_at"], "geomean")
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
        folder = self.sweep_with(timeout_s=100)
        self.shapes(folder, n5k=5001, n6k=6001)
        self.script(folder, ELSEWHERE.format(flag=self.path("w2_tried")) + GOOD)
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
                [external] = verdict["externals"]
                self.assertEqual((external["ran"], external["failed"]), (0, 1))
        with self.subTest("killed from outside"):
            self.script(folder, KILLED)
            self.run_coord(folder, "confirm")
            crashes = self.query(folder, "SELECT round % 10000, attempt, counted FROM tool WHERE outcome = 'crash'")
            self.assertEqual(sorted(crashes), [(1, 1, 0), (1, 2, 0), (1, 3, 0)])
            [external] = self.report(folder)["verdict"]["externals"]
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
