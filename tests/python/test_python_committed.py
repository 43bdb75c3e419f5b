"""docs/notebook.ipynb as it is committed: it has been run, without an error, and names no path of a machine."""

import json
import unittest

import notebook_file


class Committed(unittest.TestCase):
    def test_no_output_has_a_path_of_a_machine_or_an_error(self):
        for source, outputs in notebook_file.read(notebook_file.NOTEBOOK):
            for output in outputs:
                self.assertNotEqual(output["output_type"], "error", source)
                self.assertNotRegex(notebook_file.text(output), notebook_file.ABSOLUTE, source)

    def test_what_is_such_a_path(self):
        for said in "/home/x/a.db", "file '/tmp/a'", "see /usr/bin/python3":
            self.assertRegex(said, notebook_file.ABSOLUTE)
        for said in "./sweep.json:29:8", "12/12 measured", "a/b/c", "</div>", "GB/s / 2":
            self.assertNotRegex(said, notebook_file.ABSOLUTE)

    def test_every_cell_was_run_in_order(self):
        with open(notebook_file.NOTEBOOK) as f:
            counts = [cell["execution_count"] for cell in json.load(f)["cells"] if cell["cell_type"] == "code"]
        self.assertEqual(counts, list(range(1, len(counts) + 1)))


if __name__ == "__main__":
    unittest.main()
