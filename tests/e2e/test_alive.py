"""No tunable is dead: for each, two configurations that differ only in it have different machine code.

Builds few and cheap ones: first the neighbours of one small configuration, then, for the tunables that
changed nothing there, pairs in other places.
"""

import json
import math
import unittest

import rig
import sweepfile

ROUNDS = 5


def cost(config):
    """An estimate of the compile time: it grows with the tile and with unrolling."""
    return math.prod(max(v, 1) for v in config.values() if isinstance(v, (int, float)))


def distance(a, b):
    return sum(a[name] != b[name] for name in a)


class Compiled(rig.Rig):
    def setUp(self):
        super().setUp()
        if not rig.NVCC:
            self.skipTest("no nvcc on this machine")

    def survivors(self, folder):
        told = json.loads(self.run_coord(folder, "space", "--list", "--json").stdout)
        return [point["params"] for point in told["points"]]

    def codes(self, folder, configs):
        """{configuration: machine code}, each built for the gates' architecture."""
        sweepfile.write(folder, sweepfile.only(self.sweep, configs))
        told = json.loads(self.run_coord(folder, "space", "--build", "--json").stdout)
        return {json.dumps(build["params"]): build["cubin"] for build in told["builds"]}

    def neighbours(self, config, names):
        """For each tunable, a passing configuration that differs from this one only there, or None."""
        found = {}
        for name in names:
            others = ({**config, name: value} for value in self.sweep["tunables"][name] if value != config[name])
            others = [other for other in others if json.dumps(other) in self.passes]
            if others:
                found[name] = min(others, key=cost)
        return found

    def choose(self, survivors, names, tried):
        """The next base: most neighbours, then least similar to earlier ones, then cheapest; or None."""
        def worth(config):
            far = min((distance(config, t) for t in tried), default=0)
            return len(self.neighbours(config, names)), far, -cost(config)
        return max((s for s in survivors if s not in tried), key=worth, default=None)

    def dead(self, folder):
        """The tunables of the sweep in 'folder' for which no pair with different code was found."""
        self.sweep = sweepfile.read(folder)
        survivors = self.survivors(folder)
        self.passes = {json.dumps(s) for s in survivors}
        names = [n for n, values in self.sweep["tunables"].items() if len(values) > 1]
        tried = []
        while names and len(tried) < ROUNDS:
            base = self.choose(survivors, names, tried)
            if base is None:
                break
            tried.append(base)
            near = self.neighbours(base, names)
            code = self.codes(folder, [base, *near.values()])
            names = [n for n in names if n not in near or
                     code[json.dumps(near[n])] == code[json.dumps(base)]]
        return names


class Dead(Compiled):
    def test_a_tunable_that_nothing_reads_is_found(self):
        self.assertEqual(self.dead(self.fixture("dead_tunable")), ["UNUSED"])


class Flash(Compiled):
    def test_every_tunable_of_flash_attention_changes_the_code(self):
        self.assertEqual(self.dead(self.kernel("flash_attention")), [])


if __name__ == "__main__":
    unittest.main()
