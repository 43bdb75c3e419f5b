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


if __name__ == "__main__":
    unittest.main()
