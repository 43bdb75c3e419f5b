"""Pages for the tests in Chromium, and one browser for all of them."""

import gzip
import itertools
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import devtools

SOURCE = os.environ["FA_SOURCE_DIR"]
COORD = os.path.join(os.environ["FA_BIN_DIR"], "fa-coord")
RECORD = os.path.join(SOURCE, "docs", "results", "h200", "record", "run_1.db.gz")

GEMM = {"BLOCK_M": [16, 32, 64, 128, 256], "BLOCK_N": [16, 32, 64, 128, 256], "WARPS": [1, 2, 4, 8],
        "STAGES": [1, 2, 3, 4, 5], "UNROLL": [1, 2, 4, 8], "VEC": [1, 2, 4, 8], "SWIZZLE": [0, 1],
        "LAYOUT": ["row", "col"], "SPLIT": [1, 2, 3, 4, 8, 16, 32]}


def gemm(draw, at):
    """What Kernel Tuner would have recorded of one configuration: milliseconds, or a failure."""
    if at["BLOCK_M"] * at["BLOCK_N"] * at["STAGES"] > 4 * 128 * 128:
        return {"time": "RuntimeFailedConfig"}
    if at["VEC"] == at["UNROLL"] == 8:
        return {"time": "CompilationFailedConfig"}
    ms = (0.05 + 2e-4 * abs(at["BLOCK_M"] - 128) + 3e-4 * abs(at["BLOCK_N"] - 64) + 0.02 * abs(at["STAGES"] - 3)
          + 0.01 * (8 - at["VEC"]) + 0.01 * (at["LAYOUT"] == "col") + 0.02 * abs(at["WARPS"] - 4) + 0.01 * draw.random())
    times = [ms * (1 + draw.gauss(0, 0.004)) for _ in range(5)]
    return {"time": sum(times) / 5, "times": times}


def landscape(path, count):
    """A cache file of Kernel Tuner with so many configurations."""
    draw = random.Random(3)
    points = list(itertools.product(*GEMM.values()))
    draw.shuffle(points)
    cache = {}
    for point in points[:count]:
        at = dict(zip(GEMM, point))
        cache[",".join(map(str, point))] = {**at, **gemm(draw, at), "compile_time": 500.0, "benchmark_time": 20.0,
                                            "verification_time": 0, "timestamp": "2026-01-01 00:00:00"}
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"device_name": "A100", "kernel_name": "gemm", "problem_size": "4096", "objective": "time",
                   "tune_params_keys": list(GEMM), "tune_params": GEMM, "cache": cache}, f)


class Pages(unittest.TestCase):
    """A folder, a browser, and pages that are made when they are first asked for."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="fa-browser-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        if not devtools.PROGRAM:
            raise unittest.SkipTest("chromium is not installed: deploy/setup.sh --browser installs it")
        cls.made = {}
        cls.browser = devtools.Chromium(cls.folder)
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def coord(cls, *arguments):
        return subprocess.run([COORD, *arguments], cwd=cls.folder, capture_output=True, text=True, check=True,
                              env={**os.environ, "HOME": cls.folder}).stdout

    @classmethod
    def database(cls, name):
        """'record': a sweep of flash attention on a GPU; a number: so many configurations, imported."""
        path = cls.path(f"{name}.db")
        if os.path.exists(path):
            return path
        if name == "record":
            with gzip.open(RECORD) as packed, open(path, "wb") as f:
                shutil.copyfileobj(packed, f)
        else:
            landscape(cls.path(f"{name}.json"), int(name))
            cls.coord("import", f"{name}.json", "--out", path)
        return path

    @classmethod
    def page(cls, name):
        path = cls.path(f"{name}.html")
        if not os.path.exists(path):
            cls.coord("report", cls.database(name), "--html", path)
        return path

    def open(self, name, **how):
        self.browser.open(self.page(name), **how)
        return self.browser

    def settled(self):
        """After what was begun is drawn."""
        self.browser.run("""(async () => {
            do
                await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
            while (fa.sections.some(s => s.seen && s.stale));
        })()""")

    def see_all(self):
        """Scroll through the page, so that every section is drawn."""
        self.browser.run("""(async () => {
            for (const section of document.querySelectorAll("main > section")) {
                section.scrollIntoView({ behavior: "instant" });
                await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
                for (let n = 0; n < 200 && fa.sections.find(s => s.node === section)?.stale; n++)
                    await new Promise(done => requestAnimationFrame(done));
            }
        })()""")

    def assertQuiet(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([url for url in self.browser.requests() if not url.startswith("file://" + self.folder)], [])
