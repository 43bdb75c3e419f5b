"""fa-coord check compiles the baseline and the reference, and tells all flaws at once."""

import glob
import json
import os
import re
import subprocess
import unittest

import rig


class Check(rig.Rig):
    def setUp(self):
        super().setUp()
        self.env["TMPDIR"] = self.path("tmp")
        os.mkdir(self.env["TMPDIR"])
        self.vector_add = self.kernel("vector_add")

    def check(self, *args, code=0):
        ran = self.run_coord(self.vector_add, "check", *args, code=code)
        self.assertEqual(os.listdir(self.env["TMPDIR"]), [])
        self.assertEqual(glob.glob(os.path.join(self.vector_add, "*.db*")), [])
        return ran

    def edit(self, name, old, new):
        path = os.path.join(self.vector_add, name)
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, "w") as f:
            f.write(text.replace(old, new))

    def spoil_both(self):
        self.edit("vector_add.cu", "               int n)", "               long long n)")
        self.edit("reference.cu", 'extern "C" __global__', "__global__")

    def assert_both_are_told(self, ran):
        self.assertEqual(ran.stdout, "")
        self.assertIn("fa-coord: the baseline: kernel 'vector_add' takes 4 parameters (8 8 8 8 bytes), the sweep "
                      "file gives 4 (8 8 8 4 bytes): parameter 4 has 8 bytes, its argument 'n' has 4\n", ran.stderr)
        self.assertIn("fa-coord: the reference: entry 'vector_add_reference' of reference.cu has C++ linkage "
                      "(_Z20vector_add_referencePKfS0_Pdi): write extern \"C\" in front of __global__\n", ran.stderr)

    def test_both_are_compiled_and_nothing_is_left(self):
        self.assertIn("compiled        the baseline and the reference, for cpu\n",
                      self.check("--device", "cpu").stdout)
        told = json.loads(self.check("--device", "cpu", "--json").stdout)
        self.assertEqual((told["device"], told["compiled"]), ("cpu", True))

    def test_all_flaws_are_told_at_once(self):
        self.spoil_both()
        self.assert_both_are_told(self.check("--device", "cpu", code=2))

    @unittest.skipUnless(rig.NVCC, "no nvcc on this machine")
    def test_all_flaws_are_told_for_a_gpu(self):
        self.assertIn("the baseline and the reference, for sm_90\n", self.check("--arch", "sm_90").stdout)
        self.spoil_both()
        self.assert_both_are_told(self.check(code=2))

    @unittest.skipUnless(rig.NVCC, "no nvcc on this machine")
    def test_an_older_gpu_is_checked_and_a_newer_nvcc_named(self):
        self.assertIn("gates for sm_70\n", self.check("--arch", "sm_70", "--no-build").stdout)
        release = subprocess.run([rig.NVCC, "--version"], capture_output=True, text=True, check=True).stdout
        if int(re.search(r"release (\d+)", release)[1]) >= 13:
            said = self.check("--arch", "sm_70", code=2).stderr
            self.assertRegex(said, r"the baseline: nvcc \S+ cannot build for sm_70, only for sm_75 and later")

    def test_an_error_of_the_compiler_is_told(self):
        self.edit("reference.cu", "double(b[i])", "double(c[i])")
        self.assertRegex(self.check("--device", "cpu", code=2).stderr,
                         r"fa-coord: the reference: reference.cu:7:\d+: error: 'c' was not declared")

    def test_without_a_compiler_the_rest_is_checked(self):
        self.spoil_both()
        self.env["PATH"] = "/nowhere"
        self.assertIn("compiled        nothing: no usable host: localhost", self.check("--device", "cpu").stdout)
        self.assertIn("compiled        nothing: --no-build", self.check("--no-build").stdout)

    def test_another_device_is_refused(self):
        self.assertIn("--device=gpu: choose cuda or cpu", self.check("--device", "gpu", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
