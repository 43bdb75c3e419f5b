"""What is committed in docs: the notebook has been run, without an error, and names no path of a machine; python.md
has the columns and the names of the package."""

import inspect
import json
import os
import re
import unittest

import fa_coord
import notebook_file
from fa_coord import plots, tables


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


class Reference(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(notebook_file.SOURCE, "docs", "python.md")) as f:
            self.text = f.read()

    def test_it_has_the_columns_of_each_table(self):
        for name, columns in tables.COLUMNS.items():
            row = re.search(rf"(?m)^\| `{name}\([^|]*\|[^|]*\| `([^`]*)`", self.text)
            with self.subTest(name):
                listed = row[1].split()
                self.assertEqual(listed, list(columns)[:len(listed)])
                if name != "results":  # it has the figures of report.md, too
                    self.assertEqual(len(listed), len(columns))

    def test_it_has_every_name(self):
        names = [name for name, of in vars(plots).items() if inspect.isfunction(of) and of.__module__ == plots.__name__]
        for kind in fa_coord.Database, fa_coord.Run, fa_coord.Sweep:
            names += [name for name in vars(kind) if name != "text"]  # what write() writes
        for name in names:
            if not name.startswith("_"):
                self.assertRegex(self.text, rf"\b{name}\b")


if __name__ == "__main__":
    unittest.main()
