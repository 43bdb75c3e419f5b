"""Files of other tuners: what fa-coord writes, it reads back equal, and can replay."""

import contextlib
import csv
import io
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import unittest

import landscape
import rig

XS, YS, UNROLLS = (16, 64, 1024), (1, 4), (1, 8)
# import gives BY, a word of SQL, another name
NAMES = {"BX": "BX", "BY": "BY_", "UNROLL": "UNROLL", "MODE": "MODE"}


class Exchange(rig.Rig):
    def make(self, name="bowl.json"):
        return landscape.make(self.path(name), xs=XS, ys=YS, unrolls=UNROLLS)

    def imported(self, name, db):
        return self.run_coord(self.folder, "import", name, "--out", db)

    def exported(self, db, kind, name, *args):
        self.run_coord(self.folder, "export", "--db", db, "--format", kind, "--out", name, *args)
        with open(self.path(name)) as f:
            return f.read()

    def rows(self, db, sql):
        with contextlib.closing(sqlite3.connect(self.path(db))) as base:
            return base.execute(sql).fetchall()

    def content(self, db):
        """What a database says of its configurations, apart from instants and keys."""
        return [self.rows(db, sql) for sql in (
            "SELECT c.params, o.outcome, o.reason, o.median_s, c.baseline FROM outcome o JOIN config c ON c.key = o.config ORDER BY 1",
            "SELECT c.params, r.outcome, r.detail, r.samples, r.held_s FROM result r JOIN config c ON c.key = r.config ORDER BY 1",
            "SELECT c.params, b.outcome, b.detail, b.seconds FROM build b JOIN config c ON c.key = b.config ORDER BY 1",
            "SELECT name FROM gpu")]

    def replayed(self, name, cache):
        self.run_coord(self.folder, "sweep", "--device", f"replay={name}", "--speed-up", "100000", "--db", "replayed.db")
        self.assertEqual(dict(self.rows("replayed.db", "SELECT outcome, count(*) FROM outcome GROUP BY 1")),
                         landscape.words(cache))

    def trace(self, db):
        trace = json.loads(self.exported(db, "trace", "trace.json"))
        spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        named = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name"}
        self.assertEqual({(e["pid"], e["tid"]) for e in spans}, named)
        self.assertEqual({e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}, {"localhost"})
        for lane in named:
            at = 0
            for span in [e for e in spans if (e["pid"], e["tid"]) == lane]:
                self.assertGreaterEqual(span["ts"], at - 1e-3, "spans of a lane do not overlap")
                self.assertGreaterEqual(span["dur"], 0)
                at = span["ts"] + span["dur"]
        held = sum(e["dur"] for e in spans if e["cat"] == "host")
        self.assertAlmostEqual(held, self.rows(db, "SELECT sum(end_ns - start_ns) / 1e3 FROM interval")[0][0], delta=1)
        for kind, sql in (("build", "SELECT count(*) FROM build WHERE cached = 0"), ("measure", "SELECT count(*) FROM result")):
            self.assertEqual(sum(e["cat"] == kind for e in spans), self.rows(db, sql)[0][0])

    def views(self, db, cache):
        script = self.exported(db, "views", "views.sql")
        shutil.copy(self.path(db), self.path("before.db"))
        with contextlib.closing(sqlite3.connect(f"file:{self.path(db)}?mode=ro", uri=True)) as base:
            base.executescript(script)
            def table(name):
                rows = base.execute(f"SELECT * FROM {name}")
                return [dict(zip([column[0] for column in rows.description], row)) for row in rows]
            self.assertEqual({(r["BX"], r["BY_"], r["UNROLL"], r["MODE"]) for r in table("fa_config")},
                             {(e["BX"], e["BY"], e["UNROLL"], "plain") for e in cache.values()})
            words = {}
            for row in table("fa_outcome"):
                words[row["outcome"]] = words.get(row["outcome"], 0) + 1
            self.assertEqual(words, landscape.words(cache))
            self.assertEqual(sum(r["outcome"] == "compile" for r in table("fa_build")), words["compile"])
            self.assertEqual(len(table("fa_result")), len(cache) - words["compile"])
            self.assertEqual(table("fa_host_time"), [])
            samples = table("fa_sample")
        with open(self.path(db), "rb") as a, open(self.path("before.db"), "rb") as b:
            self.assertEqual(a.read(), b.read(), "the views are temporary")
        lines = list(csv.DictReader(io.StringIO(self.exported(db, "csv", "samples.csv"))))
        self.assertEqual(len(lines), 32 * words["correct"])
        self.assertEqual(sorted((r["key"], int(r["sample"]), float(r["seconds"]), int(r["BX"])) for r in lines),
                         sorted((r["key"], r["sample"], r["seconds"], r["BX"]) for r in samples))

    def test_the_page_s_way_to_the_views_leaves_nothing_behind(self):
        """The Python of docs/exchange.md, as it stands there: at rest, and with the log of a coordinator that was killed."""
        with open(f"{rig.SOURCE}/docs/exchange.md") as f:
            script = f.read().split("```\n")[1]
        self.assertIn("fa_sample", script)
        self.make()
        self.imported("bowl.json", "gemm.db")

        def read():
            ran = subprocess.run(["python3", "-c", script + "print(len(samples))"], cwd=self.folder, capture_output=True, text=True,
                                 env={**self.env, "PATH": rig.BIN + ":" + self.env["PATH"]})
            self.assertEqual(ran.stderr, "")
            return int(ran.stdout)

        def beside():
            return sorted(name for name in os.listdir(self.folder) if name.startswith("gemm.db"))

        samples = self.rows("gemm.db", "SELECT count(*) FROM result WHERE outcome = 'correct'")[0][0] * 32
        before = beside()
        self.assertEqual(read(), samples)
        self.assertEqual(beside(), before)
        os.rename(self.path("gemm.db"), self.path("whole.db"))
        with contextlib.closing(sqlite3.connect(self.path("gemm.db"))) as writer, \
                contextlib.closing(sqlite3.connect(self.path("whole.db"))) as whole:
            writer.executescript("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;")
            whole.backup(writer)
            self.assertIn("gemm.db-wal", beside())
            self.assertEqual(read(), samples, "all is in the log")

    def test_a_problem_size_is_a_list_a_number_or_a_text(self):
        self.make()
        with open(self.path("bowl.json")) as f:
            whole = json.load(f)
        for i, size in enumerate(("N", 4096)):
            with open(self.path(f"size{i}.json"), "w") as f:
                json.dump(whole | {"problem_size": size}, f)
            self.imported(f"size{i}.json", f"size{i}.db")
            written = json.loads(self.exported(f"size{i}.db", "kernel-tuner", f"written{i}.json"))
            self.assertEqual(written["problem_size"], size)

    def test_a_kernel_tuner_cache_goes_out_as_it_came_in(self):
        cache = self.make()
        with open(self.path("bowl.json")) as f:
            whole = json.load(f)
        whole = {"problem_size": [4096, "64"]} | whole | {"kernel_name": "bowl_kernel"}
        with open(self.path("bowl.json"), "w") as f:
            json.dump(whole, f)
        self.imported("bowl.json", "a.db")
        text = self.exported("a.db", "kernel-tuner", "out.json")
        written = json.loads(text)
        self.assertEqual(written["device_name"], "Test GPU 9000")
        self.assertEqual(written["tune_params_keys"], list(NAMES.values()))
        self.assertEqual(written["tune_params"]["BX"], sorted(XS))
        self.assertEqual((written["kernel_name"], written["problem_size"]), ("bowl_kernel", [4096, "64"]))
        for key, entry in cache.items():
            got = written["cache"][f"{key},plain"]
            self.assertEqual([got[new] for new in NAMES.values()], [entry[old] for old in NAMES])
            if isinstance(entry["time"], str):
                self.assertEqual(got["time"], entry["time"])
                continue
            for a, b in zip(got["times"], entry["times"], strict=True):
                self.assertAlmostEqual(a, b, delta=1e-15 * b)
            self.assertAlmostEqual(got["time"], entry["time"])
            self.assertEqual(got["compile_time"], entry["compile_time"])
        self.imported("out.json", "b.db")
        self.assertEqual(self.content("a.db"), self.content("b.db"))
        again = json.loads(self.exported("b.db", "kernel-tuner", "again.json"))
        self.assertEqual(again, written)
        self.assertEqual(json.loads(self.exported("b.db", "t4", "t4.json"))["metadata"]["kernel_name"], "bowl_kernel")
        with self.subTest("two records of one kernel are compared, though their files have other names"):
            self.run_coord(self.folder, "compare", "a.db", "b.db")
        self.replayed("out.json", cache)
        with self.subTest("the views of the import"):
            self.views("a.db", cache)
        with self.subTest("the trace of that sweep"):
            self.trace("replayed.db")
            ran = self.run_coord(self.folder, "export", "--db", "a.db", "--format", "trace", code=2)
            self.assertIn("a.db was imported; the record does not say what hosts did", ran.stderr)
        with self.subTest("a configuration or a missing shape is refused"):
            for args, said in ((["--config", "BX=16"], "--format kernel-tuner has all configurations, so --config does not apply"),
                               (["--shape", "recordet"], "there is no shape 'recordet' in the sweep; did you mean 'recorded'?")):
                ran = self.run_coord(self.folder, "export", "--db", "a.db", "--format", "kernel-tuner", *args, code=2)
                self.assertIn(said, ran.stderr)

    def test_a_sweep_without_a_result_is_refused_in_its_own_words(self):
        landscape.make(self.path("bowl.json"), xs=XS, ys=YS, unrolls=UNROLLS, compile_ms=3600000.0)
        coord = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--db", "x.db")
        self.addCleanup(coord.wait)
        self.addCleanup(coord.kill)
        rig.until("it is in the database", lambda: os.path.exists(self.path("x.db")) and self.rows(
            "x.db", "SELECT 1 FROM sqlite_master WHERE name = 'config'") and self.rows("x.db", "SELECT 1 FROM config"))
        for _ in range(2):
            coord.send_signal(signal.SIGINT)
        coord.wait(60)
        self.assertEqual(self.report(self.folder, "x.db")["search"]["tried"], 0)
        for kind in "kernel-tuner", "t4", "nvbench":
            self.assertIn("x.db: none of its configurations is settled yet; 'fa-coord resume' goes on with the sweep",
                          self.run_coord(self.folder, "export", "--db", "x.db", "--format", kind, code=2).stderr)
        hosts = self.rows("x.db", "SELECT count(*) FROM host")[0][0]
        self.assertEqual("last held for" in self.run_coord(self.folder, "status", "x.db").stdout, hosts > 0)

    def test_a_report_of_a_record_tells_what_the_record_has(self):
        cache = self.make()
        with open(self.path("bowl.json")) as f:
            text = f.read()
        with open(self.path("bowl.json"), "w") as f:
            f.write(text.replace('"device_name": "Test GPU 9000",', ""))
        self.imported("bowl.json", "a.db")
        words = landscape.words(cache)
        self.assertEqual(words["constraints"], 1)
        said = " ".join(self.run_coord(self.folder, "report", "a.db").stdout.split())
        self.assertIn("bowl on an unnamed device (recorded) (replay)", said)
        written = json.loads(self.exported("a.db", "t4", "unnamed.json"))
        self.assertEqual([written["metadata"][key] for key in ("device", "device_name")], ["", ""])
        self.assertIn("Tried all 12 configurations that pass the gates, of 12. ", said)
        self.assertIn(f"Results {words['correct']} correct, 1 constraints, ", said)
        said = self.run_coord(self.folder, "report", "a.db", "--show", "all").stdout
        self.assertIn("12 configurations, 0 rejected by gates", said)
        self.assertRegex(said, r"constraints +1\n")
        self.assertIn("recorded as 'constraints' on an unnamed device", " ".join(said.split()))
        said = json.loads(self.run_coord(self.folder, "status", "a.db", "--json").stdout)
        self.assertEqual([said[k] for k in ("running", "pid", "machine", "since")], [False, None, None, None])
        said = self.run_coord(self.folder, "status", "a.db").stdout
        self.assertIn(f"{words['correct']} correct, {12 - words['correct']} failed", said)
        self.assertRegex(said, r"  constraints +1\n")

    def test_an_export_of_a_record_invents_no_kernel(self):
        self.make()
        self.imported("bowl.json", "a.db")
        header = self.exported("a.db", "header", "a.h")
        self.assertIn("#define BOWL_UNROLL ", header)
        self.assertIn("#define BX ", header)
        for word in ("LAUNCH", "KERNEL_ENTRY", "record.txt", "arguments", "kernel sources", "measured  ", "artifact"):
            self.assertNotIn(word, header)
        written = json.loads(self.exported("a.db", "json", "a.json"))
        self.assertEqual([written[k] for k in ("kernel", "arguments", "launch")], [None] * 3)
        self.assertEqual([written["origin"][k] for k in ("measured", "source_key", "artifact")], [None] * 3)
        self.assertNotIn("grid", written["shapes"][0])
        self.assertIn("-DUNROLL=", self.exported("a.db", "flags", "a.flags"))
        for kind in ("torch", "cubin", "dispatch"):
            ran = self.run_coord(self.folder, "export", "--db", "a.db", "--format", kind, "--out", "x", code=2)
            self.assertEqual(ran.stderr, "fa-coord: export: the results are those of a record, which has no kernel for "
                                         f"--format {kind}; header, json or flags have its tunables\n")

    def test_records_of_two_gpus_are_compared_when_told_so(self):
        self.make("one.json")
        cache = landscape.make(self.path("two.json"), xs=XS, ys=YS, unrolls=UNROLLS, time_of=lambda *at: 2 * landscape.time_ms(*at))
        with open(self.path("two.json")) as f:
            text = f.read()
        with open(self.path("two.json"), "w") as f:
            f.write(text.replace("Test GPU 9000", "Test GPU 8000"))
        self.imported("one.json", "one.db")
        self.imported("two.json", "two.db")
        ran = self.run_coord(self.folder, "compare", "one.db", "two.db", code=2)
        self.assertIn("--across-gpus compares records all the same", ran.stderr)
        found = json.loads(self.run_coord(self.folder, "compare", "one.db", "two.db", "--across-gpus", "--json", code=1).stdout)
        self.assertIn("two models of GPU, so every ratio is one of GPUs, too: Test GPU 9000 (recorded) in A, "
                      "Test GPU 8000 (recorded) in B", found["warnings"])
        self.assertEqual(found["counts"]["SLOW"], landscape.words(cache)["correct"])

    def test_t4_results_go_out_and_come_in(self):
        cache = self.make()
        self.imported("bowl.json", "a.db")
        written = json.loads(self.exported("a.db", "t4", "out.json"))
        self.assertEqual(len(written["results"]), len(cache))
        for result in written["results"]:
            entry = cache["{BX},{BY_},{UNROLL}".format(**result["configuration"])]
            built = 0 if entry["time"] == "InvalidConfig" else entry["compile_time"]
            self.assertEqual(result["times"]["compilation"], built)
            self.assertEqual(result["times"]["compilation_time"], built)
            self.assertEqual(result["invalidity"] == "correct", not isinstance(entry["time"], str))
        self.imported("out.json", "b.db")
        self.assertEqual(self.content("a.db"), self.content("b.db"))
        with self.subTest("one that others wrote, with seconds and a tunable that is missing"):
            for result in written["results"]:
                del result["times"]["compilation"], result["measurements"]
                result["times"] = {k: [t * 1e-3 for t in v] if isinstance(v, list) else v * 1e-3
                                   for k, v in result["times"].items()}
            other = {"results": written["results"], "metadata": {"timeunit": "seconds"}, "schema_version": "1.0.0"}
            with open(self.path("other.json"), "w") as f:
                json.dump(other, f)
            self.imported("other.json", "c.db")
            for a, c in zip(self.content("a.db")[0], self.content("c.db")[0], strict=True):
                self.assertEqual(a[:2], c[:2])
                self.assertAlmostEqual(a[3] or 0, c[3] or 0, delta=1e-15)
            del other["results"][3]["configuration"]["UNROLL"]
            with open(self.path("flawed.json"), "w") as f:
                json.dump(other, f)
            ran = self.run_coord(self.folder, "import", "flawed.json", code=2)
            self.assertEqual(ran.stderr.strip().splitlines()[-1],
                             "fa-coord: flawed.json:1: configuration \"results[3]\": it has no 'UNROLL'")

    def test_a_t1_problem_becomes_a_sweep_file(self):
        problem = {"General": {"BenchmarkName": "tiles"},
                   "ConfigurationSpace": {
                       "TuningParameters": [{"Name": n, "Type": "int", "Values": v, "Default": d} for n, v, d in (
                           ("block_x", "[2 ** k for k in range(4, 11)]", 32), ("block_y", "[1, 2, 4, 8, 16]", 1),
                           ("tile", "list(range(1, 9))", 1), ("pad", "[0, 1]", 0))],
                       "Conditions": [{"Expression": e, "Parameters": []} for e in (
                           "32 <= block_x * block_y <= 1024", "pad == 0 or block_x % 32 != 0 and tile / 2 != 1.5",
                           "tile * block_y < max(tile) * 4", "any(tile == k for k in (1, 2, 4, 8)) or pad",
                           "ProblemSize[0] // block_x ** 1 >= tile")]},
                   "KernelSpecification": {"KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [4096],
                                           "LocalSize": {"X": "block_x", "Y": "block_y"}, "GridDivX": ["block_x", "tile"],
                                           "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector",
                                                          "AccessType": "WriteOnly", "Size": "ProblemSize[0]"}]}}
        with open(self.path("tiles.json"), "w") as f:
            json.dump(problem, f)
        names = {"max": max, "any": any, "ProblemSize": [4096]}
        rules = [c["Expression"].replace("max(tile)", "8") for c in problem["ConfigurationSpace"]["Conditions"]]
        axes = [eval(p["Values"], {"range": range, "list": list})
                for p in problem["ConfigurationSpace"]["TuningParameters"]]
        passing = sum(all(eval(rule, dict(zip(("block_x", "block_y", "tile", "pad"), point)) | names) for rule in rules)
                      for point in itertools.product(*axes))
        ran = self.run_coord(self.folder, "import", "tiles.json", "--sweep", "sweep.json")
        self.assertIn(f"sweep.json: 560 configurations, {passing} pass the conditions", ran.stderr)
        for name in "k.cu", "reference.cu":
            open(self.path(name), "w").close()
        space = json.loads(self.run_coord(self.folder, "space", "sweep.json", "--json").stdout)
        self.assertEqual((space["configurations"], space["passed"]), (560, passing))
        self.run_coord(self.folder, "check", "sweep.json", "--no-build")
        for args, said in (([], "tiles.json is a T1 file, which has no results; --sweep FILE makes a sweep file of it"),
                           (["--sweep", "sweep.json"], "sweep.json exists already")):
            self.assertIn(said, self.run_coord(self.folder, "import", "tiles.json", *args, code=2).stderr)
        arguments = problem["KernelSpecification"].pop("Arguments")
        with open(self.path("bare.json"), "w") as f:
            json.dump(problem, f)
        ran = self.run_coord(self.folder, "import", "bare.json", "--sweep", "bare_sweep.json")
        self.assertIn("note: bare_sweep.json is not complete; fa-coord check refuses it until you mend this:\n", ran.stderr)
        self.assertIn(": there are 0 arguments\n", ran.stderr)
        problem["KernelSpecification"]["Arguments"] = arguments
        problem["ConfigurationSpace"]["Conditions"][0]["Expression"] = "__import__('os')"
        with open(self.path("bad.json"), "w") as f:
            json.dump(problem, f)
        ran = self.run_coord(self.folder, "import", "bad.json", "--sweep", "bad_sweep.json", code=2)
        self.assertIn("column 1: there is no function '__import__' in the Python subset", ran.stderr)
        ran = self.run_coord(self.folder, "import", "bad.json", "--sweep", "bad_sweep.json", "--lenient")
        self.assertIn("note: line 1: the condition '__import__('os')' is left out", ran.stderr)

    def test_a_t1_problem_is_searched_on_a_record(self):
        self.make()
        problem = {"ConfigurationSpace": {
            "TuningParameters": [{"Name": n, "Type": "int", "Values": str(v)} for n, v in (
                ("BX", XS), ("BY", YS), ("UNROLL", UNROLLS), ("MODE", ["plain"]))],
            "Conditions": [{"Expression": "BX * BY <= 256 and MODE == 'plain'", "Parameters": ["BX", "BY", "MODE"]}]},
            "KernelSpecification": {"KernelName": "k", "KernelFile": "k.cu", "Arguments": [
                {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 1}]}}
        with open(self.path("bowl.t1.json"), "w") as f:
            json.dump(problem, f)
        self.run_coord(self.folder, "import", "bowl.t1.json", "--sweep", "t1.json")
        with open(self.path("t1.json")) as f:
            text = f.read()
        with open(self.path("t1.json"), "w") as f:
            f.write(text.replace('"tolerance"', '"confirm": false, "search": { "strategy": "lhs:5" },\n"tolerance"'))
        self.run_coord(self.folder, "sweep", "t1.json", "--device", "replay=bowl.json", "--speed-up", "100000", "--db", "x.db")
        self.assertEqual(self.rows("x.db", "SELECT count(*) FROM outcome"), [(5,)])


if __name__ == "__main__":
    unittest.main()
