"""Five kernels as their authors write them, without a header of ours: atomics, split-K, three outputs, in place, files."""

import os
import runpy
import unittest

import rig
import sweepfile

EVALUATIONS = 3


class Five(rig.Rig):
    def folder_of(self, name):
        return self.fixture(os.path.join("five", name))

    def sweep(self, folder):
        self.run_coord(folder, "sweep", "--device", "cpu", "--strategy", "random", "--evaluations", str(EVALUATIONS))
        outcomes = self.query(folder, "SELECT outcome, reason FROM outcome")
        self.assertEqual(set(outcomes), {("correct", "")})
        self.assertGreaterEqual(len(outcomes), EVALUATIONS)

    def test_histogram_with_atomics(self):
        self.sweep(self.folder_of("histogram"))

    def test_split_k_gemm(self):
        self.sweep(self.folder_of("split_k"))

    def test_layernorm_with_three_outputs(self):
        self.sweep(self.folder_of("layernorm"))

    def test_scale_in_place(self):
        self.sweep(self.folder_of("scale"))

    def test_sparse_matrix_from_files(self):
        folder = self.folder_of("spmv")
        runpy.run_path(os.path.join(folder, "make_matrix.py"))["make"](folder, ["small"])
        sweep = sweepfile.read(folder)
        sweep["shapes"] = sweep["emulation_shapes"]
        sweepfile.write(folder, sweep)
        self.sweep(folder)


if __name__ == "__main__":
    unittest.main()
