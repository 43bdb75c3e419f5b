"""The long form of test_io_errors.py: FA_FAULTS orders, also of workers whose calls fail for ever."""

import os
import unittest

import test_io_errors

FAULTS = int(os.environ.get("FA_FAULTS", "240"))


class Many(test_io_errors.IoErrors):
    def test_sweeps_survive_failing_calls(self):
        self.suffer(list(self.draw(FAULTS, {"fa-coord": (1, 0), "fa-worker": (1, 1, 1, 0)})))


if __name__ == "__main__":
    unittest.main()
