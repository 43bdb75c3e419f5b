"""Each hostile worker of test_hostile.py alone beside an honest one; prints a table."""

import unittest

import rig
import test_hostile


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Alone(test_hostile.Hostile):
    def one(self, name):
        peak = self.attack([name], within=120)
        self.assertLess(peak, test_hostile.MEMORY_MIB)
        self.assertEqual(self.count("result", "host != ?", self.address("honest")), 0)
        dropped = any("not used" in line for line in self.told(name))
        print(f"| {name} | {'dropped' if dropped else 'kept'} | {peak:.0f} MiB |", flush=True)


def add(name):
    def test(self):
        self.one(name)
    setattr(Alone, f"test_{name.replace('-', '_')}", test)


for hostile in test_hostile.BUILDERS + test_hostile.GPUS:
    add(hostile)

if __name__ == "__main__":
    unittest.main()
