"""flash_attention on the cpu device: configurations that show every value of every tunable are right."""

import json
import unittest

import rig

# S=65 is causal and less than any tile; 257 is more steps than the rings hold, and one row past a tile
SHAPES = ("--shape", "odd-65-1", "--shape", "odd-257-0")
# for sm_90's shared memory, which is enough for every value of every tunable
DEVICE = ("--device", "cpu", "--arch", "sm_90")


class Flash(rig.Rig):
    """One configuration takes 2 s of a compiler and of the emulator."""

    def survivors(self, folder):
        told = json.loads(self.run_coord(folder, "space", *DEVICE, "--list", "--json").stdout)
        return [point["params"] for point in told["points"]]

    def correct(self, folder):
        """Configurations that are right at both shapes."""
        ran = self.query(folder, "SELECT params FROM config JOIN outcome ON config = key WHERE outcome = 'correct' "
                                 "GROUP BY key HAVING count(*) = 2")
        return [json.loads(params) for params, in ran]

    def test_every_value_is_right(self):
        folder = self.kernel("flash_attention")
        chosen = cover(self.survivors(folder))
        self.assertLess(len(chosen), 12)
        wanted = [arg for config in chosen for arg in ("--config", ",".join(f"{n}={v}" for n, v in config.items()))]
        self.run_coord(folder, "fuzz", *DEVICE, *wanted, *SHAPES)
        self.assertEqual(values(self.correct(folder)), values(self.survivors(folder)))
        self.assert_invariants(folder)


def values(configs):
    return {(name, config[name]) for config in configs for name in config}


def cover(configs):
    """Few configurations that together have every value: each time the one with most that are new."""
    chosen, missing = [], values(configs)
    while missing:
        chosen.append(max(configs, key=lambda config: len(values([config]) & missing)))
        missing -= values(chosen)
    return chosen


if __name__ == "__main__":
    unittest.main()
