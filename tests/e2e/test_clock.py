"""The clock of the coordinator's machine is set while a sweep is down."""

import os
import time
import unittest

import rig

CLOCK = os.environ.get("FA_SHIFTED_CLOCK")  # empty where nothing can be preloaded
HOUR = 3600


@unittest.skipUnless(CLOCK, "nothing can be preloaded")
class Clock(rig.Rig):
    def resume_with_clock(self, before, after):
        """Kill a sweep whose clock is 'before' s off, and resume it with one that is 'after' s off."""
        folder = self.few(ITEMS=[1, 2, 4, 8])  # some are left when the first is measured
        self.env.update(LD_PRELOAD=CLOCK, FA_SHIFT_S=str(before))
        coord = self.start(folder, "sweep", "--device", "cpu")
        try:
            rig.until("a result", lambda: coord.poll() is not None or self.settled(folder) > 0)
        finally:
            coord.kill()
            coord.wait()
        self.env["FA_SHIFT_S"] = str(after)
        began = time.monotonic()
        coord = self.start(folder, "resume")
        rig.until("its worker is ready", lambda: "ready:" in self.stderr() or coord.poll() is not None)
        ready_s = time.monotonic() - began
        rig.figure("ready", ready_s, "s")
        self.assertLess(ready_s, 5 * rig.PATIENCE, "F31")
        self.assertEqual(coord.wait(120), 0, self.stderr())
        self.assert_invariants(folder)

    def test_a_clock_that_was_set_back_keeps_no_sweep_from_its_worker(self):
        self.resume_with_clock(HOUR, 0)

    def test_a_clock_that_was_set_forward_keeps_no_sweep_from_its_worker(self):
        self.resume_with_clock(0, HOUR)


if __name__ == "__main__":
    unittest.main()
