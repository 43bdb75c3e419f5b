"""Files of other tuners: what fa-coord writes, it reads back equal, and can replay."""

import contextlib
import json
import sqlite3
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

    def test_a_kernel_tuner_cache_goes_out_as_it_came_in(self):
        cache = self.make()
        self.imported("bowl.json", "a.db")
        text = self.exported("a.db", "kernel-tuner", "out.json")
        written = json.loads(text)
        self.assertEqual(written["device_name"], "Test GPU 9000")
        self.assertEqual(written["tune_params_keys"], list(NAMES.values()))
        self.assertEqual(written["tune_params"]["BX"], sorted(XS))
        self.assertEqual(written["problem_size"], [])
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
        self.replayed("out.json", cache)
        with self.subTest("a configuration or a missing shape is refused"):
            for args, said in ((["--config", "BX=16"], "--format kernel-tuner has all configurations, so --config does not apply"),
                               (["--shape", "recordet"], "there is no shape 'recordet' in the sweep; did you mean 'recorded'?")):
                ran = self.run_coord(self.folder, "export", "--db", "a.db", "--format", "kernel-tuner", *args, code=2)
                self.assertIn(said, ran.stderr)

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


if __name__ == "__main__":
    unittest.main()
