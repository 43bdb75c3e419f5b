"""A reference that is of no use ends the sweep at once, and not one configuration after the other."""

import os
import re
import unittest

import rig

STORE = "out[i] = double(a[i]) + double(b[i]);"


class Reference(rig.Rig):
    def sweep_with(self, store, *args, found="reference"):
        """A sweep of vector_add whose reference stores so; what it says."""
        folder = self.kernel("vector_add")
        path = os.path.join(folder, "reference.cu")
        with open(path) as f:
            text = f.read()
        self.assertIn(STORE, text)
        with open(path, "w") as f:
            f.write(text.replace(STORE, store))
        ran = self.run_coord(folder, "sweep", "--device", "cpu", *args, code=2)
        [line] = [line for line in ran.stderr.splitlines() if re.search(found, line)]
        return folder, line

    def assert_one_attempt(self, folder):
        self.assertEqual(self.query(folder, "SELECT outcome, counted FROM result"), [("crash", 0)])
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome"), [(0,)])

    def test_a_fault_is_told_with_its_address_and_shape(self):
        folder, said = self.sweep_with("out[i + 100000] = 0;")
        self.assertRegex(said, r"fa-coord: the reference cannot be used at shape 'n5k': wild address .*; found on localhost")
        self.assert_one_attempt(folder)

    @unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
    def test_a_host_that_is_given_up_for_it_keeps_no_worker(self):
        other = self.sshd().line(f"workdir={self.with_runner(self.path('other'))}")
        self.sweep_with("out[i + 100000] = 0;", "--hosts", self.hosts("localhost", other), found="found on .* and ")
        rig.until("the workers have ended", lambda: not self.workers(), 60)  # less than the linger time
        for workdir in self.workdir, self.path("other"):
            with open(os.path.join(workdir, "worker.log")) as f:
                self.assertIn("ENDED why=the coordinator asked it to stop", f.read())

    def test_an_element_that_is_not_a_number_is_told_with_its_index(self):
        folder, said = self.sweep_with("out[i] = i == 7 ? 0.0 / 0.0 : a[i] + b[i];")
        self.assertIn("left 'out'[7] unwritten, or not a finite number; found on localhost", said)
        self.assert_one_attempt(folder)

    def test_one_that_writes_floats_is_told_of_doubles(self):
        folder, said = self.sweep_with("((float *)out)[i] = a[i] + b[i];")
        self.assertRegex(said, r"left 'out'\[\d+\] unwritten.*; a reference writes each output through a 'double \*'")
        self.assert_one_attempt(folder)

    def test_the_same_sweep_goes_on_with_another_reference(self):
        folder, _ = self.sweep_with("if (i != 9) out[i] = a[i] + b[i];")
        with open(os.path.join(rig.KERNELS, "vector_add", "reference.cu")) as f:
            text = f.read()
        with open(os.path.join(folder, "reference.cu"), "w") as f:
            f.write(text)
        self.run_coord(folder, "sweep", "--device", "cpu", "--evaluations", "2")
        self.assertEqual(self.report(folder)["counts"]["correct"], 2)


if __name__ == "__main__":
    unittest.main()
