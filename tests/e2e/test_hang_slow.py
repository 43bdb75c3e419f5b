"""More tests like those of test_hang.py, which take more than half a minute each."""

import unittest

import boxes
import rig


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Slow(boxes.Boxes):
    def test_the_only_gpu_only_beats(self):
        """No other GPU can repeat the worker's leases, so they end by their limits.  It has as many at once as it may;
        after three it gets no more, and the sweep ends with exit status 3, because nothing is settled, and names it."""
        timeout_s = 0.5
        credit = 4  # the last lease may start when those before it have ended
        self.sweep(self.small(elements=100001, timeout_s=timeout_s),
                   self.stand_in("beats", "beats", "role=gpu", [f"credit {credit}", "seconds 300"]),
                   self.box("builds", "role=builder"),
                   within=credit * (timeout_s + boxes.SLACK_S) + boxes.LOST_S + 10)
        self.until("as many leases as it may have", lambda: self.leases("beats", "measure") == credit)
        self.finish(code=3)
        self.assertIn(f"{self.address('beats')}: it left three leases in a row without an answer", self.last_line())

    def test_a_frozen_host_that_builds_and_measures_is_replaced(self):
        self.sweep(self.small(shapes=3, elements=300001), self.box("lives"), self.box("freezes"),
                   within=boxes.LOST_S + 30)
        self.until("both have leases", lambda: self.leases("lives", "measure") > 0
                   and self.leases("freezes", "measure") + self.leases("freezes", "build") > 0)
        self.freeze("freezes")
        self.finish()


if __name__ == "__main__":
    unittest.main()
