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


if __name__ == "__main__":
    unittest.main()
