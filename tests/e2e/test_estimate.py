"""What a sweep takes: estimated before it begins, learnt from others, and set beside the truth in the report."""

import json
import unittest

import landscape
import rig


class Estimate(rig.Rig):
    def setUp(self):
        super().setUp()
        self.build_runner()
        landscape.make(self.path("bowl.json"), xs=(32, 64, 128), ys=(2, 4), unrolls=(1, 2), compile_ms=400.0)

    def sweep(self, db, *args, code=0):
        hosts = self.hosts("localhost slots=2 rate=3.6")
        return self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--db", db, "--hosts", hosts, *args,
                              code=code)

    def plan(self, db, *args):
        return json.loads(self.sweep(db, "--dry-run", "--json", *args).stdout)["estimate"]

    def test_plan_run_and_report(self):
        first = self.plan("x.db")
        self.assertEqual((first["from"], first["learnt_from"], first["settled"]), ("defaults", None, 0))
        self.assertGreater(first["wall_range_s"][1], 5 * first["wall_range_s"][0])
        self.sweep("x.db", "--quiet")
        [told] = self.report(self.folder, "x.db")["estimates"]
        for key in ("wall_s", "usd"):
            self.assertAlmostEqual(told[key], first[key], delta=0.01 * first[key], msg=key)
        self.assertTrue(told["ended"] and told["within"], told)
        self.assertGreaterEqual(told["took_s"], 12 * 0.4 / 2, "the builds alone")
        self.assertAlmostEqual(told["took_usd"], self.report(self.folder, "x.db")["cost"]["total_usd"], places=9)
        text = self.run_coord(self.folder, "report", "x.db").stdout
        self.assertRegex(text, r"(?m)^Estimated [\d.]+ s to [\d mins]+, likely [\d.]+ s; \$[\d.]+ to \$[\d.]+, likely \$[\d.]+ "
                               r"\(from defaults, because nothing had been timed\); took [\d.]+ s,")
        self.learns_from("x.db", first)
        self.nothing_is_left("x.db")
        self.sweep("cached.db", "--quiet")
        self.assertIn("from: defaults: cached.db teaches too little: builds that came from a cache have no time;",
                      self.sweep("z.db", "--dry-run", "--times", "cached.db").stdout)

    def learns_from(self, db, first):
        """Another sweep with the same record, before it begins."""
        plan = self.plan("y.db", "--times", db)
        self.assertEqual((plan["from"], plan["learnt_from"], plan["settled"]), ("an earlier sweep", db, 0))
        self.assertEqual(plan["builds_timed"], 12)
        self.assertAlmostEqual(plan["build_core_s"], 12 * 0.4, places=6)
        low, high = plan["wall_range_s"]
        self.assertLess(high / low, first["wall_range_s"][1] / first["wall_range_s"][0])
        self.sweep("y.db", "--quiet", "--times", db)
        [told] = self.report(self.folder, "y.db")["estimates"]
        self.assertEqual(told["from"], "an earlier sweep")
        self.assertTrue(told["ended"])

    def nothing_is_left(self, db):
        plan = self.plan(db)
        self.assertEqual((plan["from"], plan["settled"], plan["build_core_s"]), ("this space, in part", 12, 0))

    def test_times_of_another_device_or_of_nothing(self):
        self.sweep("x.db", "--speed-up", "100", "--quiet")
        self.run_coord(self.folder, "init", "--template", "reduction", "red")
        said = self.run_coord(self.folder, "sweep", "red", "--device", "cpu", "--times", "x.db", "--dry-run", code=2)
        self.assertIn("--times=x.db: a sweep on device replay, which says nothing about device cpu", said.stderr)
        self.assertIn("none.db", self.sweep("y.db", "--times", "none.db", "--dry-run", code=7).stderr)

    def test_a_budget_that_buys_no_verdict_is_said_first(self):
        said = self.sweep("x.db", "--budget", "0.0001", "--dry-run")
        self.assertIn("there may be no verdict", said.stderr)
        self.assertIn("stops at $0.0001, before its end\n", said.stdout)


if __name__ == "__main__":
    unittest.main()
