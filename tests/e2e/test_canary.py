"""The baseline as a canary on the emulated device, where it is off by default."""

import unittest

import rig
import sweepfile

EVERY = 3


class Canary(rig.Rig):
    def folder_with_canaries(self):
        folder = self.kernel("vector_add")
        sweep = sweepfile.read(folder)
        sweep["tunables"]["BLOCK_SIZE"] = [64, 256]  # 12 configurations
        sweep["measure"] = {**sweep["measure"], "canary_every": EVERY}
        sweepfile.write(folder, sweep)
        return folder

    def canaries(self, folder):
        return self.query(folder, "SELECT gpu, round FROM result WHERE purpose = 'canary' AND counted = 1 "
                                  "ORDER BY received_utc")

    def test_each_gpu_measures_the_baseline_from_start_to_end(self):
        folder = self.folder_with_canaries()
        remote = self.sshd().line(f"workdir={self.with_runner(self.path('remote'))}")
        ran = self.run_coord(folder, "sweep", "--hosts", self.hosts("localhost", remote), "--device", "cpu", code=None)
        # Where other programs disturb them, GPUs may be quarantined; a run that goes on has them again.
        for _ in range(3):
            if ran.returncode != 5:
                break
            ran = self.run_coord(folder, "resume", code=None)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        report = self.report(folder)
        self.assert_all_correct(report)
        self.assert_invariants(folder)
        quarantined = {text.partition(":")[0] for text, in
                       self.query(folder, "SELECT text FROM event WHERE name = 'GPU-QUARANTINED'")}
        canaries = self.canaries(folder)
        self.assertEqual(len({r for _, r in canaries}), len(canaries), "each has a round of its own")
        judged = 0
        for [gpu] in self.query(folder, "SELECT DISTINCT gpu FROM result"):
            [times] = self.query(folder, """
                SELECT min(iif(purpose = 'canary', received_utc, NULL)), max(iif(purpose = 'canary', received_utc, NULL)),
                       max(iif(purpose = 'screen', received_utc, NULL)), sum(purpose = 'screen')
                FROM result WHERE gpu = ?""", gpu)
            first, last, screened, n = times
            if not n or gpu in quarantined:
                continue  # the other was done before this one had anything to measure, or this one was stopped
            judged += 1
            mine = [r for g, r in canaries if g == gpu]
            self.assertGreater(last, screened, "one at the end")
            self.assertGreaterEqual(len(mine), 1 + n // EVERY - 1)
            self.assertLessEqual(len(mine), 2 + n)
        self.assertGreater(judged + len(quarantined), 0)
        # What was in doubt was measured again, and not without end.
        [again] = self.query(folder, "SELECT count(*), max(round) FROM result WHERE purpose = 'screen' AND round > 0")
        self.assertLessEqual(again[0], 2 * EVERY)
        self.assertLessEqual(again[1] or 0, 2)
        older = self.query(folder, """
            SELECT o.config FROM outcome o JOIN result r ON r.nonce = o.nonce WHERE r.round <
            (SELECT max(round) FROM result n WHERE n.config = o.config AND n.purpose = 'screen' AND n.counted = 1)""")
        self.assertEqual(older, [], "the newest counts")

    def test_a_sweep_that_goes_on_has_canaries_of_its_own(self):
        folder = self.folder_with_canaries()
        started = self.start(folder, "sweep", "--device", "cpu")
        rig.until("some are measured", lambda: self.settled(folder) >= 3)
        started.terminate()
        started.wait(60)
        before = self.canaries(folder)
        done = self.settled(folder)
        self.run_coord(folder, "resume")
        self.assert_all_correct(self.report(folder))
        self.assert_invariants(folder)
        after = self.canaries(folder)
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(len({r for _, r in after}), len(after))
        if done < 12:
            self.assertGreater(len(after), len(before) + 1, "one at its start, one at its end")
        # Nothing is left to do, so nothing is measured.
        self.run_coord(folder, "resume")
        self.assertEqual(self.canaries(folder), after)


if __name__ == "__main__":
    unittest.main()
