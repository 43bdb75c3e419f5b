"""docs/results/make_tables.py: it makes the committed page from the committed data."""

import json
import os
import sys
import tempfile
import unittest

SOURCE = os.environ["FA_SOURCE_DIR"]
RESULTS = os.path.join(SOURCE, "docs", "results")
sys.path.insert(0, RESULTS)

import make_tables  # noqa: E402

CLOCKS = {"clocks.sm": "1980", "clocks.max.sm": "1990"}
ENVIRONMENT = {"gpu": "GPU", "driver": "1.2", "torch": "2.11", "cudnn": 91900, "nvcc": "13.0.88", "samples": 100,
               "l2": "flush", "late_turns": 0, "when": "2026-01-01T00:00:00+00:00", "command": "compare.py --json x",
               "smi_before": CLOCKS, "smi_after": CLOCKS}
RUN = {"speedup_flash": 1.4, "interval": [1.39, 1.41], "speedup_cudnn": 0.9876, "interval_cudnn": None,
       "config": {"A": 1, "B": 2}, "median_s": 50.04e-6, "relative_l2": 2.7e-4, "registers": 200, "smem_bytes": 98304,
       "blocks_per_sm": 2, "others": [], "wrong": [], "missing": {"efficient": "no kernel"},
       "torch": {"flash": {"median_s": 70e-6, "relative_l2": 2.75e-4},
                 "cudnn": {"median_s": 49.4e-6, "relative_l2": 2.75e-4}}}
WRONG = {"wrong": [{"config": {"A": 3, "B": 2}, "relative_l2": 0.5}], "missing": {}, "others": [],
         "torch": {"flash": {"median_s": 80e-6, "relative_l2": 2.75e-4}}}


class Tables(unittest.TestCase):
    def test_the_committed_page_is_what_its_files_make(self):
        folder = os.path.join(RESULTS, "h200")
        text = make_tables.page(folder)
        if text is None:
            self.skipTest("nothing measured yet")
        with open(os.path.join(folder, make_tables.PAGE), encoding="utf-8") as file:
            self.assertEqual(file.read(), text, "run docs/results/make_tables.py")

    def test_a_page(self):
        with tempfile.TemporaryDirectory(prefix="fa-tables-") as folder:
            self.assertIsNone(make_tables.page(folder))
            self.assertEqual(make_tables.main([folder]), 2)
            with open(os.path.join(folder, "headline.json"), "w", encoding="utf-8") as file:
                json.dump({"s512": RUN, "s512_causal": WRONG, "environment": ENVIRONMENT}, file)
            self.assertEqual(make_tables.main([folder]), 0)
            with open(os.path.join(folder, make_tables.PAGE), encoding="utf-8") as file:
                lines = file.read().splitlines()
        for line in (
                "| s512 | 50.0 | 70.0 | 49.4 | 1.400 [1.390, 1.410] | 0.988 | 2.70e-04 | 2.75e-04 | 2.75e-04 |",
                "| s512_causal | - | 80.0 | - | - | - | - | 2.75e-04 | - |",
                "- `A=1 B=2`: 200 registers, 98,304 bytes of shared memory, 2 blocks an SM: s512",
                "- s512: efficient did not run: no kernel",
                "- s512_causal: wrong, relative L2 0.5: `A=3 B=2`",
                "    compare.py --json x"):
            self.assertIn(line, lines)


if __name__ == "__main__":
    unittest.main()
