"""The page of 'fa-coord serve' in Chromium, beside a sweep that is replayed."""

import os
import signal
import subprocess
import time
import unittest
import urllib.request

import pages

PATIENCE_S = 240


class Live(pages.Pages):

    def begin(self, *arguments, **how):
        process = subprocess.Popen([pages.COORD, *arguments], cwd=self.folder, env={**os.environ, "HOME": self.folder},
                                   text=True, **how)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE_S)
        if process.stdout:
            process.stdout.close()

    def until(self, what, check):
        deadline = time.monotonic() + PATIENCE_S
        while not (value := check()):
            if time.monotonic() > deadline:
                self.fail(f"{what}: {self.browser.run('document.body.innerText.slice(0, 600)')} {self.browser.complaints()}")
            time.sleep(0.05)
        return value

    def until_page(self, what, expression):
        return self.until(what, lambda: self.browser.run(expression))

    def serve(self, *arguments):
        server = self.begin("serve", *arguments, stdout=subprocess.PIPE)
        return server, server.stdout.readline().strip()

    def choose(self):
        """All that a reader may choose; returns it as it must be found again."""
        self.browser.run("""(() => {
            window.asked = window.planned = 0;
            const fetched = window.fetch, later = window.setTimeout;
            window.fetch = (at, how) => { asked += at === "version"; return fetched(at, how); };
            window.setTimeout = (call, ms) => { planned += ms === 2000; return later(call, ms); };
            fa.set_rule("BLOCK_M >= 32");
            const rows = document.querySelector("#ranking select");
            rows.value = "40";
            rows.dispatchEvent(new Event("change"));
            document.getElementById("configurations").scrollIntoView({ behavior: "instant" });
        })()""")
        self.settled()
        self.browser.run("""(() => {
            [...document.querySelectorAll("#configurations th button")].find(b => b.textContent.startsWith("key")).click();
            fa.pick(fa.state.chosen[3]);
            document.querySelector("#ranking details").open = true;
            const view = document.querySelector(".view");
            view.scrollTop = 56;
            view.focus({ preventScroll: true });
        })()""")
        return self.chosen()

    def chosen(self):
        return self.browser.run("""({
            rule: document.getElementById("rule").value, applied: fa.state.rule, hash: location.hash,
            picked: fa.data.key(fa.state.picked).slice(0, 8),
            card: document.querySelector("#card code").textContent.slice(0, 8),
            rows: document.querySelector("#ranking select").value,
            sorted: document.querySelector("#configurations th[aria-sort] button").textContent,
            table: document.querySelector("#ranking details").open,
            top: Math.round(document.getElementById("configurations").getBoundingClientRect().top),
            view: document.querySelector(".view").scrollTop,
            focus: document.activeElement.className,
        })""")

    def test_a_page_follows_a_sweep_and_keeps_what_was_chosen(self):
        pages.landscape(self.path("landscape.json"), 2000)
        sweep = self.begin("sweep", "--device", "replay=landscape.json", "--speed-up", "10", "--db", "live.db",
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until("there is a database", lambda: os.path.exists(self.path("live.db")))
        server, url = self.until("it is served", lambda: next(filter(lambda s: s[1], [self.serve("live.db")]), None))
        self.browser.open(url)
        self.until_page("there are times", "typeof fa === 'object' && fa.data?.ranked > 30 && fa.state.chosen.length > 10")
        self.until_page("it is live", "document.querySelector('#live.running') !== null")
        before, n = self.choose(), self.browser.run("fa.data.ranked")
        self.until_page("there is more", f"fa.data.ranked >= {n + 5}")
        self.assertEqual(self.chosen(), before)
        self.assertEqual(self.browser.run("fa.state.chosen.length < fa.data.n"), True)

        sweep.send_signal(signal.SIGINT)
        sweep.wait(PATIENCE_S)
        self.until_page("it has ended", "document.querySelector('#live strong').textContent.startsWith('Not running')")
        self.assertEqual(self.chosen(), before)
        self.assertEqual(self.browser.run("asked - planned"), 1, "it stopped asking")
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([at for at in self.browser.requests() if not at.startswith(url)], [])
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(PATIENCE_S), 0)

    def test_a_page_that_is_saved_asks_nothing(self):
        server, url = self.serve(self.database("record"))
        with urllib.request.urlopen(url) as page, open(self.path("saved.html"), "wb") as saved:
            saved.write(page.read())
        self.browser.open(self.path("saved.html"))
        self.settled()
        self.assertEqual(self.browser.run("document.getElementById('live')"), None)
        self.assertQuiet()
        self.assertEqual(len(self.browser.requests()), 1)

    def test_a_deleted_database_is_said_and_keeps_its_page(self):
        path = self.database("record")
        os.link(path, self.path("gone.db"))
        _, url = self.serve("gone.db")
        os.unlink(self.path("gone.db"))
        self.browser.open(url)
        self.until_page("it is said", "document.querySelector('#live.wrong')?.textContent.includes('deleted')")
        self.assertEqual(self.browser.run("fa.data.n > 0"), True)
        self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    unittest.main()
