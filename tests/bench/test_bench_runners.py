"""bench_request writes what bench_runners.py has two runners answer, in words that an older one knows too."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import bench_runners

BIN = os.environ["FA_BIN_DIR"]
RUNNER = os.path.join(BIN, "fa-runner")
OUT = "arg out fp16 buffer 64 poison 1 out relative_l2 5e-4 max_error 1e-2"


class Older(unittest.TestCase):
    def test_one_tolerance_stands_alone_and_newer_fields_go(self):
        lines = ["measure", "arg Q fp16 buffer 64 ramp 8 8 2 in", OUT, "arg n int32 scalar 64",
                 "reference r e 1 1 1 1 1 1 0", "trials 2 zeros", "seed 1", "repeats 100"]
        self.assertEqual(bench_runners.older(lines),
                         ["measure", "arg Q fp16 buffer 64 ramp 8 8 2 in", "arg out fp16 buffer 64 zeros 1 out",
                          "arg n int32 scalar 64", "reference r e 1 1 1 1 1 1 0", "seed 1", "tolerance 5e-4 1e-2"])

    def test_what_it_does_not_have_is_said(self):
        for line in ("files /tmp", "arg w fp32 buffer 64 poison 1 workspace",
                     "arg a fp32 buffer 8 normal 1 in infinities", "arg b int32 buffer 8 poison 1 out exact"):
            with self.assertRaisesRegex(SystemExit, f"an older runner has no '{line}'"):
                bench_runners.older(["measure", OUT, line])
        with self.assertRaisesRegex(SystemExit, "one tolerance"):
            bench_runners.older([OUT, OUT.replace("5e-4", "1e-3")])


class Requests(unittest.TestCase):
    def test_a_file_that_is_none_is_said(self):
        with self.assertRaisesRegex(SystemExit, "--request none.request: .*No such file"):
            bench_runners.read_request("none.request")
        with self.assertRaisesRegex(SystemExit, "not a request that bench_request wrote"):
            bench_runners.read_request(__file__)

    def test_two_runners_answer_the_requests_of_a_sweep(self):
        sweep = os.path.join(bench_runners.ROOT, "kernels", "vector_add")
        with tempfile.TemporaryDirectory(prefix="fa runners-", dir="/tmp") as work:
            made = subprocess.run([os.path.join(BIN, "bench_request"), sweep, "cpu", shutil.which("g++"), work,
                                   "BLOCK_SIZE=256"], check=True, capture_output=True, text=True).stdout
            name, _, config = made.strip().partition(" ")
            self.assertEqual(config, "BLOCK_SIZE=256 ITEMS=1 VECTOR=false")
            self.assertEqual(len(os.listdir(work)), 3)  # the request, a kernel and a reference
            out = subprocess.run([os.path.join(os.path.dirname(__file__), "bench_runners.py"), RUNNER, RUNNER,
                                  "--device", "cpu", "--rounds", "1", "--request", os.path.join(work, name)],
                                 check=True, capture_output=True, text=True).stdout
        rows = json.loads(out)
        self.assertEqual([(row["case"], row["samples"]) for row in rows], [(name, 5), (name, 50)])
        for row in rows:
            self.assertGreater(row["median_ratio"], 0)
            self.assertGreater(row["held_before_ms"], 0)


if __name__ == "__main__":
    unittest.main()
