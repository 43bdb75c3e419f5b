"""flash_attention on the cpu device: configurations that show every pair of values are right."""

import json
import unittest

import rig

# S=65 is causal and less than any tile; 257 is more steps than the rings hold, and one row past a tile
SHAPES = ("--shape", "odd-65-1", "--shape", "odd-257-0")
# for sm_90's shared memory, which is enough for every value of every tunable
DEVICE = ("--device", "cpu", "--arch", "sm_90")


def pairs(configs):
    return {(a, config[a], b, config[b]) for config in configs for a in config for b in config}


class Flash(rig.Rig):
    def survivors(self, folder):
        told = json.loads(self.run_coord(folder, "space", *DEVICE, "--list", "--json").stdout)
        return [point["params"] for point in told["points"]]

    def test_every_pair_of_values_is_right(self):
        folder = self.kernel("flash_attention")
        self.run_coord(folder, "fuzz", *DEVICE, "--cover", *SHAPES)
        ran = self.query(folder, "SELECT params FROM config JOIN outcome ON config = key WHERE outcome = 'correct' "
                                 "GROUP BY key HAVING count(*) = 2")
        configs = [json.loads(params) for params, in ran]
        self.assertLess(len(configs), 40)
        self.assertEqual(pairs(configs), pairs(self.survivors(folder)))
        self.assert_invariants(folder)


if __name__ == "__main__":
    unittest.main()
