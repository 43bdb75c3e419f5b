"""F9: fa-runner finds no memory once, at each of its first allocations (failing_calls.c).

They are of the pipe, the kernel, the reference and the problem; what comes later does the same again.  A kernel that
is right must not be accused, and neither must its reference: the worker tries again after an error, or when the
process has ended with a line.
"""

import argparse
import errno
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["FA_SOURCE_DIR"]
BIN = os.environ["FA_BIN_DIR"]
BUILD = os.path.dirname(BIN)
sys.path.insert(0, os.path.join(SOURCE, "tests", "cheats"))

import judge
import table

KINDS = 9  # uint64_t of FA_FAIL_COUNTS
KERNEL = "half_each_launch"  # its twin is honest
FIRST = 40
END_S = 100


def requests():
    """What the worker sends: open, measure."""
    cheat = next(c for c in table.read() if c.name == KERNEL)
    ask = argparse.Namespace(device="cpu", kernels=os.path.join(BUILD, "tests", "cheats"))
    lines = ["open", "device cpu", "gpu 0", "", *judge.request(ask, cheat, f"{KERNEL}_honest", endless=False)]
    return "\n".join([*lines, "", ""])


class RunnerMemory(unittest.TestCase):
    def measure(self, failing):
        """The process, and the last value of each line of its replies; 'failing' 0: no allocation does."""
        with tempfile.NamedTemporaryFile() as counts:
            counts.write(bytes(8 * KINDS))
            counts.flush()
            env = {**os.environ, "FA_FAIL_COUNTS": counts.name, "FA_FAIL_PROGRAM": "fa-runner",
                   "LD_PRELOAD": os.path.join(os.environ["FA_FAULT_DIR"], "failing_calls.so")}
            if failing:
                env["FA_FAIL"] = f"memory {errno.ENOMEM} {failing} 1"
            ran = subprocess.run([os.path.join(BIN, "fa-runner")], input=requests(), env=env, capture_output=True,
                                 text=True, timeout=END_S)
        return ran, dict(line.partition(" ")[::2] for line in ran.stdout.splitlines())

    def test_neither_the_kernel_nor_the_reference_is_accused(self):
        self.assertEqual(self.measure(0)[1].get("outcome"), "correct")
        ends = []
        for failing in range(1, FIRST + 1):
            with self.subTest(failing=failing):
                ran, reply = self.measure(failing)
                said = f"{ran.returncode} {reply} {ran.stderr}"
                self.assertEqual(reply.get("outcome", "correct"), "correct", said)
                self.assertNotIn("reference", reply, said)
                if "outcome" in reply:
                    ends.append("correct")
                elif "error" in reply:
                    ends.append("error")
                elif ran.returncode == 127:  # by glibc, which had no room for the __shared__ variables
                    self.assertIn("cannot allocate memory for thread-local data", ran.stderr)
                    ends.append("ended")
                else:
                    self.assertEqual(ran.returncode, 1, said)
                    self.assertRegex(ran.stderr, "^fa-runner: .*memory")
                    ends.append("ended")
        self.assertEqual(set(ends), {"correct", "error", "ended"})


if __name__ == "__main__":
    unittest.main()
