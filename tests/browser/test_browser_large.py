"""Pages of 5,000 and 100,000 configurations: nothing complains; how long first paint and interaction take is printed."""

import os
import unittest

import pages

INTERACTIONS = {
    "filter": "fa.set_rule('BLOCK_M = 128 AND STAGES > 2 AND median_s < 1e-3')",
    "filter at the table": "document.getElementById('configurations').scrollIntoView({ behavior: 'instant' }); fa.set_rule('STAGES > 2')",
    "clear the filter": "fa.set_rule('')",
    "sort by time": "document.querySelectorAll('.rows th button')[1].click()",
    "sort by a tunable": "document.querySelectorAll('.rows th button')[4].click()",
    "scroll the table": "document.querySelector('.view').scrollTop = 5e5",
    "choose a row": "fa.pick(4000)",
    "change the heat map": "(() => { const s = document.querySelectorAll('#heatmap select')[2]; s.value = 'median'; s.dispatchEvent(new Event('change')); })()",
}


class Looks(pages.Pages):

    def cpu_ms(self):
        """Time of the page's thread, which another program's load does not change."""
        metrics = self.browser.ask("Performance.getMetrics")["metrics"]
        return 1e3 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def interact(self, script):
        """CPU time until the page answers, and until all that is seen is drawn; and the first of them by the clock."""
        begun = self.cpu_ms()
        wall = self.browser.run(f"""(async () => {{
            const begun = performance.now();
            {script};
            await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
            return performance.now() - begun;
        }})()""")
        first = self.cpu_ms()
        self.settled()
        return first - begun, self.cpu_ms() - begun, wall

    def look(self, name, count):
        self.browser.ask("Performance.enable", timeDomain="threadTicks")
        browser = self.open(name)
        self.settled()
        self.assertEqual(browser.run("fa.data.n"), count)
        paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        self.see_all()
        print(f"\nfigure: {count} configurations: {os.path.getsize(self.page(name)) / 1e3:.0f} kB, first paint after {paint:.0f} ms")
        for what, script in INTERACTIONS.items():
            first, whole, wall = zip(*(self.interact(script) for _ in range(3)))
            print(f"figure: {count} configurations: {what}: answer after {max(first):.0f} ms of CPU ({max(wall):.0f} ms on "
                  f"this machine now), all that is seen after {max(whole):.0f} ms of CPU")
        self.assertLess(browser.run("document.querySelectorAll('*').length"), 12000, "rows and marks are paged and binned")
        self.assertQuiet()


class Large(Looks):

    def test_5000(self):
        self.look("5000", 5000)


class VeryLarge(Looks):

    def test_100000(self):
        self.look("100000", 100000)


if __name__ == "__main__":
    unittest.main()
