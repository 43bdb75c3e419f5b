"""Arguments that are read and written, counted from zero, or indices; inputs with zeros; what a wrong one is told as."""

import json
import os
import unittest

import rig

PRODUCT = "a[at / n * k + i] * b"


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

    def test_a_proof_has_inputs_with_zeros(self):
        folder = self.fixture("split_k")
        path = os.path.join(folder, "gemm.cu")
        with open(path) as f:
            text = f.read()
        self.assertIn(PRODUCT, text)
        with open(path, "w") as f:  # the same, but for zeros
            f.write(text.replace(PRODUCT, "a[at / n * k + i] / a[at / n * k + i] * " + PRODUCT))
        ran = self.run_coord(folder, "fuzz", "--device", "cpu", "--json", code=1)
        [finding] = json.loads(ran.stdout)["findings"]
        self.assertRegex(finding["reason"], r"^inputs with zeros: 'c'\[\d+\] is NaN or unwritten, should be ")


if __name__ == "__main__":
    unittest.main()
