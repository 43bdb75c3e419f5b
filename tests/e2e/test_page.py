"""fa-coord report of a stored sweep: the page for a browser, and a sweep without a winner."""

import base64
import hashlib
import html.parser
import json
import os
import pathlib
import shutil
import sqlite3
import unittest

import rig

VOID = {"meta"}


class Reader(html.parser.HTMLParser):
    """The tables, scripts and data of a page; fails on unclosed markup and on references to other files."""

    def __init__(self):
        super().__init__()
        self.open, self.tables, self.text, self.scripts, self.data, self.policy = [], [], "", [], "", ""

    def handle_starttag(self, tag, attrs):
        assert tag not in ("link", "img", "iframe", "object"), tag
        if tag == "script":
            assert attrs in ([], [("type", "application/json"), ("id", "data")]), attrs
            self.is_data = attrs != []
            self.scripts += [] if self.is_data else [""]
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"]
        for name, value in attrs:
            assert name not in ("src", "href", "style") and not name.startswith("on"), (name, value)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            if self.is_data:
                self.data += data
            else:
                self.scripts[-1] += data
            return
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data


class Page(rig.Rig):

    def database(self):
        path = self.path("base.db")
        shutil.copy(os.path.join(rig.FIXTURES, "compare", "base.db"), path)
        return path

    def read(self, path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        reader = Reader()
        reader.feed(text)
        reader.close()
        self.assertEqual(reader.open, [])
        self.check_scripts(text, reader)
        return text, reader

    def check_scripts(self, text, page):
        """The policy allows the program's own scripts and nothing else; only D3 has addresses, as XML namespaces."""
        allowed = page.policy.split("script-src")[1].split() if page.scripts else []
        hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in page.scripts]
        self.assertEqual(allowed, [f"'sha256-{hash}'" for hash in hashes])
        if page.scripts:
            folder = os.path.join(rig.SOURCE, "coordinator", "page", "browser")
            own = [pathlib.Path(folder, name).read_text(encoding="utf-8") for name in os.listdir(folder)]
            for script in page.scripts[1:]:
                self.assertIn(script, own)
            self.assertIn("Redistribution and use in source and binary forms", page.scripts[0])
            self.assertIn("Mike Bostock", page.scripts[0])
            text = text.replace(page.scripts[0], "")
        self.assertNotIn("unsafe", page.policy)
        self.assertNotIn("//", page.policy)
        self.assertEqual(text.count("http"), text.count("http-equiv"))

    def test_the_page_has_the_tables_of_the_report(self):
        db = self.database()
        self.run_coord(self.folder, "report", db, "--html", "report.html")
        text, page = self.read(self.path("report.html"))
        headings = [table[0][0] for table in page.tables]
        for heading in ("outcome", "rank", "failed as", "tunable", "host", "category"):
            self.assertIn(heading, headings)
        for table in page.tables:
            self.assertEqual({len(row) for row in table}, {len(table[0])})
        plain = self.run_coord(self.folder, "report", db, "--show", "all").stdout
        for table in page.tables:
            for row in table:
                for cell in row:
                    self.assertIn(cell, plain)
        self.assertIn("default-src 'none'", text)

    def test_what_a_database_holds_is_never_markup(self):
        db = self.database()
        nasty = "<script>alert(1)</script>\x1b[31m\x00\x9b\"'&"
        with sqlite3.connect(db) as connection:
            connection.execute("UPDATE sweep SET name = ?", (nasty.replace("\0", ""),))
            connection.execute("UPDATE outcome SET reason = ? WHERE outcome <> 'correct'", (nasty.replace("\0", ""),))
            connection.execute("UPDATE gpu SET name = '<img src=x onerror=alert(1)>'")
            connection.execute("UPDATE host SET name = '<b>gpu1'")
        self.run_coord(self.folder, "report", db, "--html", "report.html", "--top", "0")
        text, page = self.read(self.path("report.html"))
        self.assertNotIn("\x1b", text)
        self.assertIn("<script>alert(1)</script>?[31m", page.text)
        self.assertIn("<img src=x onerror=alert(1)>", page.text)
        if page.scripts:
            data = json.loads(page.data)
            self.assertEqual(data["name"], nasty.replace("\0", ""))
            self.assertEqual({gpu["gpu_name"] for gpu in data["gpus"]}, {"<img src=x onerror=alert(1)>"})

    def test_a_sweep_in_which_all_failed_is_written_in_full(self):
        db = self.database()
        with sqlite3.connect(db) as connection:
            connection.execute("DELETE FROM config WHERE params LIKE '%\"VECTOR\": false%'"
                               " OR params LIKE '%\"VECTOR\":false%'")
            connection.execute("UPDATE outcome SET outcome = 'runtime', reason = 'misaligned address'")
        text = self.run_coord(self.folder, "report", db, "--show", "all").stdout
        self.assertIn("No configuration has a correct result and a time", text)
        self.assertIn("all 6 runtime: misaligned address\n    share VECTOR=true; no configuration is correct", text)
        lessons = json.loads(self.run_coord(self.folder, "report", db, "--json").stdout)["lessons"]
        self.assertEqual((lessons["timed"], lessons["failed"]), (0, 6))
        self.assertEqual(lessons["failures"][0]["unvaried"], [{"tunable": "VECTOR", "values": ["true"]}])

    def test_a_file_is_replaced_only_when_told(self):
        db = self.database()
        with open(self.path("mine.html"), "w") as f:
            f.write("mine")
        err = self.run_coord(self.folder, "report", db, "--html", "mine.html", code=2).stderr
        self.assertIn("'mine.html' exists already; --force overwrites it", err)
        with open(self.path("mine.html")) as f:
            self.assertEqual(f.read(), "mine")
        self.run_coord(self.folder, "report", db, "--html", "mine.html", "--force")
        self.read(self.path("mine.html"))
        err = self.run_coord(self.folder, "report", db, "--html", "none/x.html", code=1).stderr
        self.assertIn("'none/x.html': No such file or directory", err)
        self.run_coord(self.folder, "report", db, "--html", "x.html", "--json", code=2)


if __name__ == "__main__":
    unittest.main()
