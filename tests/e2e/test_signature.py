"""A kernel that does not take the arguments of its sweep file is told so before anything is measured."""

import os
import unittest

import rig
import sweepfile


class Signature(rig.Rig):
    def edited(self, path, old, new):
        folder = self.kernel("vector_add")
        file = os.path.join(folder, path)
        with open(file) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(file, "w") as f:
            f.write(text.replace(old, new))
        return folder

    def refused(self, folder, *says, device="cpu"):
        ran = self.run_coord(folder, "sweep", "--device", device, code=2)
        for text in says:
            self.assertIn(text, ran.stderr)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM result"), [(0,)])
        return ran.stderr

    def test_an_argument_that_the_sweep_file_lacks_ends_the_sweep(self):
        folder = self.kernel("vector_add")
        sweep = sweepfile.read(folder)
        sweepfile.write(folder, {**sweep, "arguments": sweep["arguments"][:3]})
        self.refused(folder, "the reference could not be built: kernel 'vector_add_reference' takes 4 parameters "
                     "(8 8 8 4 bytes), the sweep file gives 3 (8 8 8 bytes): parameter 4 has no argument")
        sweepfile.write(folder, sweep)  # the same database: what was refused is tried again
        self.run_coord(folder, "sweep", "--device", "cpu", "--evaluations", "2")

    def test_an_argument_of_another_size_ends_the_sweep_at_its_first_build(self):
        folder = self.edited("vector_add.cu", "               int n)", "               long long n)")
        said = self.refused(folder, "fa-coord: kernel 'vector_add' takes 4 parameters (8 8 8 8 bytes), the sweep "
                            "file gives 4 (8 8 8 4 bytes): parameter 4 has 8 bytes, its argument 'n' has 4")
        self.assertNotIn("reference", said)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome"), [(0,)])
        failed = self.query(folder, "SELECT count(*) FROM build WHERE outcome = 'compile'")[0][0]
        self.assertLessEqual(failed, os.cpu_count() + 1)  # of thirty

    def test_an_entry_with_cpp_linkage_is_refused_here_too(self):
        folder = self.edited("vector_add.cu", 'extern "C" __global__', "__global__")
        self.refused(folder, "fa-coord: entry 'vector_add' of vector_add.cu has C++ linkage (_Z10vector_addPKfS0_Pfi): "
                     'write extern "C" in front of __global__')

    def test_an_entry_that_is_not_there_is_refused(self):
        folder = self.edited("sweep.json", '"entry": "vector_add"', '"entry": "vector_sub"')
        self.refused(folder, "fa-coord: entry 'vector_sub' is not in vector_add.cu, which has vector_add")

    @unittest.skipUnless(rig.NVCC, "no nvcc on this machine")
    def test_builds_for_a_gpu_are_compared_too(self):
        folder = self.edited("vector_add.cu", "               int n)", "               long long n)")
        ran = self.run_coord(folder, "space", "--build", code=2)
        self.assertIn("fa-coord: kernel 'vector_add' takes 4 parameters (8 8 8 8 bytes), the sweep file gives 4 "
                      "(8 8 8 4 bytes): parameter 4 has 8 bytes, its argument 'n' has 4", ran.stderr)


if __name__ == "__main__":
    unittest.main()
