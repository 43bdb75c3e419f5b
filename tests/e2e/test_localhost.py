"""vector_add on this machine, without SSH, on the cpu device."""

import os
import unittest

import rig
import sweepfile


class Localhost(rig.Rig):
    def test_one_command_sweeps_and_reports(self):
        folder = self.kernel("vector_add")
        ran = self.run_coord(folder, "sweep", "--device", "cpu")
        report = self.report(folder)
        passed = self.query(folder, "SELECT passed FROM sweep")[0][0]
        self.assertEqual(passed, 30)
        self.assert_all_correct(report)
        self.assertGreaterEqual(len(report["results"]), passed)
        for row in report["results"]:
            self.assertEqual(row["outcome"], "correct")
            self.assertGreater(row["median_s"], 0)
            self.assertEqual(row["host"], "localhost")
        self.assertIn("emulat", ran.stderr + ran.stdout)
        self.assert_invariants(folder)

    def test_a_live_coordinator_is_not_left_however_short_the_linger(self):
        folder = self.kernel("vector_add")
        self.run_coord(folder, "sweep", "--device", "cpu", "--quiet", "--linger", "0", "--evaluations", "2", "--strategy",
                       "random")
        self.assertEqual(self.query(folder, "SELECT count(*) FROM event WHERE name = 'HOST-LOST'"), [(0,)])
        self.assertEqual(self.query(folder, "SELECT count(*) FROM lease WHERE ending = 'lost'"), [(0,)])

    def test_the_database_is_private(self):
        folder = self.few()
        self.run_coord(folder, "sweep", "--device", "cpu")
        [db] = [n for n in os.listdir(folder) if n.endswith(".db")]
        self.assertEqual(os.stat(os.path.join(folder, db)).st_mode & 0o777, 0o600)
        with self.subTest("who reads it leaves nothing beside it"):
            before = sorted(os.listdir(folder))
            self.assertNotIn(db + "-wal", before)
            for args in (["report"], ["status"], ["explain", "BLOCK_SIZE=256,ITEMS=1,VECTOR=false"], ["export"],
                         ["verify"], ["compare", db, db]):
                self.run_coord(folder, *args, code=None if args[0] == "compare" else 0)
                self.assertEqual(sorted(os.listdir(folder)), before, args)

    def test_a_finished_sweep_has_nothing_left_to_do(self):
        folder = self.few()
        self.run_coord(folder, "sweep", "--device", "cpu")
        results = self.query(folder, "SELECT count(*) FROM result")
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.run_coord(folder, "resume")
        self.assertEqual(self.query(folder, "SELECT count(*) FROM result"), results)

    def test_resume_keeps_the_architecture_that_was_asked_for(self):
        folder = self.few()
        self.run_coord(folder, "sweep", "--device", "cpu", "--arch", "sm_90")
        self.run_coord(folder, "resume")
        self.assertEqual(self.query(folder, "SELECT json_extract(facts, '$.arch') FROM sweep"), [(90,)])

    def test_a_new_value_is_measured_and_the_rest_is_kept(self):
        folder = self.few()
        self.run_coord(folder, "sweep", "--device", "cpu")
        before = self.query(folder, "SELECT count(*) FROM result")[0][0]
        sweep = sweepfile.read(folder)
        sweep["tunables"]["ITEMS"] += [16]
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        after = self.query(folder, "SELECT count(*) FROM result")[0][0]
        passed = self.query(folder, "SELECT passed FROM sweep ORDER BY id DESC LIMIT 1")[0][0]
        self.assertGreater(after, before)
        self.assertLessEqual(after, passed + 1)

    def test_a_changed_source_is_noticed_and_said(self):
        folder = self.few()
        self.run_coord(folder, "sweep", "--device", "cpu")
        before = self.query(folder, "SELECT count(*) FROM result")[0][0]
        with open(os.path.join(folder, "vector_add.cu"), "a") as f:
            f.write("// another byte\n")
        ran = self.run_coord(folder, "sweep", "--device", "cpu")
        self.assertIn("not comparable", ran.stderr)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM result")[0][0], 2 * before)
        self.assert_invariants(folder)


if __name__ == "__main__":
    unittest.main()
