"""Kernels that are wrong on purpose: each found, labelled, and harmless to the next."""

import json
import os
import unittest

import rig

DEVICE = os.environ.get("FA_DEVICE", "cpu")


class BadKernels(rig.Rig):
    def setUp(self):
        super().setUp()
        self.folder = self.fixture("bad_kernels")
        self.run_coord(self.folder, "sweep", "--device", DEVICE)

    def labels_are_as_expected(self):
        with open(os.path.join(self.folder, "expected.json")) as f:
            expected = json.load(f)
        got = {row["config"]["FAULT"]: row for row in self.report(self.folder)["results"]}
        self.assertEqual(set(got), set(expected))
        for fault, want in expected.items():
            with self.subTest(fault=fault):
                self.assertIn(got[fault]["outcome"], want[DEVICE])

    def evidence_names_the_fault(self):
        reasons = dict(self.query(self.folder, "SELECT json_extract(c.params, '$.FAULT'), o.reason FROM outcome o "
                                               "JOIN config c ON c.key = o.config"))
        self.assertIn("error", reasons["does_not_compile"])
        self.assertNotIn("/tmp", reasons["does_not_compile"])
        self.assertRegex(reasons["missing_scale"], r"'out'\[\d+\]")
        if DEVICE == "cpu":
            self.assertIn("misaligned", reasons["misaligned_copy"])
            self.assertRegex(reasons["oob_read"], r"'K'.*thread")
            self.assertRegex(reasons["oob_write"], r"'out'.*thread")

    def test_each_fault_is_labelled_and_the_next_configuration_is_unharmed(self):
        self.labels_are_as_expected()
        self.evidence_names_the_fault()
        self.assert_invariants(self.folder)


if __name__ == "__main__":
    unittest.main()
