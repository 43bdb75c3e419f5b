"""docs/results/record.py: the same sweep several times, and how good its winners are."""

import contextlib
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import unittest

import landscape
import rig

RESULTS = os.path.join(rig.SOURCE, "docs", "results")
sys.path.insert(0, RESULTS)

import record_figures as figures  # noqa: E402
import record_page  # noqa: E402


def cell(seconds, *samples):
    return {"shape": "n", "median_s": seconds, "normalised_s": None, "samples": list(samples)}


def result(key, *cells, rank=1):
    return {"key": key, "rank": rank, "shapes": list(cells)}


def verdict(best, word="FAST", tied=()):
    return {"shape": "n", "best_key": best, "verdict": word, "baseline": {"key": "base"}, "sentence": "so it is",
            "finalists": [{"key": "b", "median_s": 2.0}, {"key": "a", "median_s": 1.0}], "tie_set": [{"key": key} for key in tied]}


class Figures(unittest.TestCase):
    REPORT = {"results": [result("a", cell(1.0, 1.2, 0.9)), result("b", cell(1.1, 1.1, 1.1, 1.1)),
                          result("wrong", cell(0.5, 0.5, 0.5), rank=None)],
              "verdict": {"shapes": [verdict("a", tied=["b", "a"])]}}

    def test_what_is_wrong_cannot_win_and_one_sample_may_choose_another_one(self):
        self.assertEqual(figures.facts(self.REPORT), {"n": {
            "winners": {"confirmed": "a", "finalist": "a", "screened": "a", "one_sample": "b"},
            "one_sample_each": ["b", "a"], "finalists": ["a", "b"], "tied": ["a", "b"], "sentence": "so it is"}})

    def test_what_does_not_beat_the_baseline_is_not_taken(self):
        self.assertEqual(figures.confirmed(verdict("a", "SLOW")), "base")

    def test_without_a_confirmation_there_is_still_a_screening(self):
        found = figures.facts({**self.REPORT, "verdict": {"shapes": []}})["n"]
        self.assertEqual(found["winners"], {"confirmed": None, "finalist": None, "screened": "a", "one_sample": "b"})

    def test_normalised_times_go_before_raw_ones(self):
        slow_card = {**cell(1.0, 1.0), "normalised_s": 1.3}
        report = {"results": [result("a", slow_card), result("b", cell(1.2, 1.2))]}
        self.assertEqual(figures.fastest(figures.times(report)["n"]), "b")

    def test_winners_that_change_are_counted_by_pairs(self):
        self.assertEqual(figures.changes(["a", "a", "b"]), {"picks": 3, "different": 2, "pairs": 3, "pairs_that_differ": 2})
        self.assertEqual(figures.changes(["a"]), {"picks": 1, "different": 1, "pairs": 0, "pairs_that_differ": 0})

    def test_agreement_is_over_what_two_sweeps_measured(self):
        found = figures.agreement([{"a": 1.0, "b": 1.0, "only": 9.0}, {"a": 1.1, "b": 0.9}])
        self.assertEqual(found["configurations"], 2)
        self.assertAlmostEqual(found["median"], 0.1)
        self.assertAlmostEqual(found["levels"][0], 1.0)
        self.assertIsNone(figures.agreement([{"a": 1.0}]))

    def test_sets_overlap(self):
        self.assertEqual(figures.overlap([["a", "b"], ["b", "c"]]), {"sizes": [2, 2], "in_all": 1, "in_any": 3})

    def test_a_regret_is_taken_block_by_block(self):
        blocks = {n: {"best": 1.0 + n, "late": 1.02 * (1.0 + n)} for n in range(20)}
        blocks[3]["late"] *= 5
        found = figures.regret(blocks, "late", "best")
        self.assertAlmostEqual(found["regret"], 0.02)
        for end in found["interval"]:
            self.assertAlmostEqual(end, 0.02)
        self.assertEqual(figures.regret(blocks, "best", "best"), {"regret": 0.0, "interval": [0.0, 0.0]})
        self.assertIsNone(figures.regret({}, "late", "best"))

    def test_an_interval_leaves_out_what_the_binomial_distribution_allows(self):
        # 2 P(X <= 5) = 0.0414 and 2 P(X <= 6) = 0.115 of 20; 2 P(X <= 0) = 0.0625 of 5 and 0.031 of 6.
        self.assertEqual([figures.depth(n) for n in (20, 6, 5, 1)], [5, 0, None, None])

    def test_winners_are_measured_again_before_finalists(self):
        run = {"shapes": figures.facts(self.REPORT)}
        self.assertEqual(figures.candidates([run], "base", 9), (["a", "b"], 0))
        self.assertEqual(figures.candidates([run], "a", 9), (["b"], 0))
        self.assertEqual(figures.candidates([run], "base", 1), (["a"], 1))

    def test_who_was_found_wrong_is_not_measured_again(self):
        bench = {"configurations": [{"key": "base"}, {"key": "a"}], "rejected": [{"key": "b"}]}
        self.assertTrue(figures.covers(bench, ["b", "a"]))
        self.assertFalse(figures.covers(bench, ["c"]))
        self.assertFalse(figures.covers(None, []))

    def test_regrets_of_picks(self):
        bench = {"shapes": [{"shape": "n", "measured": [{"key": "base", "median_s": 2.0}, {"key": "a", "median_s": 1.0},
                                                         {"key": "b", "median_s": 1.1}]}]}
        blocks = {"n": {n: {"base": 2.0, "a": 1.0, "b": 1.1} for n in range(6)}}
        again = figures.remeasured(bench, blocks)
        self.assertEqual(again["n"]["best"], "a")
        run = {"shapes": figures.facts(self.REPORT)}
        found = figures.figures([run, run], [figures.times(self.REPORT)] * 2, again)["n"]
        self.assertAlmostEqual(found["methods"]["one_sample"]["regret"]["mean"], 0.1)
        self.assertEqual(found["methods"]["confirmed"]["regret"]["worst"], 0.0)
        self.assertEqual(found["methods"]["one_sample_each"]["different"], 2)
        self.assertEqual(found["agreement"]["worst"], 0.0)


class Record(rig.Rig):
    def record(self, *args, code=0):
        ran = subprocess.run(self.command(*args), cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=240)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran

    def command(self, *args):
        return [sys.executable, os.path.join(RESULTS, "record.py"), "--fa-coord", os.path.join(rig.BIN, "fa-coord"),
                "--out", "out", "--runs", "2", *args, "--", "--device", "replay=bowl.json", "--speed-up", "100000"]

    def read(self, name="record.json"):
        with open(self.path("out", name)) as f:
            return json.load(f)

    def test_two_sweeps_and_what_their_winners_are_worth(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64, 128), ys=(2, 4), unrolls=(1, 2))
        self.record()
        record = self.read()
        self.assertEqual([run["name"] for run in record["runs"]], ["run_1", "run_2"])
        self.assertEqual([(run["costs"]["builds"], run["costs"]["builds_cached"]) for run in record["runs"]], [(12, 0), (12, 12)])
        figures_of = record["figures"]["recorded"]
        self.assertEqual(figures_of["agreement"]["configurations"], 12)
        self.assertEqual(figures_of["methods"]["confirmed"]["regret"]["worst"], 0.0)
        best = record["remeasured"]["shapes"]["recorded"]["best"]
        self.assertEqual(record["configurations"][best], "BX=64 BY_=4 UNROLL=2 MODE=plain")
        # far(32, 64) = 1, far(2, 4) = 1, far(1, 2) = 1
        self.assertAlmostEqual(record["remeasured"]["shapes"]["recorded"]["times"][record["baseline"]]["regret"], 0.4, delta=0.01)
        with open(self.path("out", "record.md")) as f:
            self.assertEqual(f.read(), record_page.page(record))
        with self.subTest("what is to be published is sound, and has no path of this machine"):
            for name in "run_1.db", "run_2.db":
                with gzip.open(self.path("out", name + ".gz")) as packed, open(self.path(name), "wb") as plain:
                    plain.write(packed.read())
                self.run_coord(self.folder, "verify", name)
                with contextlib.closing(sqlite3.connect(self.path(name))) as db:
                    for table in "request", "sweep":
                        self.assertNotIn(self.folder, str(db.execute(f"SELECT * FROM {table}").fetchall()))
        with self.subTest("another winner than those that were measured again"):
            bench = self.read("remeasured.json")
            [shape] = bench["shapes"]
            alone = {"configurations": bench["configurations"][:1], "shapes": [{**shape, "measured": shape["measured"][:1]}]}
            with open(self.path("out", "remeasured.json"), "w") as f:
                json.dump({**bench, **alone}, f)
            self.record()
            again = self.read("remeasured.json")
            self.assertEqual((again["pass"], again["configurations"]), (bench["pass"] + 1, bench["configurations"]))
            record = self.read()
        with self.subTest("what is to be kept makes the same record again"):
            keep = ("record.json", "record.md", "steps.json", "remeasured.json", "run_1.db.gz", "run_2.db.gz")
            for name in os.listdir(self.path("out")):
                if name not in keep:
                    os.remove(self.path("out", name))
            again = self.record()
            self.assertNotIn("at most", again.stdout)
            self.assertEqual(self.read(), record)
            self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(keep))

    def test_killed_and_out_of_time_it_goes_on(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2, 4), unrolls=(1,), verify_ms=2e6)  # 20 ms each
        os.mkdir(self.path("out"))
        with open(self.path("said"), "wb") as said:
            child = subprocess.Popen(self.command(), cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=said)
        try:
            rig.until("a sweep's results", lambda: self.settled(self.path("out")) or child.poll() is not None, 60)
        finally:
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(60), 1)
        self.assertEqual([(s["name"], s["exit"], s["ended"]) for s in self.read("steps.json")], [("run_1", None, "stopped")])
        refused = self.record("--seconds", "1", code=1)
        self.assertIn("run_1: no time left", refused.stdout)
        self.record()
        record = self.read()
        self.assertEqual([run["parts"] for run in record["runs"]], [2, 1])
        self.assertEqual(record["runs"][0]["costs"]["builds"], 4)

    def test_arguments(self):
        with self.subTest("a program that is not there"):
            ran = subprocess.run([sys.executable, os.path.join(RESULTS, "record.py"), "--fa-coord", "nowhere", "--out", "out"],
                                 cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.returncode, 2)
            self.assertIn("there is no such program", ran.stderr)
        with self.subTest("a sweep that fails is said, and nothing is written of it"):
            failed = self.record(code=1)
            self.assertIn("run_1: exit 2", failed.stdout)
            self.assertFalse(os.path.exists(self.path("out", "record.json")))


class Page(unittest.TestCase):
    def test_the_committed_page_is_what_its_file_makes(self):
        folder = os.path.join(RESULTS, "h200", "record")
        if not os.path.exists(os.path.join(folder, record_page.DATA)):
            self.skipTest("nothing measured yet")
        with open(os.path.join(folder, record_page.DATA), encoding="utf-8") as data, \
             open(os.path.join(folder, record_page.PAGE), encoding="utf-8") as page:
            self.assertEqual(page.read(), record_page.page(json.load(data)), "run docs/results/record_page.py")


if __name__ == "__main__":
    unittest.main()
