"""Sweeps with a strategy: on a recorded space of 264 points, and on emulated kernels."""

import contextlib
import json
import os
import sqlite3
import subprocess
import unittest

import landscape
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
        if left <= 0:
            sys.exit("the license has expired")
        point = next(points, None)
        print(json.dumps({"point": point} if point else {"done": True}), flush=True)
    elif order.get("state") != "illegal":
        left -= 1
"""


def has_optuna():
    return subprocess.run([OPTUNA_PYTHON, "-c", "import optuna"], capture_output=True).returncode == 0


class Search(rig.Rig):
    def setUp(self):
        super().setUp()
        landscape.make(self.path("bowl.json"))
        self.run_coord(self.folder, "import", "bowl.json", "--sweep", "plain.json")
        with open(self.path("plain.json")) as f:
            text = f.read()
        with open(self.path("plain.json"), "w") as f:
            f.write(text.replace('"measure":', '"confirm": false,\n"measure":', 1))

    def sweep(self, *args, db="x.db", code=0):
        """The search alone; nothing is confirmed."""
        return self.run_coord(self.folder, "sweep", "plain.json", "--device", "replay=bowl.json", "--speed-up", "100000",
                              "--db", db, *args, code=code)

    def rows(self, sql, *args, db="x.db"):
        with contextlib.closing(sqlite3.connect(f"file:{self.path(db)}?mode=ro", uri=True, timeout=10)) as con:
            return con.execute(sql, args).fetchall()

    def steps(self, kind, db="x.db"):
        return [row[0] for row in self.rows("SELECT config FROM step WHERE kind = ? ORDER BY position", kind, db=db)]

    def tried(self, db="x.db"):
        return {row[0] for row in self.rows("SELECT DISTINCT config FROM outcome", db=db)}

    def measured(self):
        return self.rows("SELECT count(*) FROM result WHERE purpose = 'screen' AND round = 0")[0][0]

    # A worker builds its runner once a folder, so a test has several sweeps.

    def test_strategies_find_the_best_and_do_nothing_twice(self):
        self.finds_the_best()
        self.what_is_in_flight_has_a_limit()
        self.methods_follow_each_other()

    def finds_the_best(self):
        out = self.sweep("--evaluations", "60").stderr
        self.assertIn("search: bayes (60 evaluations are fewer than all 264), 60 of 264 configurations", out)
        self.assertEqual(len(self.tried()), 60)
        report = self.report(self.folder, "x.db")
        self.assertEqual(report["search"], {"method": "bayes", "seed": 1, "objective": "headline", "tried": 60,
                                            "not_tried": 204, "effort": "normal", "in_flight": None})
        best = report["results"][0]["config"]
        self.assertEqual((best["BX"], best["BY_"]), (64, 4))
        self.assertIn("strategy bayes, seed 1: 60 of the 264 configurations that pass were tried; nothing is "
                      "known of the other 204", self.run_coord(self.folder, "report", "x.db", "--show", "all").stdout)

    def what_is_in_flight_has_a_limit(self):
        terms = ("--strategy", "bayes-penalty:20", "--in-flight", "3")
        plan = self.sweep("--dry-run", *terms).stdout
        self.assertIn("search: bayes-penalty:20, 20 of 264 configurations, seed 1, objective headline, at most 3 in "
                      "flight", plan)
        os.rename(self.path("x.db"), self.path("methods.kept"))
        self.sweep(*terms)
        out, most = set(), 0
        for kind, config in self.rows("SELECT kind, config FROM step ORDER BY position"):
            if kind == "asked":
                out.add(config)
            else:
                out.discard(config)  # no step asks for the baseline
            most = max(most, len(out))
        self.assertEqual(most, 3)
        self.assertEqual(self.report(self.folder, "x.db")["search"]["in_flight"], 3)
        self.assertIn("bayes-penalty:20, seed 1, at most 3 in flight",
                      self.run_coord(self.folder, "report", "x.db", "--show", "all").stdout)
        self.assertIn("--in-flight=0: 1 to 65536", self.sweep("--in-flight", "0", code=2).stderr)

    def methods_follow_each_other(self):
        os.rename(self.path("x.db"), self.path("best.kept"))
        out = self.sweep("--strategy", "lhs:20,tpe:30").stderr
        self.assertIn("search: lhs:20,tpe:30, 50 of 264 configurations", out)
        self.assertEqual(len(self.tried()), 50)
        self.assertEqual(len(self.steps("timed")) + len(self.steps("failed")), 50)
        measured = self.measured()
        again = self.sweep("--strategy", "lhs:20,tpe:30").stderr
        self.assertIn("50 of 50 measurements are stored already", again)
        self.assertEqual(self.measured(), measured)
        # More points, with another strategy: earlier results count and are not measured again.
        self.run_coord(self.folder, "resume", "--strategy", "genetic", "--evaluations", "70", "x.db")
        self.assertEqual(len(self.tried()), 70)
        self.assertEqual(len(self.steps("asked")) + len(set(self.steps("timed") + self.steps("failed"))), 20 + 70)
        self.assert_invariants(self.folder)
        # Finally the whole space: 'auto' without a cap.
        self.sweep()
        self.assertEqual(len(self.tried()), 264)

    def test_a_killed_search_goes_on_to_the_points_it_would_have_tried(self):
        terms = ("--strategy", "lhs:15,bayes:15", "--seed", "7")
        coord = self.start(self.folder, "sweep", "plain.json", "--device", "replay=bowl.json", "--speed-up", "20",
                           "--db", "x.db", *terms)
        try:
            rig.until("progress", lambda: coord.poll() is not None or self.settled(self.folder) >= 10)
        finally:
            coord.kill()
            coord.wait()
        self.assertLess(self.settled(self.folder), 30)
        self.run_coord(self.folder, "resume", "--speed-up", "100000", "x.db")
        self.sweep(*terms, db="whole.kept")  # last: cached builds end too fast to be caught
        self.assertEqual(self.tried(), self.tried("whole.kept"))
        self.assertEqual(self.steps("asked"), self.steps("asked", "whole.kept"))
        self.assert_invariants(self.folder)

    def test_a_search_learns_what_came_out_otherwise(self):
        with open(self.path("plain.json")) as f:
            text = f.read()
        with open(self.path("plain.json"), "w") as f:
            f.write(text.replace('"measure": {', '"measure": { "canary_every": 10,', 1))
        with open(self.path("cards.json"), "w") as f:
            f.write('{ "cards": [{ "gpu": 0, "drift": 0.2, "over": 40 }] }')
        self.sweep("--cards", "cards.json", "--strategy", "random:20,bayes:60")
        [again] = self.rows("SELECT count(*) FROM outcome o JOIN result r ON r.nonce = o.nonce WHERE r.round > 0")
        self.assertGreater(again[0], 0)
        told = dict(self.rows("SELECT config, time_s FROM step WHERE kind <> 'asked' ORDER BY position"))  # the last
        self.assertEqual(told, dict(self.rows("SELECT config, iif(outcome = 'correct', median_s, NULL) FROM outcome")))
        steps = self.rows("SELECT * FROM step ORDER BY position")
        self.run_coord(self.folder, "resume", "x.db")  # it replays to where it was
        self.assertEqual(self.rows("SELECT * FROM step ORDER BY position"), steps)

    def test_what_would_be_searched_is_said_first(self):
        def dry(*args):
            return self.sweep("--dry-run", *args).stdout
        self.assertIn("search: exhaustive (there is no cap), 264 of 264 configurations, seed 1", dry())
        self.assertIn("12 of 264 configurations, seed 5", dry("--evaluations", "12", "--seed", "5"))
        self.assertIn("search: bayes (all 264 would take about", dry("--max-hours", "0.0001"))
        self.assertIn("genetic", self.run_coord(self.folder, "sweep", "--strategy", "help").stdout)
        self.assertIn("there is no 'bays'; did you mean 'bayes'?", self.sweep("--strategy", "bays", code=2).stderr)
        self.assertEqual([n for n in os.listdir(self.folder) if n.endswith(".db")], [])

    def counting(self, *args):
        with open(self.path("counting.py"), "w") as f:
            f.write(COUNTING)
        return " ".join(["external:python3", self.path("counting.py"), *args])

    def test_a_program_can_lead(self):
        self.leads_and_is_not_started_by_a_database()
        os.rename(self.path("x.db"), self.path("led.kept"))
        self.another_goes_on_when_it_ends()
        os.rename(self.path("x.db"), self.path("ended.kept"))
        self.one_that_never_begins_ends_the_sweep()
        os.rename(self.path("x.db"), self.path("never.kept"))
        with self.subTest("Optuna"):
            self.optuna_leads()

    def leads_and_is_not_started_by_a_database(self):
        out = self.sweep("--strategy", self.counting(), "--evaluations", "12").stderr
        self.assertIn("12 of 264 configurations", out)
        self.assertEqual(len(self.tried()), 12)
        points = [row[0] for row in self.rows("SELECT point FROM step WHERE kind = 'asked' ORDER BY position")]
        self.assertEqual(points, sorted(points))
        refused = self.run_coord(self.folder, "resume", "x.db", code=2)
        self.assertIn("to continue, give --strategy again", refused.stderr)
        self.run_coord(self.folder, "resume", "--strategy", self.counting(), "--evaluations", "16", "x.db")
        self.assertEqual(len(self.tried()), 16)

    def another_goes_on_when_it_ends(self):
        out = self.sweep("--strategy", self.counting("9"), "--evaluations", "20").stderr
        self.assertIn("the license has expired; bayes continues in its place", out)
        self.assertEqual(len(self.tried()), 20)
        self.assertEqual(self.rows("SELECT count(*) FROM event WHERE name = 'STRATEGY-ENDED'")[0][0], 1)

    def one_that_never_begins_ends_the_sweep(self):
        missing = self.sweep("--strategy", "external:no-such-program", code=2).stderr
        self.assertIn("'no-such-program'", missing)
        slip = self.sweep("--strategy", "external:python3 nowhere.py", code=2).stderr
        self.assertIn("ended (status 2)", slip)
        self.assertLessEqual(len(self.tried()), 1)  # the baseline was on its way

    def optuna_leads(self):
        if not has_optuna():
            self.skipTest("python3-optuna is not here")
        self.sweep("--strategy", f"external:{OPTUNA_PYTHON} {OPTUNA}", "--evaluations", "15")
        self.assertEqual(len(self.tried()), 15)

    def test_the_sweep_file_says_what_is_searched_for(self):
        folder = self.kernel("vector_add")
        sweep = {**sweepfile.read(folder), "emulation_shapes": [{"name": "one", "N": 300}, {"name": "two", "N": 501}]}
        self.searches_for(folder, sweep, "geomean", lambda times: (times["one"] * times["two"]) ** 0.5)
        self.assertIn("(random:4, seed 1, objective geomean)", self.run_coord(folder, "report").stdout)
        measured = self.query(folder, "SELECT count(*) FROM result")
        with self.subTest("another objective has the same results"):
            self.searches_for(folder, sweep, "two", lambda times: times["two"])
            self.assertEqual(self.query(folder, "SELECT count(*) FROM result"), measured)
        with self.subTest("a program is told the times of all, also at resume"):
            self.program_hears_all(folder)
        with self.subTest("a shape that the device has not"):
            ran = self.searches_for(folder, sweep, "n16m_odd", lambda times: times["one"])
            self.assertIn("the objective 'n16m_odd' is not a shape of the cpu device; the search uses the headline one",
                          ran.stderr)

    def searches_for(self, folder, sweep, objective, of):
        sweepfile.write(folder, {**sweep, "search": {"strategy": "random:4", "objective": objective}})
        ran = self.run_coord(folder, "sweep", "--device", "cpu")
        steps = self.query(folder, "SELECT config, time_s FROM step WHERE kind = 'timed' AND sweep = (SELECT max(sweep) "
                                   "FROM step)")
        self.assertGreaterEqual(len(steps), 4)
        for config, seconds in steps:
            times = dict(self.query(folder, "SELECT shape, median_s FROM outcome WHERE config = ?", config))
            self.assertAlmostEqual(seconds / of(times), 1, places=12)
        return ran

    def program_hears_all(self, folder):
        with open(self.path("hears.py"), "w") as f:
            f.write(COUNTING.replace("for line in sys.stdin:", f"""
for line in sys.stdin:
    with open({self.path("heard")!r}, "a") as heard:
        heard.write(line)"""))
        self.run_coord(folder, "sweep", "--device", "cpu", "--strategy", f"external:python3 {self.path('hears.py')}",
                       "--evaluations", "7")
        with open(self.path("heard")) as f:
            heard = [json.loads(line) for line in f]
        self.assertEqual((heard[0]["shapes"], heard[0]["objective"]), (["one", "two"], "two"))
        told = [order for order in heard if order.get("state") == "timed"]
        self.assertGreaterEqual(len(told), 7)
        for order in told:
            self.assertEqual(order["times"][1], order["time"])

    def test_emulated_kernels_race(self):
        folder = self.kernel("vector_add")
        sweep = sweepfile.read(folder)
        sweep["search"] = {"strategy": "lhs:3,tpe:3", "race": {"first": 2, "factor": 2, "most": 4}}
        sweep["confirm"] = False
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        rounds = dict(self.query(folder, "SELECT round, count(*) FROM result WHERE purpose = 'screen' AND counted = 1 "
                                         "GROUP BY 1"))
        self.assertEqual(rounds[0], 6)
        # Half of the five that race, or more that led for a while; the baseline does not race.
        self.assertGreaterEqual(rounds[1000], 2)
        samples = dict(self.query(folder, "SELECT DISTINCT round, json_array_length(samples) FROM result "
                                          "WHERE purpose = 'screen'"))
        self.assertEqual(samples, {0: 2, 1000: 4})
        # What is reported is the highest rung.
        self.assertEqual(self.query(folder, "SELECT DISTINCT r.round FROM outcome o JOIN result r ON r.nonce = o.nonce "
                                            "ORDER BY 1"), [(0,), (1000,)])
        self.run_coord(folder, "resume")  # nothing is left to do
        self.assertEqual(rounds, dict(self.query(
            folder, "SELECT round, count(*) FROM result WHERE purpose = 'screen' GROUP BY 1")))
        self.assert_invariants(folder)


if __name__ == "__main__":
    unittest.main()
