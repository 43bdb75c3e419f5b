"""flash_attention on the cpu device: every configuration that passes is right."""

import unittest

import rig


class Flash(rig.Rig):
    def test_every_configuration_that_passes_is_right(self):
        folder = self.kernel("flash_attention")
        self.run_coord(folder, "sweep", "--device", "cpu", seconds=500)
        report = self.report(folder)
        self.assertGreaterEqual(len(report["results"]), 24)
        self.assert_all_correct(report)
        self.assert_invariants(folder)


if __name__ == "__main__":
    unittest.main()
