"""fa-coord compare and deploy/regression.sh, as CI calls them: the exit code is the answer."""

import json
import os
import re
import subprocess
import unittest

import rig

SCRIPT = os.path.join(rig.SOURCE, "deploy", "regression.sh")


def fixture(name):
    return os.path.join(rig.FIXTURES, "compare", name + ".db")


class Regression(rig.Rig):

    def compare(self, *args, code):
        return self.run_coord(self.folder, "compare", *args, code=code)

    def test_all_but_the_first_line_are_as_wide_as_the_screen(self):
        self.env["COLUMNS"] = "80"
        lines = self.compare(fixture("base"), fixture("slower"), code=1).stdout.splitlines()
        self.assertRegex(lines[0], "^regression: .* 95 % interval .* to ")
        self.assertEqual([line for line in lines[1:] if len(line) > 80], [])

    def test_the_exit_code_is_the_answer(self):
        before = sorted(os.listdir(os.path.join(rig.FIXTURES, "compare")))
        for name, code, word, outcome in (("base", 0, "SAME", "no regression"), ("faster", 0, "FAST", "no regression"),
                                          ("slower", 1, "SLOW", "regression"), ("noisy", 2, "AMBG", "inconclusive")):
            table = self.compare(fixture("base"), fixture(name), code=code).stdout
            self.assertRegex(table, rf"of A and of B +n16m +{word} ")
            self.assertRegex(table.splitlines()[0], rf"^{outcome}: ")
            out = json.loads(self.compare(fixture("base"), fixture(name), "--json", code=code).stdout)
            self.assertEqual((out["outcome"], out["exit_code"]), (outcome, code))
            [winner] = out["winner"]
            self.assertEqual(winner["verdict"], word)
            self.assertEqual(winner["config_b"], {"BLOCK": 128, "WARPS": 4, "VECTOR": True})
            self.assertEqual(len(out["configurations"]), 12)
            self.assertAlmostEqual(winner["speedup"], winner["median_a_s"] / winner["median_b_s"], 2)
        # nothing is written beside a database that is only read
        self.assertEqual(sorted(os.listdir(os.path.join(rig.FIXTURES, "compare"))), before)

    def test_the_threshold_decides(self):
        self.compare(fixture("base"), fixture("slower"), "--threshold", "15%", code=0)
        self.compare(fixture("base"), fixture("slower"), "--threshold=0.15", code=0)
        self.compare(fixture("base"), fixture("slower"), "--threshold", "5%", code=1)
        for text in ("3", "3 %", "-1%", "0%", "nan", "100%"):
            err = self.compare(fixture("base"), fixture("slower"), "--threshold=" + text, code=2).stderr
            self.assertIn(f"--threshold '{text}': write a percentage such as 3%", err)

    def test_what_cannot_be_read_is_no_answer(self):
        def fails(code, text, *args):
            result = self.compare(*args, code=code)
            self.assertEqual(result.stdout, "")
            self.assertIn(text, result.stderr)

        with open(self.path("text.db"), "w") as f:
            f.write("no database at all\n" * 50)
        fails(7, "there is no database none.db", fixture("base"), "none.db")
        fails(7, "is not a SQLite database", "text.db", fixture("base"))
        fails(2, "did you mean '--threshold'", fixture("base"), fixture("base"), "--treshold", "1%")
        fails(2, "A.db B.db", fixture("base"))
        with open("/dev/full", "w") as full:
            result = subprocess.run([os.path.join(rig.BIN, "fa-coord"), "compare", fixture("base"), fixture("base")],
                                    stdout=full, stderr=subprocess.PIPE, text=True, env=self.env)
        self.assertEqual(result.returncode, 2, result.stderr)

    def script(self, folder, *args, code, **env):
        result = subprocess.run([SCRIPT, *args], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=200, env={**self.env, "FA_COORD": os.path.join(rig.BIN, "fa-coord"), **env})
        if code is not None:
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_the_script_tunes_and_hands_the_code_on(self):
        folder = self.kernel("vector_add")
        path = os.path.join(folder, "sweep.json")
        with open(path) as f:
            spec = json.loads(re.sub(r"//.*", "", f.read()))
        spec["tunables"] = {"BLOCK_SIZE": [64], "ITEMS": [4], "VECTOR": [False, True]}
        spec["confirm"] = False  # what is compared matters little here
        spec["baseline"] = {"BLOCK_SIZE": 64, "ITEMS": 4, "VECTOR": False}
        with open(path, "w") as f:
            json.dump(spec, f)
        cpu = ("--device", "cpu", "--arch", "sm_89")
        self.run_coord(folder, "sweep", *cpu, "--db", "base.db")
        # Emulated times on a busy machine may give any answer; the script must hand it on.
        result = self.script(folder, "base.db", "new.db", *cpu, code=None, THRESHOLD="99%", COMPARE_JSON="compare.json")
        self.assertIn("both sides have emulated times", result.stdout)
        with open(os.path.join(folder, "compare.json")) as f:
            self.assertEqual(json.load(f)["exit_code"], result.returncode)
        self.assertIn("exists already", self.script(folder, "base.db", "new.db", *cpu, code=2).stderr)
        self.assertIn("there is no base", self.script(folder, "none.db", "other.db", *cpu, code=2).stderr)
        err = self.run_coord(folder, "compare", fixture("base"), "new.db", code=2).stderr
        self.assertIn("these cannot be compared", err)
        self.broken(folder, cpu)

    def broken(self, folder, cpu):
        """A kernel that is wrong everywhere is a regression; a sweep that cannot run is not."""
        with open(os.path.join(folder, "vector_add.cu"), "w") as f:
            f.write('extern "C" __global__ void vector_add() { this is no kernel }\n')
        result = self.script(folder, "base.db", "wrong.db", *cpu, code=1)
        self.assertIn("regression: A has a winner, but no configuration of B "
                      "is correct", result.stdout)
        os.remove(os.path.join(folder, "vector_add.cu"))
        result = self.script(folder, "base.db", "gone.db", *cpu, code=2)
        self.assertIn("there is nothing to compare", result.stderr)


if __name__ == "__main__":
    unittest.main()
