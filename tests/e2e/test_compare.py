"""compare.py of flash_attention, without a GPU: it computes the same as fa-coord."""

import json
import math
import os
import random
import subprocess
import sys
import unittest

import rig

FOLDER = os.path.join(rig.KERNELS, "flash_attention")
sys.path.insert(0, FOLDER)

import compare  # noqa: E402
from comparison import configuration, intervals, shapes  # noqa: E402
from comparison.fault import Fault  # noqa: E402

# Of docs/sweep-file.md, section 14, and of the H200.
FACTS = {
    "sm_89": {"arch": 89, "sm_count": 58, "smem_per_block": 101376, "smem_per_sm": 102400, "threads_per_sm": 1536,
              "blocks_per_sm": 24, "max_threads_per_block": 1024, "mem_bytes": 24152899584,
              "l2_bytes": 50331648},
    "sm_90": {"arch": 90, "sm_count": 132, "smem_per_block": 232448, "smem_per_sm": 233472, "threads_per_sm": 2048,
              "blocks_per_sm": 32, "max_threads_per_block": 1024, "mem_bytes": 141000000000,
              "l2_bytes": 52428800},
}
N_SAMPLED = 150  # points of a space that are held against fa-coord


def spec_of(name):
    return configuration.read(os.path.join(FOLDER, name))


def points_of(spec):
    """Points drawn at random, as fa-coord writes their values."""
    draw = random.Random(1)
    for _ in range(N_SAMPLED):
        yield {name: draw.choice(values) for name, values in spec["tunables"].items()}


def passes(spec, params, facts):
    values = configuration.all_values(spec, params, facts)
    return not any(configuration.rejection(spec, values, facts, shape.variables(spec)) for shape in shapes.headline())


class AsFaCoord(rig.Rig):
    def folder_of(self, name, spec):
        """A copy of the kernel with 'spec' as its sweep.json."""
        folder = self.kernel("flash_attention", name)
        with open(os.path.join(folder, "sweep.json"), "w") as file:
            json.dump(spec, file)
        return folder

    def same_points_pass(self, name, spec):
        folder = self.folder_of(name, spec)
        for arch, facts in FACTS.items():
            out = self.run_coord(folder, "space", "--arch", arch, "--list", "--json").stdout
            passed = {tuple(point["params"].items()) for point in json.loads(out)["points"]}
            counts = {False: 0, True: 0}
            for params in points_of(spec):
                expected = tuple(params.items()) in passed
                self.assertEqual(passes(spec, params, facts), expected, (arch, params))
                counts[expected] += 1
            self.assertGreater(min(counts.values()), 0, (arch, counts))

    def test_gates_let_the_same_points_pass(self):
        self.same_points_pass("small", spec_of("sweep.json"))

    def test_gates_let_the_same_points_of_the_wide_space_pass(self):
        spec = spec_of("wide.json")
        spec["tunables"] = {name: [values[0], values[-1]] for name, values in spec["tunables"].items()}
        self.same_points_pass("wide", spec)

    def sweep_of_one(self, sweep, config):
        """Sweep a space of one configuration at one small shape; returns its folder."""
        spec = spec_of(sweep)
        spec["baseline"].update(config)
        spec["tunables"] = {name: [value] for name, value in spec["baseline"].items()}
        spec["emulation_shapes"] = [{**spec["emulation_shapes"][0], "S": 17}]
        spec["confirm"] = False
        folder = self.folder_of(os.path.splitext(sweep)[0], spec)
        self.run_coord(folder, "sweep", "--device", "cpu")
        return folder, spec

    def test_derived_values_and_launch_are_those_of_an_export(self):
        wide = {"BLOCK_M": 64, "WARP_ROWS": 16, "K_STAGES": 2, "V_STAGES": 2, "SLICES": 4, "PIPELINE": 2,
                "Q_HOME": 1, "GRID": 2}
        for sweep, config in ("sweep.json", {"BLOCK_N": 64, "STAGES": 3, "HALF2": 0}), ("wide.json", wide):
            folder, spec = self.sweep_of_one(sweep, config)
            export = json.loads(self.run_coord(folder, "export", "--format", "json").stdout)
            facts = export["origin"]["facts"]
            values = configuration.all_values(spec, config, facts)
            self.assertEqual(values, {**export["config"], **export["derived"]})
            for shape in export["shapes"]:
                grid, block, smem = configuration.launch(spec, values, facts, shape["vars"])
                self.assertEqual([list(grid), list(block), smem], [shape["grid"], shape["block"], shape["smem"]])
            header = self.run_coord(folder, "export", "--format", "header").stdout
            self.assertEqual(configuration.parse_header(header, spec, "tuned.h"), values)


class Configuration(unittest.TestCase):
    def launch_of(self, sweep, text, shape):
        spec, facts = spec_of(sweep), FACTS["sm_90"]
        values = configuration.all_values(spec, configuration.parse_config(text), facts)
        return configuration.launch(spec, values, facts, shapes.parse_shape(shape).variables(spec))

    def test_launches(self):
        self.assertEqual(self.launch_of("sweep.json", "", "32,8,512,0"), ((264, 1, 1), (128, 1, 1), 98304))
        self.assertEqual(self.launch_of("sweep.json", "STAGES=3", "32,8,512,0"), ((4, 256, 1), (128, 1, 1), 114688))
        self.assertEqual(self.launch_of("sweep.json", "BLOCK_M=64", "2,8,500,1"), ((16, 8, 1), (128, 1, 1), 73728))
        persistent = "GRID=2,K_STAGES=2,V_STAGES=2,Q_HOME=1"
        self.assertEqual(self.launch_of("wide.json", persistent, "32,8,512,1"), ((132, 1, 1), (128, 1, 1), 81920))
        self.assertEqual(self.launch_of("wide.json", persistent, "1,8,512,1"), ((32, 1, 1), (128, 1, 1), 81920))

    def test_a_derived_value_that_is_given_stands(self):
        spec, facts = spec_of("sweep.json"), FACTS["sm_90"]
        values = configuration.all_values(spec, {"MIN_BLOCKS": 1, "ROW_BYTES": 144}, facts)
        self.assertEqual((values["MIN_BLOCKS"], values["SMEM_BYTES"]), (1, 144 * 768))
        told = compare.told(spec, {"LAYOUT": 1, "MIN_BLOCKS": 1}, values, facts)
        self.assertEqual(told, {**spec["baseline"], "MIN_BLOCKS": 1})

    def test_macros(self):
        text = configuration.defines({"A": 64, "B": True, "C": 0.5, "D": "fast", "E": "1.x"})
        self.assertEqual(text, '#define A 64\n#define B 1\n#define C 0.5\n#define D "fast"\n#define D_fast 1\n'
                               '#define E "1.x"\n')

    def test_comments_are_no_json(self):
        for text in '{"a": "x // y"} // z', '/* { */ {"a": "x // y"}':
            found = configuration.TEXT_OR_COMMENT.sub(lambda match: match[1] or " ", text)
            self.assertEqual(json.loads(found), {"a": "x // y"})

    def test_what_is_refused(self):
        spec = spec_of("sweep.json")
        for text, message in (("BLOCK_M", "is not NAME=VALUE"), ("A=1,A=2", "stands twice")):
            with self.assertRaisesRegex(Fault, message):
                configuration.parse_config(text)
        with self.assertRaisesRegex(Fault, "'BLOCK' is no tunable of flash_attention: it has BLOCK_M, "):
            configuration.all_values(spec, {"BLOCK": 1}, FACTS["sm_90"])
        with self.assertRaisesRegex(Fault, "no FLASH_ATTENTION_BLOCK_M; is it the header of another sweep"):
            configuration.parse_header("#define FLASH_ATTENTION_WIDE_BLOCK_M 64\n", spec, "tuned.h")
        with self.assertRaisesRegex(Fault, "no such column: NONE"):
            configuration.evaluate("NONE + 1", {"A": 1})


class Intervals(unittest.TestCase):
    """The literals of tests/coordinator/stats/test_signed_rank.c."""

    def test_few_differences_bound_nothing(self):
        self.assertEqual(intervals.signed_rank([1, 2, 3, 4]), (2.5, -math.inf, math.inf))
        self.assertTrue(math.isfinite(intervals.signed_rank([1, 2, 3, 4, 5])[1]))

    def test_an_end_lies_between_two_steps(self):
        estimate, low, high = intervals.signed_rank([6, 1, 4, 2, 5, 3])
        self.assertEqual(estimate, 3.5)
        self.assertAlmostEqual(low, 1 + 0.6 * 0.5)
        self.assertAlmostEqual(high, 6 - 0.6 * 0.5)

    def test_the_distribution_counts_signs(self):
        self.assertEqual([64 * p for p in intervals.rank_sums(6)[:7]], [1, 2, 3, 5, 7, 10, 14])

    def test_a_common_drift_cancels(self):
        ours = [[drift, 1.5 * drift, 0.9 * drift] for drift in range(1, 9)]
        theirs = [[2 * second for second in block] for block in ours]
        for value in intervals.speedup(ours, theirs):
            self.assertAlmostEqual(value, 2)


class Shapes(unittest.TestCase):
    def test_names(self):
        names = [shapes.parse_shape(text).name for text in ("32,8,512,0", "32,8,512,1", "64,8,512,0", "1,4,17,1,2")]
        self.assertEqual(names, ["s512", "s512_causal", "b64_s512", "b1_h4_kv2_s17_causal"])
        self.assertEqual(shapes.entry_name(shapes.headline()[1], "ramped"), "s512_causal_ramped")
        table = [shape.name for shape in shapes.table()]
        self.assertEqual((len(table), len(set(table))), (22, 22))

    def test_variables_are_those_of_the_sweep(self):
        for name in "sweep.json", "wide.json":
            spec = spec_of(name)
            for shape, wanted in zip(shapes.headline(), spec["shapes"]):
                self.assertEqual({"name": shape.name, **shape.variables(spec)}, wanted)

    def test_what_is_refused(self):
        for text in "", "1,2,3", "1,2,3,2", "0,8,512,0", "1,x,3,0", "1,8,512,0,0", "1,8,512,0,3", "1,2,3,0,1,1":
            with self.assertRaisesRegex(Fault, "^--shape"):
                shapes.parse_shape(text)


class Script(unittest.TestCase):
    def test_a_mistake_is_one_line(self):
        for arguments, message in (
                (["--backend", "none"], "no backend 'none': there are flash, cudnn, efficient"),
                (["--distribution", "flat"], "no distribution 'flat'"),
                (["--samples", "0"], "'0' is not a number from 1 to 1000"),
                (["--sweep", "none.json"], "none.json: No such file or directory"),
                (["--shape", "1,2"], "--shape 1,2: not B,H,S,causal"),
                (["--json", "none/x.json"], "there is no such folder"),
                (["--baseline-only", "--config", "A=1"], "--baseline-only has no configuration")):
            done = subprocess.run([sys.executable, os.path.join(FOLDER, "compare.py"), *arguments],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual((done.stderr.count("\n"), done.stdout), (1, ""))

    def test_the_json_has_a_block_a_line(self):
        report = {"s512": {"blocks_s": [[1e-5, 2e-5], [3e-5, 4e-5]], "others": [{"a": 1}], "wrong": []}}
        text = compare.dump(report)
        self.assertEqual(json.loads(text), report)
        self.assertIn("\n   [1e-05, 2e-05],\n", text)


if __name__ == "__main__":
    unittest.main()
