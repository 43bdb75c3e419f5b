"""F24, F25: a worker that floods or lies is dropped and named, and an honest one settles everything.

The hostile ones of hostile.c, all at once in one sweep; test_hostile_slow.py has each of them alone.
"""

import time
import unittest

import boxes
import rig

MEMORY_MIB = 128
BUILDERS = ("wants", "crashes", "drips", "wrong-bytes")
GPUS = ("hellos", "infinite", "imprecise", "instant", "long", "elsewhere", "other-artifact", "other-lease")


class Hostile(boxes.Boxes):
    def peak_mib(self):
        with open(f"/proc/{self.coord.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024

    def attack(self, names, within):
        """A sweep with these and one honest host; the most memory of its coordinator, in MiB."""
        honest = self.box("honest")
        lines = [self.stand_in(name, name, f"role={'builder' if name in BUILDERS else 'gpu'}", ["credit 1"])
                 for name in names]
        self.sweep(self.few(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=[1, 2, 4, 8]), honest, *lines, within=within)
        peak = 0
        while self.coord.poll() is None and time.monotonic() < self.began + self.within:
            try:
                peak = max(peak, self.peak_mib())
            except (OSError, StopIteration):  # it has just ended
                break
            time.sleep(0.02)
        self.finish()
        rig.figure("memory of the coordinator", peak, "MiB")
        return peak

    def told(self, name):
        """What the user reads of a host."""
        return [line for line in self.stderr().splitlines() if self.address(name) in line]


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class AllAtOnce(Hostile):
    def test_the_honest_one_settles_everything(self):
        names = BUILDERS + GPUS
        peak = self.attack(names, within=120)
        self.assertLess(peak, MEMORY_MIB)
        self.assertEqual(self.count("result", "host != ?", self.address("honest")), 0)
        self.assertEqual(self.count("outcome", "outcome != 'correct'"), 0)


if __name__ == "__main__":
    unittest.main()
