"""The page of 'fa-coord report --html' in Chromium: pictures, filter, table, keys, and what is left without scripts."""

import json
import os
import shutil
import sqlite3
import unittest

import pages

SECTIONS = ["ranking", "configurations", "effects", "heatmap", "convergence", "parallel", "roofline", "pareto",
            "timeline", "gpus"]


class Page(pages.Pages):

    def test_every_section_has_its_picture_and_nothing_complains(self):
        for dark, width in ((False, 1400), (True, 390)):
            browser = self.open("record", dark=dark, width=width)
            self.see_all()
            self.assertEqual(browser.run("[...document.querySelectorAll('main > section')].map(s => s.id)"),
                             [*SECTIONS, "report"])
            without = browser.run("[...document.querySelectorAll('main > section')].filter(s => "
                                  "!s.querySelector('svg, table')).map(s => s.id)")
            self.assertEqual(without, [])
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), width, "the page is too wide")
            self.assertQuiet()

    def test_axes_have_no_labels_that_overlap(self):
        for name, width in (("record", 1400), ("record", 390), ("5000", 1400), ("5000", 390)):
            browser = self.open(name, width=width)
            self.see_all()
            self.assertEqual(browser.run("""[...document.querySelectorAll("svg")].flatMap(svg => {
                const boxes = [...svg.querySelectorAll("text")].filter(t => t.textContent && !t.closest(".bundles"))
                    .map(t => [t.textContent, t.getBoundingClientRect()]);
                const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
                return boxes.flatMap(([text, a], n) => boxes.slice(n + 1).filter(([, b]) => hit(a, b))
                    .map(([other]) => `${svg.getAttribute("aria-label")}: '${text}' and '${other}'`));
            })"""), [])

    def test_what_many_tunables_and_values_leave_out_is_said(self):
        """Of 20 tunables, the last one matters; the first has 50 values."""
        names = ["MANY", *(f"T{n:02}" for n in range(1, 20))]
        cache = {}
        for n in range(400):
            point = [n % 50, *((n * (3 + k) // 7 + n // (k + 1)) % 2 for k in range(1, 20))]
            ms = 1 + 3 * point[19] + 0.001 * (n % 17)
            cache[",".join(map(str, point))] = {**dict(zip(names, point)), "time": ms, "times": [ms, ms], "compile_time": 1.0,
                                                "benchmark_time": 1.0, "verification_time": 0}
        with open(self.path("wide.json"), "w", encoding="utf-8") as f:
            json.dump({"device_name": "A100", "kernel_name": "wide", "cache": cache,
                       "tune_params": {"MANY": list(range(50)), **{name: [0, 1] for name in names[1:]}}}, f)
        self.coord("import", "wide.json", "--out", "wide.db")
        browser = self.open("wide")
        self.see_all()
        said = browser.run("document.querySelector('#parallel').textContent")
        self.assertIn("Of 20 tunables, the 14 that explain most have an axis.", said)
        self.assertIn("T19", browser.run("[...document.querySelectorAll('#parallel svg text')].map(t => t.textContent)"))
        self.assertIn("the first 40 of 50 values", browser.run("document.querySelector('#effects').textContent"))
        self.assertQuiet()

    def test_odd_sweeps_have_a_page_too(self):
        """Few configurations, none that is correct, none that is chosen, one tunable value each."""
        base = os.path.join(pages.SOURCE, "tests", "fixtures", "compare", "base.db")
        for name, change, where in (("few", None, "1"), ("none_chosen", None, "0"), ("one", None, "rank = 1"),
                                    ("only_failures", "UPDATE outcome SET outcome = 'runtime', reason = 'misaligned address'", "1"),
                                    ("some_failures", "UPDATE outcome SET outcome = 'runtime', reason = 'x' WHERE config IN "
                                                      "(SELECT config FROM outcome ORDER BY config LIMIT 2)", "1")):
            with self.subTest(name):
                shutil.copy(base, self.path(f"{name}.db"))
                with sqlite3.connect(self.path(f"{name}.db")) as db:
                    if change:
                        db.execute(change)
                self.coord("report", f"{name}.db", "--html", f"{name}.html", "--where", where)
                browser = self.open(name)
                self.see_all()
                browser.run("fa.set_rule('median_s > 0')")
                self.settled()
                browser.run("fa.set_rule('')")
                self.settled()
                self.assertEqual(browser.run("document.querySelector('main') !== null"), True)
                self.assertEqual(browser.run("document.body.innerText.match(/NaN|undefined|Infinity/g)"), None)
                self.assertQuiet()

    def test_names_from_a_database_are_only_text(self):
        nasty = "</script><img src=x onerror=alert(1)><b>"
        shutil.copy(os.path.join(pages.SOURCE, "tests", "fixtures", "compare", "base.db"), self.path("nasty.db"))
        with sqlite3.connect(self.path("nasty.db")) as db:
            for change in ("UPDATE sweep SET name = ?", "UPDATE host SET name = ?", "UPDATE gpu SET name = ?",
                           "UPDATE shape SET name = name || ?", "UPDATE gate SET why = ?",
                           "UPDATE outcome SET outcome = 'runtime', reason = ? WHERE config IN"
                           " (SELECT config FROM outcome ORDER BY config LIMIT 2)"):
                db.execute(change, (nasty,))
        self.coord("report", "nasty.db", "--html", "nasty.html")
        browser = self.open("nasty")
        self.see_all()
        browser.run("fa.pick(fa.data.n - 1)")
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
        self.settled()
        self.assertEqual(browser.run("document.querySelectorAll('img, b, iframe').length"), 0)
        self.assertIn(nasty, browser.run("document.body.innerText"))
        self.assertQuiet()

    def test_an_address_with_nonsense_behind_it_opens_the_page(self):
        for nonsense in "%zz", "ffffffff", "<b>", "0", "report":
            self.browser.open(self.page("record") + "#" + nonsense)
            self.settled()
            self.assertEqual(self.browser.run("fa.state.picked"), -1, nonsense)
            self.assertQuiet()

    def figures(self, section):
        """The rows of the table below a picture."""
        self.browser.run(f"document.querySelector('#{section} .figures').open = true")
        self.settled()
        return self.browser.run(f"[...document.querySelectorAll('#{section} .figures tbody tr')].map(r => [...r.children].map(c => c.textContent))")

    def test_pictures_agree_with_the_report(self):
        report = json.loads(self.coord("report", self.database("record"), "--json"))
        browser = self.open("record")
        self.see_all()
        lessons = {(t["tunable"], v["value"]): v for t in report["lessons"]["tunables"] for v in t["values"]}
        effects = self.figures("effects")
        self.assertEqual(len(effects), len(lessons))
        for tunable, _, value, best, median, count in effects:
            wanted = lessons[tunable, value]
            self.assertAlmostEqual(float(best), 1e6 * wanted["best_s"], delta=0.06)
            self.assertAlmostEqual(float(median), 1e6 * wanted["median_s"], delta=0.06)
            self.assertEqual(int(count.replace(",", "")), wanted["timed"])
        best = min(r["normalised_s"] for r in report["results"])
        self.assertAlmostEqual(float(self.figures("convergence")[-1][3]), 1e6 * best, delta=0.01)
        for shape, row in zip([s for s in report["shapes"] for _ in range(2)], self.figures("roofline")):
            self.assertEqual(row[0], shape["name"])
            tensor = next(f["seconds"] for f in shape["floors"] if f["name"] == "tensor")
            self.assertAlmostEqual(float(row[3].split()[0]), 100 * tensor / (1e-6 * float(row[2])), delta=0.06)
        self.assertAlmostEqual(browser.run("fa.spent(fa.data)(fa.data.history.total_s)"), report["cost"]["total_usd"], places=3)
        hours = {(row[0], row[1]): row[3] for row in self.figures("timeline")}
        for name, h in report["cost"]["categories"].items():
            if h:
                self.assertAlmostEqual(float(hours["localhost", name].split()[0]), 100 * h / report["cost"]["total_hours"], delta=0.06)
        shapes = [s["name"] for s in report["shapes"]]
        times = [tuple(next(c["median_s"] for c in r["shapes"] if c["shape"] == s) for s in shapes) for r in report["results"]]
        front = [t for t in times if not any(o[0] <= t[0] and o[1] <= t[1] and o != t for o in times)]
        self.assertEqual(len(self.figures("pareto")), len(set(front)))

    def test_failures_say_what_they_share(self):
        browser = self.open("5000")
        self.see_all()
        text = browser.run("document.getElementById('failures').innerText")
        self.assertIn("all share VEC=8 UNROLL=8", text.replace("UNROLL=8 VEC=8", "VEC=8 UNROLL=8"))
        browser.run("document.querySelector('#failures button').click()")
        self.settled()
        self.assertEqual(browser.run("new Set(Array.from(fa.state.chosen, i => fa.data.outcome.words[fa.data.outcome.at[i]])).size"), 1)
        self.assertGreater(browser.run("fa.state.chosen.length"), 0)
        self.assertQuiet()

    def test_the_filter_chooses_what_where_chooses(self):
        browser = self.open("record")
        rule = "BLOCK_M = 128 AND SWIZZLE = 1 AND median_s < 1e-4"
        browser.run("document.getElementById('rule').focus()")
        browser.ask("Input.insertText", text=rule)
        browser.key("Enter", 13)
        browser.run(f"fa.set_rule({json.dumps(rule)})")
        chosen = json.loads(self.coord("report", self.database("record"), "--where", rule, "--json"))["results"]
        self.assertEqual(browser.run("Array.from(fa.state.chosen, i => fa.data.key(i))"),
                         [result["key"][:8] for result in chosen])
        self.assertEqual(browser.run("document.getElementById('chosen').textContent"), f"{len(chosen)} of 1,920")
        browser.run("fa.set_rule('BLOCK_MM = 128')")
        self.assertEqual(browser.run("document.getElementById('chosen').textContent"),
                         "there is no 'BLOCK_MM', at character 1")
        self.assertEqual(browser.run("fa.state.chosen.length"), len(chosen), "a rule that is wrong changes nothing")
        self.assertQuiet()

    def test_headings_sort_and_keys_choose_a_row(self):
        browser = self.open("record")
        self.see_all()
        browser.run("document.getElementById('configurations').scrollIntoView()")
        self.settled()
        browser.run("[...document.querySelectorAll('.rows th button')].find(b => b.textContent.startsWith('registers')).click()")
        self.assertEqual(browser.run("document.querySelector('.rows th[aria-sort]').getAttribute('aria-sort')"), "ascending")
        column = browser.run("[...document.querySelectorAll('.rows th')].findIndex(h => h.textContent.startsWith('registers'))")
        shown = browser.run(f"[...document.querySelectorAll('.rows tbody tr:not(.space)')].map(r => Number(r.children[{column}].textContent))")
        self.assertEqual(shown, sorted(shown))
        browser.run("document.querySelector('.rows th button').click()")
        browser.run("document.querySelector('.view').focus()")
        for _ in range(3):
            browser.key("ArrowDown", 40)
        self.settled()
        self.assertEqual(browser.run("fa.data.rank[fa.state.picked]"), 3)
        self.assertIn(browser.run("location.hash.slice(1)"), browser.run("document.getElementById('card').textContent"))
        self.assertQuiet()

    def test_words_sort_both_ways_and_nothing_is_lost(self):
        browser = self.open("5000")
        self.see_all()
        for name, wanted in (("LAYOUT", ["col", "row"]), ("outcome", ["compile", "correct", "runtime"]),
                             ("BLOCK_M", ["16", "32", "64", "128", "256"])):
            for turn in 1, -1:
                order = browser.run(f"""(() => {{
                    const heads = [...document.querySelectorAll('.rows th button')];
                    const c = heads.findIndex(h => h.textContent.split(' ')[0] === '{name}'), view = document.querySelector('.view');
                    heads[c].click();
                    const first = document.querySelector('.rows tbody tr:not(.space)').children[c].textContent;
                    return [first, document.querySelector('.rows').getAttribute('aria-rowcount')];
                }})()""")
                self.assertEqual(order, [wanted[::turn][0], "5001"], name)
        self.assertQuiet()

    def test_a_link_opens_its_configuration(self):
        browser = self.open("record")
        key = browser.run("fa.data.key(1234)")
        browser.open(self.page("record") + f"#{key}")
        self.settled()
        self.assertEqual(browser.run("fa.state.picked"), 1234)
        self.assertIn(key, browser.run("document.querySelector('.rows .picked').textContent"))
        values = dict(pair.split("=") for pair in browser.run("fa.describe(1234)").split())
        self.assertEqual(json.loads(browser.run("fa.json(1234)")), {name: int(value) for name, value in values.items()})
        self.assertIn(key, self.coord("explain", self.database("record"), ",".join(f"{n}={v}" for n, v in values.items())))

    def test_what_is_copied_is_on_the_clipboard(self):
        browser = self.open("record")
        browser.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        browser.run("fa.pick(7)")
        self.see_all()
        browser.run("fa.pick(7)")
        self.assertTrue(browser.run("fa.copy(fa.json(7))"))
        self.assertEqual(browser.run("document.querySelectorAll('#card .buttons button').length"), 4)

    def test_a_brush_chooses_and_becomes_a_rule(self):
        browser = self.open("record")
        self.see_all()
        browser.run("document.getElementById('parallel').scrollIntoView({ block: 'center', behavior: 'instant' })")
        self.settled()
        x, top, bottom = browser.run("""(() => { const r = document.querySelector('#parallel .brush .overlay').getBoundingClientRect();
            return [r.x + r.width / 2, r.top, r.bottom]; })()""")
        browser.drag(x, top + 2, top + (bottom - top) / 4)  # of BLOCK_M only the largest value
        self.settled()
        browser.run("[...document.querySelectorAll('#parallel button')].find(b => b.textContent === 'Filter by them').click()")
        self.assertEqual(browser.run("document.getElementById('rule').value"), "BLOCK_M IN (256)")
        self.assertEqual(browser.run("fa.state.chosen.length"), 768)
        self.assertQuiet()

    def test_without_scripts_the_tables_and_one_picture_are_left(self):
        browser = self.open("record", scripts=False)
        nodes = browser.ask("DOM.getDocument", depth=-1)["root"]["nodeId"]
        query = lambda what: browser.ask("DOM.querySelectorAll", nodeId=nodes, selector=what)["nodeIds"]
        self.assertEqual(len(query("#plot svg circle")), 20)
        self.assertGreater(len(query("#report table")), 5)
        self.assertEqual(len(query("main, nav, input")), 0)
        box = browser.ask("DOM.getBoxModel", nodeId=query("#plot svg")[0])["model"]
        self.assertGreater(box["height"], 300)
        self.assertTrue(query("noscript p"))

    def test_print_shows_the_report_in_full(self):
        browser = self.open("record")
        browser.run("dispatchEvent(new Event('beforeprint'))")
        self.assertTrue(browser.run("document.querySelector('#report details').open"))
        self.assertEqual(browser.run("fa.sections.filter(s => s.stale).length"), 0)
        self.assertGreater(len(browser.ask("Page.printToPDF")["data"]), 10000)
        self.assertQuiet()

    def test_a_page_of_5000_is_small(self):
        self.assertLessEqual(os.path.getsize(self.page("5000")), 900_000)
        fixed = os.path.getsize(self.page("record"))
        data = self.open("record").run("document.getElementById('data').textContent.length")
        each = self.browser.run("JSON.stringify(JSON.parse(document.getElementById('data').textContent).configs).length / fa.data.n")
        print(f"\nfigure: page of 5,000 configurations of 9 tunables and 2 shapes: {(fixed + (5000 - 1920) * each) / 1e3:.0f} kB")
        self.assertLessEqual(fixed + (5000 - 1920) * each, 900_000, data)


if __name__ == "__main__":
    unittest.main()
