"""F24: what a worker that floods costs the others: their rate of results beside it, over their rate without it.

Sweeps with and without a flooder take turns, so that what else the machine does
meets both.  Recorded measurements mostly wait, so two cores are enough; the
rate is that of the results between the first and the last tenth.
"""

import os
import statistics
import time
import unittest

import boxes
import landscape
import rig

FLOODS = ("hellos", "wants", "crashes", "drips")
ROUNDS = int(os.environ.get("FA_ROUNDS", "8"))
LEAST = 0.95
WITHIN_S = 240


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Rates(boxes.Boxes):
    def rate(self, name, flood):
        """Results a second of two honest hosts."""
        folder = self.path(name)
        os.mkdir(folder)
        record = os.path.join(folder, "bowl.json")
        cache = landscape.make(record, xs=(8, 16, 32, 64, 128, 256), ys=(1, 2, 4), unrolls=(1, 2, 3, 4),
                               compile_ms=20.0, verify_ms=300.0)
        lines = [self.box(f"{name}{i}", "slots=4") for i in range(2)]
        if flood:
            lines.append(self.stand_in(f"{name}f", flood, "role=builder"))
        self._start(folder, WITHIN_S, "sweep", "--device", f"replay={record}", "--speed-up", "1", "--db", "x.db",
                    "--hosts", self.hosts(*lines))
        while self.coord.poll() is None and time.monotonic() < self.began + WITHIN_S:
            time.sleep(0.02)
        self.assertEqual(self.coord.returncode, 0, self.stderr())
        outcomes = dict(self.query(folder, "SELECT outcome, count(*) FROM outcome GROUP BY 1"))
        self.assertEqual(outcomes, landscape.words(cache))
        times = [utc * 1e-9 for utc, in self.query(folder, "SELECT received_utc FROM result WHERE purpose = 'screen' "
                                                           "AND round = 0 ORDER BY 1")]
        tenth = len(times) // 10
        return (len(times) - 2 * tenth - 1) / (times[-1 - tenth] - times[tenth])

    def test_the_others_keep_their_rate(self):
        ratios = {}
        for i in range(ROUNDS):
            flood = FLOODS[i % len(FLOODS)]
            order = (None, flood) if i // len(FLOODS) % 2 == 0 else (flood, None)
            rates = {what: self.rate(f"{i}{'ab'[n]}", what) for n, what in enumerate(order)}
            ratios.setdefault(flood, []).append(rates[flood] / rates[None])
            print(f"{flood}: {rates[flood]:.2f}/s beside it, {rates[None]:.2f}/s without", flush=True)
        median = statistics.median(ratio for of in ratios.values() for ratio in of)
        worst = min(ratio for of in ratios.values() for ratio in of)
        print(f"{ROUNDS} repetitions, median ratio {median:.3f}, worst {worst:.3f}")
        self.assertGreaterEqual(median, LEAST)


if __name__ == "__main__":
    unittest.main()
