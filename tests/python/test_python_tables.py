"""fa_coord without the program: the tables of its JSON, messages, flags, sweep files."""

import json
import os
import re
import sqlite3
import tempfile
import unittest

from fa_coord import ProgramError, Sweep, program, run, tables, views


SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def at(shape, median_s, outcome="correct", **more):
    return {"shape": shape, "outcome": outcome, "reason": "", "median_s": median_s, "spread_s": 1e-6,
            "samples": [] if median_s is None else [median_s, median_s * 2], "metrics": {"gbps": 5.0}, **more}


def result(key, shapes, baseline=False, **config):
    return {"key": key, "rank": None, "baseline": baseline, "config": config, "shapes": shapes}


REPORT = {
    "results": [
        result("a", [at("s", 3e-6), at("t", 1e-6)], baseline=True, BLOCK=64, FAST=False),
        result("b", [at("s", 2e-6), at("t", 4e-6)], BLOCK=128, FAST=False),
        result("c", [at("s", None, "compile"), at("t", None, "compile")], BLOCK=128, FAST=True),
        result("d", [at("s", None, "pending"), at("t", None, "pending")], BLOCK=64, FAST=True),
    ],
    "cost": {"hosts": [
        {"host": "x", "rate_usd_per_h": 2.0, "hours": 3.0, "usd": 6.0, "categories": {"idle": 1.0, "measuring": 2.0}},
        {"host": "y", "rate_usd_per_h": None, "hours": 1.0, "usd": None, "categories": {"idle": 1.0}}]},
    "gpus": [{"gpu": "G0", "gpu_name": "L4", "host": "x", "measured": 2, "canaries": 1, "quarantined": None},
             {"gpu": "G1", "gpu_name": "L4", "host": "x", "measured": 1, "canaries": 1, "quarantined": None}],
    "verdict": {"state": "none", "shapes": []},
}
VERDICT = {"shapes": [{
    "shape": "s",
    "baseline": {"config": {"BLOCK": 64, "FAST": False}, "key": "a", "median_s": 3e-6, "ci_95": [2.9e-6, 3.1e-6]},
    "finalists": [{"config": {"BLOCK": 128, "FAST": False}, "key": "b", "median_s": 2e-6, "ci_95": [1.9e-6, 2.2e-6],
                   "speedup": 1.5, "speedup_ci_95": [1.4, 1.6], "verdict": "FAST", "p_holm": 0.01, "tied": False}]}]}


def span(category, name, key, start_s, seconds, shape=None):
    detail = {} if shape is None else {"detail": shape}
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "ts": start_s * 1e6, "dur": seconds * 1e6,
            "args": {"config": key, **detail}}


TRACE = {"traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}},
    span("build", "reference built", "r", 0, 1),
    span("build", "kernel built", "a", 1, 1),
    span("build", "kernel compile", "c", 2, 2),
    span("measure", "screen correct", "b", 5, 0.5, "s"),
    span("measure", "screen correct", "a", 6, 0.5, "s"),
    span("measure", "screen correct", "a", 9, 0.5, "s"),
    span("measure", "confirm correct", "b", 12, 0.5, "s"),
]}


class Tables(unittest.TestCase):
    def test_results_have_a_row_for_each_configuration_and_shape(self):
        rows = tables.results(REPORT)
        self.assertEqual([(row["key"], row["shape"]) for row in rows][:3], [("a", "s"), ("a", "t"), ("b", "s")])
        self.assertEqual((rows[2]["BLOCK"], rows[2]["median_s"], rows[2]["gbps"]), (128, 2e-6, 5.0))
        self.assertIsNone(rows[0]["host"])  # not known

    def test_a_tunable_with_the_name_of_a_column_gets_another(self):
        report = {"results": [{**result("a", [at("s", 1e-6)]), "config": {"host": 7, "key": 8}}]}
        row = tables.results(report)[0]
        self.assertEqual((row["host"], row["host_"], row["key"], row["key_"]), (None, 7, "a", 8))

    def test_samples_are_in_order(self):
        rows = [row for row in tables.samples(REPORT) if row["key"] == "b" and row["shape"] == "s"]
        self.assertEqual([(row["sample"], row["seconds"]) for row in rows], [(0, 2e-6), (1, 4e-6)])

    def test_an_unpriced_host_has_hours_and_no_dollars(self):
        self.assertEqual([(row["host"], row["category"], row["hours"], row["usd"]) for row in tables.cost(REPORT)],
                         [("x", "idle", 1.0, 2.0), ("x", "measuring", 2.0, 4.0), ("y", "idle", 1.0, None)])

    def test_the_proof_and_earlier_rates_are_in_the_cost(self):
        host = {"host": "x", "rate_usd_per_h": 2.0, "hours": 4.0, "usd": 6.0, "proof_hours": 1.0,
                "categories": {"idle": 1.0, "measuring": 2.0}}
        rows = tables.cost({**REPORT, "cost": {"hosts": [host]}})
        self.assertEqual([(row["category"], row["hours"], row["usd"]) for row in rows],
                         [("idle", 1.0, 1.5), ("measuring", 2.0, 3.0), ("proof", 1.0, 1.5)])
        unused = {**host, "hours": 0.0, "usd": 0.0, "proof_hours": 0.0, "categories": {"idle": 0.0}}
        self.assertEqual([row["usd"] for row in tables.cost({**REPORT, "cost": {"hosts": [unused]}})], [0.0])
        some = {**host, "usd": None}  # one of its runs had no rate
        self.assertEqual({row["usd"] for row in tables.cost({**REPORT, "cost": {"hosts": [some]}})}, {None})

    def test_a_host_without_a_gpu_has_a_row(self):
        self.assertEqual([(row["host"], row["gpu"]) for row in tables.hosts(REPORT)],
                         [("x", "G0"), ("x", "G1"), ("y", None)])

    def test_the_verdict_has_baseline_and_finalists(self):
        rows = tables.verdict({**REPORT, "verdict": VERDICT})
        self.assertEqual([(row["role"], row["low_s"], row["speedup_high"], row["BLOCK"]) for row in rows],
                         [("baseline", 2.9e-6, None, 64), ("finalist", 1.9e-6, 1.6, 128)])
        self.assertEqual(tables.verdict(REPORT), [])

    def test_builds_are_those_of_kernels(self):
        self.assertEqual([(row["key"], row["outcome"], row["seconds"]) for row in tables.builds(TRACE)],
                         [("a", "built", 1.0), ("c", "compile", 2.0)])

    def test_convergence_is_in_the_order_of_the_first_measurement(self):
        rows = tables.convergence(REPORT, TRACE, "s")
        self.assertEqual([(row["key"], row["seconds"], row["best_s"]) for row in rows],
                         [("c", 4.0, None), ("b", 5.5, 2e-6), ("a", 6.5, 2e-6)])
        self.assertEqual([(row["BLOCK"], row["FAST"]) for row in rows], [(128, True), (128, False), (64, False)])

    def test_columns_of_an_empty_table_are_those_of_its_rows(self):
        report = {**REPORT, "verdict": VERDICT}
        for name in ("results", "samples", "cost", "hosts", "verdict"):
            with self.subTest(name):
                rows = getattr(tables, name)(report)
                self.assertEqual(list(rows[0])[:len(tables.COLUMNS[name])], list(tables.COLUMNS[name]))


class Pictures(unittest.TestCase):
    def test_intervals_are_those_of_the_confirmation(self):
        kind, rows = tables.intervals({**REPORT, "verdict": VERDICT}, "s", 1)
        self.assertEqual((kind, [row["label"] for row in rows]), ("confidence", ["BLOCK=128", "baseline"]))
        self.assertEqual((rows[0]["low_s"], rows[0]["high_s"]), (1.9e-6, 2.2e-6))

    def test_before_it_they_are_spreads_with_the_baseline_always(self):
        kind, rows = tables.intervals(REPORT, "s", 1)
        self.assertEqual((kind, [row["label"] for row in rows]), ("spread", ["BLOCK=128", "baseline"]))
        self.assertAlmostEqual(rows[0]["low_s"], 1e-6)

    def test_a_cell_has_the_best_of_its_pair(self):
        rows = [row for row in tables.results(REPORT) if row["shape"] == "s"]
        self.assertEqual(tables.cells(rows, "BLOCK", "FAST"),
                         ([64, 128], [False, True], [[3e-6, 2e-6], [None, None]]))
        with self.assertRaisesRegex(ValueError, "no column 'BLOC'; there are key, rank"):
            tables.cells(rows, "BLOC", "FAST")


class Messages(unittest.TestCase):
    def test_the_error_is_raised_without_what_came_before(self):
        text = "fa-coord: warning: gate 'x'\n1/2 measured\nfa-coord: a.json:2:1: a value is missing\n  ^\nwrite one\n"
        self.assertEqual(program.message(text, 2), "a.json:2:1: a value is missing\n  ^\nwrite one")

    def test_an_end_without_a_message_says_the_code(self):
        self.assertEqual(program.message("", -9), "fa-coord ended with exit code -9")

    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(ProgramError, "no program '/nonexistent/fa-coord'.*FA_COORD"):
            program.find("/nonexistent/fa-coord")


class Running(unittest.TestCase):
    def test_options_are_flags(self):
        self.assertEqual(run.flags({"max_hours": 0.5, "fresh": True, "seed": 0, "hosts": None, "quiet": False}),
                         ["--max-hours", "0.5", "--fresh", "--seed", "0"])

    def test_progress_is_one_line(self):
        words = "correct constraints compile runtime correctness timeout lost crash pending".split()
        status = {"done": 3, "total": 6, "counts": {**dict.fromkeys(words, 0), "correct": 2, "compile": 1},
                  "eta_s": 61.2, "total_usd": 0.5}
        self.assertEqual(run.progress(status), "3/6 measured  2 correct  1 failed  1:01 left  $0.50")
        self.assertEqual(run.progress({**status, "eta_s": None, "total_usd": None}),
                         "3/6 measured  2 correct  1 failed")
        self.assertEqual(run.progress(None), "starting")


class Views(unittest.TestCase):
    SQL = "CREATE TEMP VIEW fa_x AS SELECT a AS b FROM t; CREATE TEMP VIEW fa_y AS SELECT 1;"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "a ?#%.db")
        self.writer = sqlite3.connect(self.path)
        self.addCleanup(self.writer.close)
        self.writer.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1), (2);")

    def test_a_read_leaves_the_folder_as_it_was(self):
        self.writer.close()
        for _ in range(2):
            self.assertEqual(views.read(self.path, self.SQL, "fa_x"), [{"b": 1}, {"b": 2}])
            self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path)])

    def test_what_a_writer_has_committed_to_its_log_is_read(self):
        self.writer.execute("INSERT INTO t VALUES(3)")
        self.assertEqual(len(views.read(self.path, self.SQL, "fa_x")), 2)
        self.writer.commit()
        self.assertEqual(len(views.read(self.path, self.SQL, "fa_x")), 3)

    def test_nothing_can_be_written(self):
        for close in False, True:
            if close:
                self.writer.close()
            with self.assertRaisesRegex(sqlite3.OperationalError, "readonly"):
                views.read(self.path, "DELETE FROM t;", "fa_x")

    def test_an_unknown_view_is_named_with_those_there_are(self):
        with self.assertRaisesRegex(ValueError, "no view 'fa_z'; there are fa_x, fa_y"):
            views.read(self.path, self.SQL, "fa_z")


class Files(unittest.TestCase):
    def test_a_dict_becomes_a_sweep_file(self):
        sweep = Sweep(name="é", tunables={"A": range(1, 3), "B": (True, False)})
        self.assertEqual(json.loads(sweep.text()), {"name": "é", "tunables": {"A": [1, 2], "B": [True, False]}})

    def test_what_json_cannot_hold_is_refused(self):
        with self.assertRaisesRegex(ValueError, "infinite or NaN"):
            Sweep(floor=float("nan")).text()
        with self.assertRaisesRegex(TypeError, "cannot hold {1}"):
            Sweep(tunables={"A": {1}}).text()

    def test_a_file_is_replaced_only_by_force(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Sweep(name="a").write(folder, check=False)
            with self.assertRaisesRegex(FileExistsError, "force=True"):
                Sweep(name="b").write(folder, check=False)
            Sweep(name="c").write(folder, check=False, force=True)
            with open(path) as f:
                self.assertEqual(json.load(f), {"name": "c"})
            self.assertEqual(os.listdir(folder), ["sweep.json"])

    def test_the_package_has_the_version_of_the_programs(self):
        found = []
        for name, pattern in (("CMakeLists.txt", r"project\(fa-coord VERSION (\S+)"),
                              ("deploy/python/pyproject.toml", r'(?m)^version = "(\S+)"')):
            with open(os.path.join(SOURCE, name)) as f:
                found.append(re.search(pattern, f.read())[1])
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    unittest.main()
