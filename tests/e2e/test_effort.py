"""--effort: quick searches for seconds, keeps what it found, and says what it leaves out; full tries all."""

import contextlib
import json
import sqlite3

import landscape
import rig


class Effort(rig.Rig):
    def setUp(self):
        super().setUp()
        landscape.make(self.path("bowl.json"), xs=(8, 16, 32, 64, 128, 256))
        self.write("hosts.txt", "localhost slots=2\n")

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def sweep(self, *args, command=("sweep", "--device", "replay=bowl.json", "--db", "x.db"), code=0):
        return self.run_coord(self.folder, *command, "--hosts", "hosts.txt", *args, code=code)

    def count(self, sql):
        with contextlib.closing(sqlite3.connect(f"file:{self.path('x.db')}?mode=ro", uri=True, timeout=10)) as con:
            return con.execute(sql).fetchone()[0]

    def tried(self):
        return self.count("SELECT count(DISTINCT config) FROM outcome")

    # 0.4 s a build, two at once: all would take 29 s.
    def test_quick_ends_by_seconds_and_others_continue_with_it(self):
        out = self.sweep("--effort", "quick", "--speed-up", "1")
        self.assertIn("effort quick: the search ends after 11 s with at least 24 configurations, or after 200; 4 of at "
                      "most 32 finalists; 24 of at most 70 blocks", out.stderr)
        self.assertIn("Verdict: ", out.stdout)
        first = self.tried()
        self.assertGreaterEqual(first, 24)
        self.assertLess(first, 100)
        self.assertEqual(self.report(self.folder, "x.db")["search"]["effort"], "quick")
        self.assertIn(", effort quick: ", self.run_coord(self.folder, "report", "x.db", "--show", "all").stdout)
        self.same_again(first)
        self.all_of_it(first)

    def same_again(self, first):
        """Its time is over: neither resume nor sweep gives it more."""
        out = self.sweep("--speed-up", "100000", command=("resume", "x.db"))
        self.assertIn("effort quick: ", out.stderr)
        self.assertEqual(self.tried(), first)

    def all_of_it(self, first):
        results = self.count("SELECT count(*) FROM result WHERE purpose = 'screen'")
        out = self.sweep("--effort", "full", "--speed-up", "100000")
        self.assertIn("effort full: all configurations that pass; at most 1000 finalists and 280 blocks", out.stderr)
        self.assertEqual(self.tried(), 144)
        again = self.count("SELECT count(*) FROM (SELECT config FROM result WHERE purpose = 'screen' AND round = 0 "
                           "GROUP BY config HAVING count(*) > 1)")
        self.assertEqual(again, 0)
        self.assertGreater(self.count("SELECT count(*) FROM result WHERE purpose = 'screen'"), results)
        self.assertEqual(self.report(self.folder, "x.db")["search"]["effort"], "full")

    def test_a_warm_search_begins_with_the_best_of_another(self):
        # almost the same bowl on another card: slower, and with its bottom beside the other one
        landscape.make(self.path("other.json"), xs=(8, 16, 32, 64, 128, 256),
                       time_of=lambda bx, by, unroll: 3 * landscape.time_ms(2 * bx, by, unroll))
        terms = ("--speed-up", "100000", "--strategy", "bayes", "--evaluations", "10")
        out = self.sweep(*terms, "--warm", "other.json")
        self.assertRegex(out.stderr, r"search: warm, with the times of \d+ of these \d+ configurations from Test GPU 9000")
        with contextlib.closing(sqlite3.connect(f"file:{self.path('x.db')}?mode=ro", uri=True, timeout=10)) as con:
            first = con.execute("SELECT params FROM step JOIN config ON config.key = step.config WHERE kind = 'asked' "
                                "ORDER BY position").fetchone()[0]
        params = json.loads(first)
        self.assertEqual((params["BX"], params["BY_"], params["UNROLL"]), (32, 4, 2))
        self.refuses_what_it_cannot_read()

    def refuses_what_it_cannot_read(self):
        self.write("broken.json", "{")
        self.assertIn("--warm: ", self.sweep("--warm", "broken.json", code=2).stderr)
        self.assertIn("--warm: none.db: No such file", self.sweep("--warm", "none.db", code=2).stderr)

    def test_plans_say_the_effort_and_choices_win(self):
        plan = json.loads(self.sweep("--dry-run", "--json", "--effort", "quick").stdout)
        self.assertEqual((plan["effort"], plan["strategy"], plan["evaluations"]), ("quick", "bayes", 144))
        plan = self.sweep("--dry-run", "--effort", "quick", "--evaluations", "30").stdout
        self.assertIn("search: bayes (30 evaluations are fewer than all 144), 30 of 144 configurations", plan)
        self.assertNotIn("the search ends after", plan)
        self.env["FA_COORD_EFFORT"] = "full"
        plan = json.loads(self.sweep("--dry-run", "--json", "--max-hours", "0.0001").stdout)
        self.assertEqual((plan["effort"], plan["strategy"], plan["evaluations"]), ("full", "exhaustive", 144))
        del self.env["FA_COORD_EFFORT"]
        self.assertIn("--effort=quik: choose quick, normal or full; did you mean 'quick'?",
                      self.sweep("--effort", "quik", code=2).stderr)
