"""How many samples a configuration gets, and what happens if its samples disagree; on the cpu device."""

import json
import unittest

import rig
import sweepfile

STEADY = {"BLOCK_SIZE": 64, "ITEMS": 1, "VECTOR": False}
SLOW = {**STEADY, "BLOCK_SIZE": 128}  # by far, and uneven
UNEVEN = {**STEADY, "BLOCK_SIZE": 256}  # less than half of the launches are faster than a steady one

# The duration of each launch in turns of a loop: far longer than the delays of a busy machine.
# Launches are processes: what differs from one to the next is the pid.  Multiples of the golden ratio are
# spread evenly, whatever the step from pid to pid.  Chance still has five of SLOW agree now and then, which
# settles them, or the like.
TRIES = 5
SPIN = """
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        const int odd = unsigned(getpid()) * 2654435769u < 2500000000u; // 58 % of them
        volatile int turns = block_size == 64 ? 10000000 : block_size == 128 ? 50000000 + odd * 160000000
                                                                             : 5000000 + odd * 80000000;
        while (turns > 0)
            turns = turns - 1;
    }
"""


class Sampling(rig.Rig):
    def prepare(self, to="vector_add"):
        folder = self.kernel("vector_add", to=to)
        path = f"{folder}/vector_add.cu"
        with open(path) as f:
            text = f.read()
        opening = "    const unsigned end ="
        self.assertIn(opening, text)
        with open(path, "w") as f:
            f.write('extern "C" int getpid(void);\n' + text.replace(opening, SPIN + opening))
        sweep = sweepfile.read(folder)
        sweep["measure"]["samples"] = {"least": 5, "most": 60, "noise": 0.3, "margin": 1.1}
        sweep["measure"]["warmups"] = 0
        return folder, sweep

    def sweep(self, folder, sweep, *configurations):
        sweepfile.write(folder, sweepfile.only(sweep, configurations))
        self.run_coord(folder, "sweep", "--device", "cpu")
        rows = self.query(folder, "SELECT json_extract(c.params, '$.BLOCK_SIZE'), r.sampling,"
                                  " json_array_length(r.samples), r.rejected, r.l2, r.blocked"
                                  " FROM result r JOIN config c ON c.key = r.config")
        return {row[0]: row[1:] for row in rows}

    def test_losers_stop_and_the_noisy_are_marked(self):
        for n in range(TRIES):
            folder, sweep = self.prepare(f"try{n}")
            # A run of its own first, so that it is the incumbent for the others in the next run.
            self.assertEqual(self.sweep(folder, sweep, STEADY)[64][0], "settled")
            results = self.sweep(folder, sweep, STEADY, SLOW, UNEVEN)
            if (results[128][0], results[256][0]) == ("loser", "unstable"):
                break
        self.assertEqual(results[128], ("loser", 5, "[]", "flush", 0))
        self.assertEqual(results[256], ("unstable", 60, "[]", "flush", 0))
        report = self.run_coord(folder, "report", "--show", "ranking")
        self.assertIn("60 unstable", report.stdout)
        self.assertIn("1 unstable: the samples vary more than the noise limit", report.stdout)
        explained = self.run_coord(folder, "explain", "BLOCK_SIZE=256,ITEMS=1,VECTOR=false")
        self.assertIn("unstable", explained.stdout)
        ranked = {r["config"]["BLOCK_SIZE"]: r for r in json.loads(
            self.run_coord(folder, "report", "--json").stdout)["results"]}
        self.assertEqual(ranked[64]["rank"], 1)
        self.assertEqual(ranked[256]["sampling"], "unstable")
        self.assertEqual(len(ranked[256]["samples"]), 60)
        self.assertIsNotNone(ranked[256]["rank"])
        self.assert_invariants(folder)

    def test_a_number_is_that_many_and_inputs_can_rotate(self):
        folder, sweep = self.prepare()
        sweep["measure"].update({"samples": 7, "l2": "rotate"})
        results = self.sweep(folder, sweep, UNEVEN)
        self.assertEqual(results[256], ("fixed", 7, "[]", "rotate 2", 0))


if __name__ == "__main__":
    unittest.main()
