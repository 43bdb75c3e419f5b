"""Arguments that are filled from .npy files: a sparse matrix, from the sweep's folder to the worker's kernel."""

import array
import json
import os
import random
import struct
import unittest

import rig
import sweepfile

SHAPES = {"small": (60, 50, 700), "large": (600, 500, 270000)}  # rows, columns, elements; large: two windows


def save(path, descr, numbers):
    """What numpy.save() writes for one dimension: format 1.0, the header padded to 128 bytes."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n")
        f.write(array.array({"<i4": "i", "<f4": "f", "<f8": "d"}[descr], numbers).tobytes())


class Inputs(rig.Rig):
    def matrix(self):
        """A folder with the sweep and a matrix for each of its shapes."""
        folder = self.fixture("spmv")
        numbers = random.Random(1)
        for shape, (rows, columns, elements) in SHAPES.items():
            cuts = sorted(numbers.randrange(elements) for _ in range(rows - 1))  # the last row is not empty
            save(os.path.join(folder, f"starts-{shape}.npy"), "<i4", [0, *cuts, elements])
            save(os.path.join(folder, f"columns-{shape}.npy"), "<i4", numbers.choices(range(columns), k=elements))
            save(os.path.join(folder, f"values-{shape}.npy"), "<f4", [numbers.uniform(1, 2) for _ in range(elements)])
        return folder

    def assert_flaw(self, folder, command, *texts):
        ran = self.run_coord(folder, *command, code=2)
        for text in texts:
            self.assertIn(text, ran.stderr)

    def assert_outcomes(self, rows, shapes):
        self.assertEqual(sorted(shape for shape, *_ in rows), sorted(2 * shapes))
        for _, params, outcome, reason in rows:
            if json.loads(params)["LOSES"]:
                self.assertEqual(outcome, "correctness", reason)
                self.assertRegex(reason, r"'y'\[(59|599)\] is ")
            else:
                self.assertEqual((outcome, reason), ("correct", ""), params)

    def measured(self, folder):
        return self.query(folder, "SELECT o.shape, c.params, o.outcome, o.reason FROM outcome o"
                                  " JOIN config c ON c.key = o.config")

    def test_a_matrix_travels_to_a_host(self):
        folder = self.matrix()
        hosts = self.hosts(self.sshd().line(f"workdir={self.with_runner(self.path('remote'))}"))
        sweep = ("sweep", "--device", "cpu", "--hosts", hosts)
        self.run_coord(folder, *sweep)
        self.assert_outcomes(self.measured(folder), list(SHAPES))
        measurements = "SELECT shape, count(*) FROM result GROUP BY shape"
        before = dict(self.query(folder, measurements))
        with self.subTest("other contents are other results, at their shape"):
            rows, columns, elements = SHAPES["small"]
            save(os.path.join(folder, "values-small.npy"), "<f4", [3.0] * elements)
            self.run_coord(folder, *sweep)
            after = dict(self.query(folder, measurements))
            self.assertGreater(after["small"], before["small"])
            self.assertEqual(after["large"], before["large"])

    def test_a_bad_file_is_named_before_anything_is_built(self):
        folder = self.matrix()
        values = os.path.join(folder, "values-small.npy")
        sweep = ("sweep", "--device", "cpu")
        save(values, "<f4", [1.0] * 699)
        for command in (("check",), sweep):
            self.assert_flaw(folder, command, "the size of 'values' yields 700, shape 'small'",
                             "'values-small.npy' has 699 elements")
        save(values, "<f8", [1.0] * 700)
        self.assert_flaw(folder, sweep, "'values-small.npy' cannot fill the fp32 'values'",
                         "its elements are '<f8', and those of fp32 '<f4'; save it with .astype('<f4')")
        with open(values, "r+b") as f:
            f.truncate(1000)
        self.assert_flaw(folder, sweep, "it is truncated: its shape needs 5600 bytes of elements, and it has 872")
        with open(values, "wb") as f:
            f.truncate((64 << 20) + 1)
        self.assert_flaw(folder, sweep, "a file of an argument has at most 64 MiB")
        os.remove(values)
        self.assert_flaw(folder, sweep, "there is no file 'values-small.npy'")
        os.symlink("values-large.npy", values)
        self.assert_flaw(folder, sweep, "'values-small.npy' is a symbolic link")
        self.assertEqual(self.query(folder, "SELECT count(*) FROM lease"), [(0,)])

    def test_check_warns_when_no_input_changes_from_trial_to_trial(self):
        folder = self.matrix()
        warning = "every input comes from a file"
        self.assertNotIn(warning, self.run_coord(folder, "check", "--no-build").stderr)
        sweep = sweepfile.read(folder)
        sweep["arguments"][3]["fill"] = {"file": "x.npy"}
        for shape in sweep["shapes"]:
            shape["N_COLUMNS"] = 500
        sweepfile.write(folder, sweep)
        save(os.path.join(folder, "x.npy"), "<f4", [1.0] * 500)
        self.assertIn(warning, self.run_coord(folder, "check", "--no-build").stderr)


if __name__ == "__main__":
    unittest.main()
