"""What README shows as the answer of a sweep is what fa-coord report prints of the committed record."""

import contextlib
import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import doc_pages

COORD = os.path.join(os.environ["FA_BIN_DIR"], "fa-coord")
RECORD = os.path.join(doc_pages.SOURCE, "docs", "results", "h200", "record", "run_1.db.gz")


class Answer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="fa-answer-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with gzip.open(RECORD) as packed, open(os.path.join(cls.folder, "h200.db"), "wb") as f:
            shutil.copyfileobj(packed, f)
        cls.printed = subprocess.run([COORD, "report", "h200.db", "--cost"], cwd=cls.folder, check=True, text=True,
                                     capture_output=True, timeout=120,
                                     env={**os.environ, "COLUMNS": "80", "HOME": cls.folder}).stdout

    def test_readme_shows_what_report_prints(self):
        shown = [lines for _, _, lines in doc_pages.blocks(doc_pages.read("README.md"))
                 if lines[0].startswith("Answer")]
        self.assertEqual(len(shown), 1)
        self.assertIn("\n".join(shown[0]).rstrip() + "\n", self.printed)

    def test_seconds_and_dollars_of_the_table_are_those_of_the_report(self):
        hours, dollars = re.search(r"Cost +([\d.]+) h of hosts, \$(\d+\.\d+)", self.printed).groups()
        rows = {cells[1].strip(): cells[2] for line in doc_pages.read("README.md").splitlines()
                if len(cells := line.split("|")) > 6}
        self.assertTrue(rows["this sweep, seconds"].startswith(f" {float(hours) * 3600:.0f}:"))
        self.assertTrue(rows["this sweep, dollars"].startswith(f" {float(dollars):.2f}:"))

    def test_the_compiler_of_a_shell_loop_took_what_the_builds_of_the_record_took(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/h200.db?mode=ro&immutable=1", uri=True)) as base:
            seconds, = base.execute("SELECT sum(seconds) FROM build WHERE cached = 0").fetchone()
        self.assertIn(f"the compiler alone took {seconds:,.0f} s of a core", doc_pages.read("README.md"))

    def test_pictures_are_small(self):
        folder = os.path.join(doc_pages.SOURCE, "docs", "pictures")
        for name in os.listdir(folder):
            self.assertLess(os.path.getsize(os.path.join(folder, name)), 200_000, name)


if __name__ == "__main__":
    unittest.main()
