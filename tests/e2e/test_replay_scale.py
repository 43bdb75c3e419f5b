"""Long forms of test_replay.py: many GPUs, and strategies on real records."""

import gzip
import json
import os
import unittest

import landscape
import rig

GPUS_A_HOST = 64


class Scale(rig.Rig):
    def outcomes(self):
        return dict(self.query(self.folder, "SELECT outcome, count(*) FROM outcome GROUP BY 1"))

    def test_a_sweep_file_replays_its_own_earlier_sweep(self):
        folder = self.kernel("vector_add")
        self.run_coord(folder, "sweep", "--device", "cpu")
        os.rename(os.path.join(folder, "vector_add.db"), self.path("earlier.sqlite"))
        self.run_coord(self.folder, "sweep", "--device", "replay=earlier.sqlite", "--speed-up", "100000",
                       "--db", "x.db")
        recorded = self.outcomes()
        os.remove(self.path("x.db"))
        self.run_coord(self.folder, "sweep", folder, "--device", "replay=earlier.sqlite", "--speed-up", "100000",
                       "--db", "x.db")
        self.assertEqual(self.outcomes(), recorded)
        self.assertEqual(self.query(self.folder, "SELECT name FROM shape"), [("n16m",)])
        self.assertIn("gate", self.run_coord(self.folder, "report", "x.db", "--show", "gates,lessons").stdout)
        self.assertIn("is already a database", self.run_coord(self.folder, "import", "earlier.sqlite", code=2).stderr)

    def test_two_hundred_gpus_share_a_landscape(self):
        """Three hosts of 64 and one of 8 on this machine: every configuration once, every GPU used."""
        if not rig.find_sshd():
            self.skipTest("no sshd")
        cache = landscape.make(self.path("bowl.json"), xs=tuple(1 << i for i in range(14)),
                               unrolls=tuple(range(1, 17)), verify_ms=4000.0)
        all64 = ",".join(map(str, range(GPUS_A_HOST)))
        hosts = [f"localhost gpus={all64} slots=4"]
        for i, gpus in enumerate((all64, all64, "0,1,2,3,4,5,6,7")):
            sshd = self.sshd(name=f"sshd{i}")
            hosts.append(sshd.line(f"gpus={gpus} slots=4 workdir={self.path(f'far{i}')}"))
        self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "2", "--db", "x.db",
                       "--hosts", self.hosts(*hosts), seconds=900)
        self.assertEqual(self.outcomes(), landscape.words(cache))
        self.assertEqual(self.query(self.folder, "SELECT count(*) FROM gpu"), [(200,)])
        self.assert_invariants(self.folder)

    def test_the_strategies_on_recorded_spaces(self):
        """Within 10 % of the best recorded time after 300 evaluations."""
        path = os.path.join(landscape.DATA, "convolution_A4000.json.gz")
        if not os.path.exists(path):
            self.skipTest(f"{path} is not here")
        with gzip.open(path, "rt") as f:
            cache = json.load(f)["cache"]
        best = min(sorted(e["times"])[len(e["times"]) // 2] for e in cache.values() if e.get("times")) * 1e-3
        for strategy in ("local", "genetic", "bayes"):
            with self.subTest(strategy=strategy):
                self.run_coord(self.folder, "sweep", "--device", f"replay={path}", "--speed-up", "100000", "--db",
                               "x.db", "--fresh", "--strategy", strategy, "--evaluations", "300", "--seed", "1",
                               seconds=900)
                [(found,)] = self.query(self.folder, "SELECT min(median_s) FROM outcome WHERE outcome = 'correct'")
                self.assertLess(found, best * 1.1)
                for name in os.listdir(self.folder):
                    if name.startswith("x.db."):
                        os.remove(self.path(name))


if __name__ == "__main__":
    unittest.main()
