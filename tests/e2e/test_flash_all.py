"""flash_attention on the cpu device: every configuration that passes the gates is right.

Half an hour or so on two cores; 'ctest -L slow -R flash_all' in the build folder runs it."""

import json
import unittest

import rig
import test_flash


class FlashAll(rig.Rig):
    def test_every_configuration_is_right(self):
        folder = self.kernel("flash_attention")
        ran = self.run_coord(folder, "fuzz", *test_flash.DEVICE, "--all", *test_flash.SHAPES, "--json", seconds=7000)
        told = json.loads(ran.stdout)
        self.assertGreater(told["configurations"], 960)
        self.assertEqual(told["right"], 2 * told["configurations"])


if __name__ == "__main__":
    unittest.main()
