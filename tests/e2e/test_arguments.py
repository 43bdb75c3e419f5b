"""Arguments that are read and written, counted from zero, or indices; and what a wrong one is told as."""

import unittest

import rig


class Arguments(rig.Rig):
    def outcomes(self, name):
        """The sweep of a fixture on the cpu device: each configuration's outcome and its reason."""
        folder = self.fixture(name)
        self.run_coord(folder, "sweep", "--device", "cpu")
        return self.query(folder, "SELECT c.params, o.outcome, o.reason FROM outcome o"
                                  " JOIN config c ON c.key = o.config ORDER BY c.params")

    def test_a_kernel_adds_to_what_its_output_holds(self):
        rows = self.outcomes("split_k")
        self.assertEqual(len(rows), 4)
        for params, outcome, reason in rows:
            if '"RESETS": true' in params or '"RESETS":true' in params:
                self.assertEqual(outcome, "correctness", params)
                self.assertRegex(reason, r"first seed: 'c'\[\d+\] is .*, should be .*; max_error is ")
            else:
                self.assertEqual((outcome, reason), ("correct", ""), params)

    def test_counters_begin_at_zero_and_are_exact(self):
        rows = self.outcomes("histogram")
        self.assertEqual(len(rows), 4)
        for params, outcome, reason in rows:
            if '"LOSES": true' in params or '"LOSES":true' in params:
                self.assertEqual(outcome, "correctness", params)
                self.assertRegex(reason, r"'counts'\[\d+\] is (\d+), should be exactly \d+$")
            else:
                self.assertEqual((outcome, reason), ("correct", ""), params)


if __name__ == "__main__":
    unittest.main()
