"""The memory of 'report' hardly grows with the rows of the database, and 1,000,000 results take 128 MiB at most."""

import os
import unittest

import bench_report

BIN = os.environ["FA_BIN_DIR"]
MOST_MIB = 128
# From 2,500 to 25,000 configurations.  Each in full made it 26 MiB, with --csv 40 MiB.  What the cost was spent on
# ("all", "json") reads the leases, too.
GROWTH_MIB = {"text": 6, "csv": 6, "all": 12, "json": 12}


class Memory(unittest.TestCase):
    def test_it_does_not_grow_with_the_rows(self):
        few, many = (bench_report.measure(BIN, n) for n in (5000, 50000))
        for form in bench_report.FORMS:
            grown = many[form]["peak_mib"] - few[form]["peak_mib"]
            print(form, few[form], many[form])
            self.assertLess(grown, GROWTH_MIB[form], form)


class Large(unittest.TestCase):
    def test_a_million_results(self):
        large = bench_report.measure(BIN, 1000000)
        print(large)
        self.assertGreaterEqual(large["results"], 1000000)
        for form in bench_report.FORMS:
            self.assertLessEqual(large[form]["peak_mib"], MOST_MIB, form)


if __name__ == "__main__":
    unittest.main()
