"""flash_attention on the cpu device: configurations that show every pair of values are right, and then all.

A minute and half an hour or so on two cores; 'ctest -L slow -R flash_all' in the build folder runs both.
"""

import json
import unittest

import test_flash


def pairs(configs):
    return {(a, config[a], b, config[b]) for config in configs for a in config for b in config}


class FlashAll(test_flash.Flash):
    test_every_value_is_right = None  # as it is there

    def test_every_pair_of_values_is_right(self):
        folder = self.kernel("flash_attention")
        self.run_coord(folder, "fuzz", *test_flash.DEVICE, "--cover", *test_flash.SHAPES)
        configs = self.correct(folder)
        self.assertLess(len(configs), 40)
        self.assertEqual(pairs(configs), pairs(self.survivors(folder)))
        self.assert_invariants(folder)

    def test_every_configuration_is_right(self):
        folder = self.kernel("flash_attention")
        ran = self.run_coord(folder, "fuzz", *test_flash.DEVICE, "--all", *test_flash.SHAPES, "--json", seconds=7000)
        told = json.loads(ran.stdout)
        self.assertGreater(told["configurations"], 960)
        self.assertEqual(told["right"], 2 * told["configurations"])


if __name__ == "__main__":
    unittest.main()
