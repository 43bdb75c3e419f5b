"""Cards of one model that differ and drift: the canary, and the times it normalises."""

import json
import statistics
import unittest

import landscape
import rig


def flat(bx, by, unroll):
    """Half of the configurations are equally fast, the others take twice as long."""
    return 1.0 if unroll <= 2 else 2.0


class Cards(rig.Rig):
    """Two GPUs of one host, replayed from a record of one."""

    def sweep(self, *cards):
        self.cache = landscape.make(self.path("bowl.json"), xs=(1, 2, 4, 8, 16, 32, 64), ys=(2, 4, 8, 16),
                                    compile_ms=10.0, verify_ms=2000.0, time_of=flat)
        with open(self.path("cards.json"), "w") as f:
            json.dump({"cards": cards}, f)
        ran = self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "100", "--db", "x.db",
                             "--hosts", self.hosts("localhost gpus=0,1 slots=4"), "--cards", "cards.json")
        self.assert_invariants(self.folder)
        self.positions = dict(self.query(self.folder, "SELECT uuid, position FROM gpu"))
        self.text = ran.stderr
        return self.report(self.folder, "x.db")

    def true_s(self, result):
        bx, by, unroll, _ = result["config"].values()
        return 1e-3 * statistics.median(self.cache[f"{bx},{by},{unroll}"]["times"])

    def by_gpu(self, report, key):
        """Measured times over true times, by GPU."""
        ratios = {0: [], 1: []}
        for result in report["results"]:
            if result["rank"]:
                ratios[self.positions[result["gpu"]]].append(result[key] / self.true_s(result))
        return ratios

    def assert_level(self, report):
        """After normalisation both GPUs give the same time for the same code."""
        ratios = self.by_gpu(report, "normalised_s")
        level = [statistics.median(ratios[gpu]) for gpu in (0, 1)]
        self.assertAlmostEqual(level[0] / level[1], 1, delta=0.005)
        for gpu in (0, 1):
            for ratio in ratios[gpu]:
                self.assertAlmostEqual(ratio / level[gpu], 1, delta=0.015)

    def test_eight_percent_between_cards_do_not_choose_the_winner(self):
        report = self.sweep({"gpu": 1, "factor": 1.08})
        ranked = [r for r in report["results"] if r["rank"]]
        gpus = [self.positions[r["gpu"]] for r in ranked[:20]]
        self.assertEqual(set(gpus), {0, 1}, "the first twenty are of both cards")
        as_measured = sorted(ranked, key=lambda r: r["median_s"])
        self.assertEqual({self.positions[r["gpu"]] for r in as_measured[:20]}, {0}, "as measured the card decides")
        raw = self.by_gpu(report, "median_s")
        self.assertAlmostEqual(statistics.median(raw[1]) / statistics.median(raw[0]), 1.08, delta=0.005)
        self.assert_level(report)
        offsets = {self.positions[g["gpu"]]: g["offset"] for g in report["gpus"]}
        self.assertAlmostEqual(offsets[1], 0.08, delta=0.005)
        self.assertAlmostEqual(offsets[0], 1 / 1.08 - 1, delta=0.005)
        self.assertEqual(self.query(self.folder, "SELECT * FROM event WHERE level <> 'I'"), [])
        text = self.run_coord(self.folder, "report", "x.db", "--show", "ranking,gpus").stdout
        self.assertIn("normalised", text)
        self.assertIn("off the others %", text)

    def test_what_a_card_measured_while_it_changed_is_measured_again(self):
        report = self.sweep({"gpu": 1, "factor": 1.02, "drift": 0.06, "over": 30})
        names = [n for n, in self.query(self.folder, "SELECT name FROM event WHERE level <> 'I' ORDER BY id")]
        self.assertEqual(names, ["IN-DOUBT", "GPU-RESTS", "GPU-GOES-ON"], self.text)
        [[again]] = self.query(self.folder, "SELECT count(*) FROM result WHERE purpose = 'screen' AND round > 0")
        self.assertGreaterEqual(again, 30)
        self.assertLessEqual(again, 55)
        self.assert_level(report)
        [drifted] = [g for g in report["gpus"] if self.positions[g["gpu"]] == 1]
        self.assertEqual(drifted["repeated"], again)
        self.assertIsNone(drifted["quarantined"])


class Shares(rig.Rig):
    def test_two_gpus_share_evenly_what_builds_hand_out_one_by_one(self):
        """A build takes 20 times as long as a measurement, and there are two slots: a GPU always waits."""
        landscape.make(self.path("bowl.json"), xs=(1, 2, 4, 8, 16, 32, 64), ys=(2, 4, 8, 16), compile_ms=4000.0,
                       verify_ms=200.0, time_of=flat)
        self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "100", "--db", "x.db",
                       "--hosts", self.hosts("localhost gpus=0,1 slots=2"))
        self.assert_invariants(self.folder)
        shares = dict(self.query(self.folder, "SELECT gpu, count(*) FROM result WHERE purpose = 'screen' GROUP BY gpu"))
        self.assertEqual(len(shares), 2)
        for n in shares.values():
            self.assertGreaterEqual(n, 0.45 * sum(shares.values()), shares)


if __name__ == "__main__":
    unittest.main()
