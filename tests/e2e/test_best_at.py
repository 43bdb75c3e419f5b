"""Shapes with different winners: each command uses the winner of the shape that it is asked about.

Emulated times give no reliable ranking, so the recorded samples are replaced after the sweep."""

import json
import os
import sqlite3
import unittest

import checksums
import rig
import sweepfile
import test_profile

BASELINE = {"BLOCK_SIZE": 64, "ITEMS": 1, "VECTOR": False}
AT_ONE = {"BLOCK_SIZE": 128, "ITEMS": 1, "VECTOR": False}
AT_TWO = {"BLOCK_SIZE": 256, "ITEMS": 1, "VECTOR": False}
TIMES = {"one": {64: 3e-6, 128: 1e-6, 256: 2e-6}, "two": {64: 3e-6, 128: 2e-6, 256: 1e-6}}


class BestAt(rig.Rig):
    def sweep(self):
        folder = self.kernel("vector_add")
        sweep = {**sweepfile.read(folder), "baseline": BASELINE,
                 "tunables": {"BLOCK_SIZE": [64, 128, 256], "ITEMS": [1], "VECTOR": [False]},
                 "emulation_shapes": [{"name": "one", "N": 501}, {"name": "two", "N": 300}],
                 "emulation_fuzz_shapes": [{"name": "n", "N": 65}]}
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        db = sqlite3.connect(os.path.join(folder, self.database(folder)))
        with db:
            for shape, times in TIMES.items():
                for size, seconds in times.items():
                    db.execute("UPDATE result SET samples = json_array(?, ?, ?) WHERE shape = ? AND config IN"
                               " (SELECT key FROM config WHERE json_extract(params, '$.BLOCK_SIZE') = ?)",
                               (seconds, seconds, seconds, shape, size))
            checksums.seal(db, "result")
        db.close()
        return folder

    def exported(self, folder, *args):
        return json.loads(self.run_coord(folder, "export", "--format", "json", *args).stdout)["config"]

    def test_a_shape_has_its_own_winner(self):
        folder = self.sweep()
        with self.subTest("export"):
            self.assertEqual(self.exported(folder), AT_ONE)
            self.assertEqual(self.exported(folder, "--shape", "two"), AT_TWO)
            wrong = self.run_coord(folder, "export", "--shape", "tow", code=2)
            self.assertIn("--shape: there is no shape 'tow' in the sweep; did you mean 'two'?", wrong.stderr)
        with self.subTest("bench at a shape that is not the headline"):
            bench = json.loads(self.run_coord(folder, "bench", "--shape", "two", "--json").stdout)
            self.assertEqual([c["config"] for c in bench["configurations"]], [BASELINE, AT_ONE, AT_TWO])
            self.assertEqual([c["best_at"] for c in bench["configurations"]], [[], [], ["two"]])
            self.assertEqual((bench["winner"], bench["winner_state"]), (AT_ONE, "measured, not confirmed"))
            (shape,) = bench["shapes"]
            self.assertEqual(shape["shape"], "two")
            self.assertEqual(shape["own"]["key"], bench["configurations"][2]["key"])
            self.assertGreater(shape["own"]["over_winner"], 0)
            self.assertEqual(len(shape["measured"]), 3)
        with self.subTest("bench at all of them"):
            shown = self.run_coord(folder, "bench", "--shape", "all").stdout
            self.assertEqual(shown.count("best at one "), 3)
            self.assertEqual(shown.count("best at two "), 3)
        with self.subTest("profile"):
            self.profile(folder)

    def profile(self, folder):
        os.mkdir(self.path("bin"))
        test_profile.stand_in(self.path("bin", "ncu"), test_profile.NCU)
        self.env["PATH"] = self.path("bin") + ":" + self.env["PATH"]
        ran = self.run_coord(folder, "profile", "--shape", "two", "--json")
        profiles = json.loads(ran.stdout)["profiles"]
        self.assertEqual({p["shape"] for p in profiles}, {"two"})
        self.assertEqual({p["config"]["BLOCK_SIZE"] for p in profiles}, {64, 256})
        self.assertIn("the best at two (measured, not confirmed)", ran.stderr)
        key = next(p["key"] for p in profiles if p["config"] == AT_TWO)
        named = json.loads(self.run_coord(folder, "profile", "--config", key[:8], "--json").stdout)["profiles"]
        self.assertEqual([p["config"] for p in named if p["shape"] == "one"], [AT_TWO])
        both = self.run_coord(folder, "profile", "--config", key[:8], "BLOCK_SIZE=64", code=2)
        self.assertIn("both name a configuration; give one of them", both.stderr)


if __name__ == "__main__":
    unittest.main()
