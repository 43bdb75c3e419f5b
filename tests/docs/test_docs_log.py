"""docs/log.md names every id that a log line of the two programs has, and no other."""

import glob
import os
import re
import unittest

import doc_pages

WRITTEN = re.compile(r'\blog_line\(\s*\w+,\s*"([A-Z-]+)"')
ID = r"[A-Z]+(?:-[A-Z]+)*"


def sources(folder):
    for path in glob.glob(f"{folder}/**/*.c", root_dir=doc_pages.SOURCE, recursive=True):
        with open(os.path.join(doc_pages.SOURCE, path), encoding="utf-8") as f:
            yield f.read()


def named(section):
    """The ids in the first column of the section's table."""
    text = doc_pages.read("docs/log.md").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return {word for cell in re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE) for word in re.findall(rf"\b{ID}\b", cell)}


class Log(unittest.TestCase):
    def test_every_id_is_in_the_table_of_its_program(self):
        for section, folder in ("fa-coord", "coordinator"), ("fa-worker", "worker"):
            texts = list(sources(folder))
            written = {word for text in texts for word in WRITTEN.findall(text)}
            # some are chosen first and written later
            literal = {word for text in texts for word in re.findall(rf'"({ID})"', text)}
            with self.subTest(folder):
                self.assertGreater(len(written), 15)
                self.assertEqual(sorted(written - named(section)), [], "docs/log.md lacks these")
                self.assertEqual(sorted(named(section) - literal), [], "no program writes these")


if __name__ == "__main__":
    unittest.main()
