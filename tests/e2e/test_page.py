"""fa-coord report of a stored sweep: the page for a browser, and a sweep without a winner."""

import base64
import gzip
import hashlib
import html.parser
import json
import os
import pathlib
import random
import shutil
import sqlite3
import unittest

import checksums
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


def indices(text, states, n):
    """The indices of a column 'at' (docs/page.md)."""
    held, out = 0, []
    while states ** (held + 1) <= 36:
        held += 1
    for digit in text:
        for k in range(held):
            out.append(int(digit, 36) // states ** k % states)
    return out[:n]


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
        err = self.run_coord(self.folder, "report", db, "--html", "none/x.html", code=2).stderr
        self.assertIn("'none/x.html': there is no folder 'none'", err)
        self.run_coord(self.folder, "report", db, "--html", "x.html", "--json", code=2)

    def wide(self, tunables=40, configs=5000, values=2):
        """Import a record of so many tunables, by default the most that a space of 2^40 has; returns the points."""
        draw = random.Random(5)
        names = [f"TUNABLE_{i:02}" for i in range(tunables)]
        points = set()
        while len(points) < configs:
            points.add(tuple(draw.randrange(values) for _ in names))
        points = sorted(points)
        cache = {}
        for point in points:
            ms = 1 + sum(point) / 10 + draw.random() / 100
            times = [ms * (1 + draw.gauss(0, 0.004)) for _ in range(5)]
            cache[",".join(map(str, point))] = {**dict(zip(names, point)), "time": sum(times) / 5, "times": times,
                                                "compile_time": 500.0, "benchmark_time": 20.0, "verification_time": 0}
        with open(self.path("wide.json"), "w") as f:
            json.dump({"device_name": "A100", "kernel_name": "wide", "cache": cache,
                       "tune_params": {name: list(range(values)) for name in names}}, f)
        self.run_coord(self.folder, "import", "wide.json", "--out", "wide.db")
        return points

    def written(self, db, name):
        self.run_coord(self.folder, "report", db, "--html", name)
        return self.read(self.path(name))

    def add_shapes(self, db, shapes):
        """Give an imported record of one shape these further shapes, each with times of its own; returns all times."""
        draw, times = random.Random(7), {}

        def slower(samples, config, shape):
            times[shape, config] = json.loads(samples)[0] * (1 + draw.random())
            return json.dumps([times[shape, config]] * 5)

        with sqlite3.connect(self.path(db)) as connection:
            connection.create_function("slower", 3, slower)
            connection.create_function("median_of", 2, lambda config, shape: times[shape, config])
            for n, name in enumerate(shapes, 1):
                given = {"position": str(n), "name": f"'{name}'", "nonce": f"nonce || '-{n}'", "shape": f"'{name}'",
                         "samples": f"slower(samples, config, '{name}')", "median_s": f"median_of(config, '{name}')"}
                for table in ("shape", "result", "outcome"):
                    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                    connection.execute(f"INSERT INTO {table} SELECT {', '.join(given.get(c, c) for c in columns)}"
                                       f" FROM {table} WHERE {'position = 0' if table == 'shape' else 'nonce NOT LIKE ' + repr('%-%')}")
            for table in ("shape", "result", "outcome"):
                checksums.seal(connection, table)
        return times

    def test_twelve_shapes_of_5000_configurations_fit(self):
        """Of many shapes the page has the times of those that are fastest at some shape, and says so."""
        points = self.wide(tunables=8, values=5)
        shapes = [f"s{n}" for n in range(1, 12)]
        times = self.add_shapes("wide.db", shapes)
        text, page = self.written("wide.db", "wide.html")
        if not page.scripts:
            self.skipTest("this build has no D3, so its pages have no data")
        rig.figure("page of 5,000 configurations at 12 shapes", len(text.encode()) / 1e3, "kB")
        self.assertLessEqual(len(text.encode()), 900_000)
        data = json.loads(page.data)
        configs, digits = data["configs"], data["configs"]["digits"]
        self.assertEqual(configs["n"], len(points))
        keys = [configs["keys"][digits * i:digits * (i + 1)] for i in range(configs["n"])]
        self.assertEqual([len(column) for column in configs["median_ns"]], [len(points)] + 11 * [len(points) * 3 // 4 // 11])
        for column, shape in zip(configs["median_ns"][1:], shapes):
            there = {keys[place]: ns for place, ns in zip(configs["median_places"], column)}
            at_shape = {config[:digits]: s for (name, config), s in times.items() if name == shape}
            fastest = sorted(at_shape, key=at_shape.get)[:20]
            self.assertLessEqual(set(fastest), set(there))
            for key, ns in there.items():
                self.assertAlmostEqual(ns / 1e9, at_shape[key], delta=1e-4 * at_shape[key])

    def test_forty_tunables_of_5000_configurations_fit(self):
        """What an import does not have (a second shape, a metric, a verdict, a history) is as large as in a record of a GPU."""
        points = self.wide()
        text, page = self.written("wide.db", "wide.html")
        if not page.scripts:
            self.skipTest("this build has no D3, so its pages have no data")
        configs = json.loads(page.data)["configs"]
        columns = [indices(words["at"], len(words["words"]), len(points)) for words in configs["tunables"]]
        self.assertEqual(sorted(zip(*columns)), sorted(map(tuple, points)))

        with gzip.open(os.path.join(rig.SOURCE, "docs", "results", "h200", "record", "run_1.db.gz")) as packed:
            with open(self.path("h200.db"), "wb") as f:
                shutil.copyfileobj(packed, f)
        record = json.loads(self.written("h200.db", "h200.html")[1].data)
        had = record["configs"]
        more = [had["median_ns"][1], *(had[name] for name in ("normalised_ns", "metrics", "registers", "spill_bytes",
                                                              "host", "gpu", "warnings", "settled_s"))]
        registers = had["registers"]
        self.assertEqual(sum(registers["numbers"][i] is not None for i in
                             indices(registers["at"], len(registers["numbers"]), had["n"])), record["counts"]["correct"])
        size = len(text.encode()) + sum(len(json.dumps(column, separators=(",", ":"))) for column in more) \
            * len(points) // had["n"] + sum(len(json.dumps(record[name], separators=(",", ":"))) for name in ("verdict", "history"))
        rig.figure("page of 5,000 configurations of 40 tunables and 2 shapes", size / 1e3, "kB")
        self.assertLessEqual(size, 900_000)


if __name__ == "__main__":
    unittest.main()
