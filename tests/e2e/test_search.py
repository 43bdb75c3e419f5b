"""Sweeps that a strategy leads through the space, on the cpu device."""

import os
import subprocess
import unittest

import rig
import sweepfile

OPTUNA = os.path.join(rig.SOURCE, "docs", "examples", "optuna_strategy.py")
OPTUNA_PYTHON = "/usr/bin/python3"  # where Debian's python3-optuna is

# An external strategy that counts the space up; with an argument it ends after so many points.
COUNTING = """
import itertools, json, sys
left = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
for line in sys.stdin:
    order = json.loads(line)
    if "start" in order:
        points = itertools.product(*(range(len(t["values"])) for t in order["tunables"]))
        print(json.dumps({"ready": "counting"}), flush=True)
    elif "ask" in order:
        if left == 0:
            sys.exit("the license has expired")
        point = next(points, None)
        print(json.dumps({"point": point} if point else {"done": True}), flush=True)
    elif order.get("state") != "illegal":
        left -= 1
"""


def has_optuna():
    return subprocess.run([OPTUNA_PYTHON, "-c", "import optuna"], capture_output=True).returncode == 0


class Search(rig.Rig):
    def small(self, to=None):
        """vector_add, whose sweep file says nothing of a strategy."""
        folder = self.kernel("vector_add", to)
        sweep = sweepfile.read(folder)
        sweep.pop("search", None)
        sweepfile.write(folder, sweep)
        return folder

    def sweep(self, folder, *args, code=0):
        return self.run_coord(folder, "sweep", "--device", "cpu", *args, code=code).stderr

    def steps(self, folder, kind):
        return [row[0] for row in self.query(
            folder, "SELECT config FROM step WHERE kind = ? ORDER BY position", kind)]

    def settled_configs(self, folder):
        return {row[0] for row in self.query(folder, "SELECT DISTINCT config FROM outcome")}

    def test_methods_follow_each_other_and_the_end_is_the_end(self):
        folder = self.small()
        out = self.sweep(folder, "--strategy", "lhs:3,tpe:3")
        self.assertIn("search: lhs:3,tpe:3, 6 of 30 configurations", out)
        self.assertEqual(len(self.settled_configs(folder)), 6)
        self.assertEqual(len(self.steps(folder, "timed")), 6)
        self.assertEqual(len(self.steps(folder, "asked")), 5)  # the baseline is not asked for
        again = self.sweep(folder, "--strategy", "lhs:3,tpe:3")
        self.assertIn("6 of 6 measurements are there already", again)
        self.assertEqual(len(self.steps(folder, "timed")), 6)
        # More of it: the earlier results count, and nothing is measured twice.
        self.run_coord(folder, "resume", "--strategy", "bayes", "--evaluations", "7")
        self.assertEqual(len(self.settled_configs(folder)), 7)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM result WHERE purpose = 'screen'")[0][0], 7)
        self.assert_invariants(folder)

    def test_a_killed_search_goes_on_to_the_points_it_would_have_tried(self):
        terms = ("--strategy", "random", "--seed", "7", "--evaluations", "6")
        whole, cut = self.small("whole"), self.small("cut")
        self.sweep(whole, *terms)
        coord = self.start(cut, "sweep", "--device", "cpu", *terms)
        try:
            rig.until("progress", lambda: coord.poll() is not None or self.settled(cut) >= 2)
        finally:
            coord.kill()
            coord.wait()
        self.run_coord(cut, "resume")
        self.assertEqual(self.settled_configs(cut), self.settled_configs(whole))
        self.assertEqual(self.steps(cut, "asked"), self.steps(whole, "asked"))
        self.assert_invariants(cut)

    def test_what_would_be_searched_is_said_first(self):
        folder = self.small()
        dry = ("sweep", "--device", "cpu", "--dry-run")
        self.assertIn("search: exhaustive (all 30 fit), 30 of 30 configurations, seed 1",
                      self.run_coord(folder, *dry).stdout)
        self.assertIn("search: bayes (12 evaluations are fewer than all 30), 12 of 30 configurations, seed 5",
                      self.run_coord(folder, *dry, "--evaluations", "12", "--seed", "5").stdout)
        self.assertIn("search: bayes (all 30 would take about", self.run_coord(
            folder, *dry, "--max-hours", "0.0001").stdout)
        self.assertIn("genetic", self.run_coord(folder, "sweep", "--strategy", "help").stdout)
        self.assertIn("there is no 'bays'; did you mean 'bayes'?",
                      self.sweep(folder, "--strategy", "bays", code=2))
        self.assertEqual([n for n in os.listdir(folder) if n.endswith(".db")], [])

    def counting(self, *args):
        with open(self.path("counting.py"), "w") as f:
            f.write(COUNTING)
        return " ".join(["external:python3", self.path("counting.py"), *args])

    def test_a_program_leads_and_is_not_started_by_a_database(self):
        folder = self.small()
        out = self.sweep(folder, "--strategy", self.counting(), "--evaluations", "3")
        self.assertIn("3 of 30 configurations", out)
        self.assertEqual(len(self.settled_configs(folder)), 3)
        points = [row[0] for row in self.query(folder, "SELECT point FROM step WHERE kind = 'asked'")]
        self.assertEqual(points, sorted(points))
        self.assertIn("give --strategy with it again, or another",
                      self.run_coord(folder, "resume", code=2).stderr)
        self.run_coord(folder, "resume", "--strategy", self.counting(), "--evaluations", "4")
        self.assertEqual(len(self.settled_configs(folder)), 4)

    def test_another_strategy_goes_on_when_the_program_ends(self):
        folder = self.small()
        out = self.sweep(folder, "--strategy", self.counting("2"), "--evaluations", "4")
        self.assertIn("the license has expired; bayes goes on in its place", out)
        self.assertEqual(len(self.settled_configs(folder)), 4)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM event WHERE name = 'STRATEGY-ENDED'")[0][0], 1)

    def test_a_program_that_never_begins_ends_the_sweep(self):
        folder = self.small()
        missing = self.sweep(folder, "--strategy", "external:no-such-program", code=None)
        self.assertIn("'no-such-program'", missing)
        slip = self.sweep(folder, "--strategy", "external:python3 nowhere.py", code=2)
        self.assertIn("ended (status 2)", slip)
        self.assertEqual(self.settled(folder), 0)

    @unittest.skipUnless(has_optuna(), "python3-optuna is not here")
    def test_optuna_leads(self):
        folder = self.small()
        self.sweep(folder, "--strategy", f"external:{OPTUNA_PYTHON} {OPTUNA}", "--evaluations", "4")
        self.assertEqual(len(self.settled_configs(folder)), 4)


if __name__ == "__main__":
    unittest.main()
