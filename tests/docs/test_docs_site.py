"""deploy/site.sh builds the site without a warning, and what checks it finds what is wrong."""

import os
import shutil
import subprocess
import tempfile
import unittest

import doc_pages

GOOD = '<html><body><h1 id="top">A</h1><a href="b.html#end">b</a><img src="data:,x"></body></html>'


def check(folder):
    return subprocess.run([os.path.join(doc_pages.SOURCE, "deploy", "site_links.py"), folder], capture_output=True,
                          text=True, timeout=120)


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fa-site-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_the_site_is_built_and_each_page_is_in_it(self):
        if not shutil.which("mkdocs"):
            self.skipTest("mkdocs is not installed: deploy/setup.sh --site installs it")
        ran = subprocess.run([os.path.join(doc_pages.SOURCE, "deploy", "site.sh"), self.folder], capture_output=True,
                             text=True, timeout=280)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for page in doc_pages.paths():
            name = "index.html" if page == "README.md" else os.path.relpath(page, "docs")[:-3] + ".html"
            name = name.replace("README.html", "index.html")
            self.assertTrue(os.path.exists(os.path.join(self.folder, name)), name)
        self.assertEqual(check(self.folder).stdout, "")

    def test_flaws_of_a_site_are_found(self):
        pages = {
            "a.html": GOOD,
            "b.html": '<h1 id="end">B</h1><a href="c.html">c</a><a href="a.html#no">a</a><a href="https://x.org/">x</a>'
                      '<link rel="stylesheet" href="https://x.org/y.css"><script src="//x.org/z.js"></script>',
            "d.css": "@import 'https://x.org/w.css'; a { b: url(e.png); c: url('https://x.org/f.woff') }",
        }
        for name, text in pages.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        ran = check(self.folder)
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(sorted(line.partition(": ")[2] for line in ran.stdout.splitlines()), [
            "b.html: a.html has no anchor #no",
            "b.html: loads //x.org/z.js from another host",
            "b.html: loads https://x.org/y.css from another host",
            "b.html: there is no c.html",
            "d.css: loads https://x.org/f.woff from another host",
            "d.css: loads https://x.org/w.css from another host",
        ])


if __name__ == "__main__":
    unittest.main()
