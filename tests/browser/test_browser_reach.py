"""The page can be used without a mouse and without eyes: names, roles, contrast; by own checks, and by axe-core where
npm's registry answers."""

import os
import shutil
import subprocess
import unittest

import pages

AXE = "axe-core@4.10.2"

# Relative luminance and contrast: Web Content Accessibility Guidelines 2.2, 1.4.3.
CONTRAST = """(() => {
    const rgb = text => (/rgba?\\(([^)]+)\\)/.exec(text)?.[1] ?? "0,0,0,0").split(",").map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
    function behind(node) {
        for (; node; node = node.parentElement) {
            const colour = rgb(getComputedStyle(node).backgroundColor);
            if ((colour[3] ?? 1) > 0.99)
                return colour;
        }
        return rgb(getComputedStyle(document.documentElement).colorScheme === "dark" ? "rgb(0,0,0)" : "rgb(255,255,255)");
    }
    const faults = new Set();
    for (const node of document.querySelectorAll("body *")) {
        const text = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        if (!text || !node.getClientRects().length || node.closest("script, noscript, #heatmap svg"))
            continue;
        const style = getComputedStyle(node);
        const [a, b] = [light(rgb(node.ownerSVGElement ? style.fill : style.color)), light(behind(node))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5)
            faults.add(`${node.tagName}.${node.getAttribute("class") ?? ""} '${node.textContent.slice(0, 20)}': ${ratio.toFixed(2)}`);
    }
    return [...faults];
})()"""


class Reach(pages.Pages):

    def everything(self, **how):
        browser = self.open("record", **how)
        self.see_all()
        browser.run("fa.pick(3)")
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
        self.settled()
        return browser

    def test_text_stands_out(self):
        for dark in False, True:
            self.assertEqual(self.everything(dark=dark).run(CONTRAST), [], f"dark: {dark}")

    def test_what_can_be_used_has_a_name_and_a_role(self):
        browser = self.everything()
        nameless = []
        for node in browser.ask("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if not node["ignored"] and role in ("button", "link", "textbox", "combobox", "image", "region", "navigation"):
                if not node.get("name", {}).get("value"):
                    nameless.append(role)
        self.assertEqual(nameless, [])
        levels = browser.run("[...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)
        pictures = browser.run("[...document.querySelectorAll('main svg')].filter(s => !s.getAttribute('aria-label')).length")
        self.assertEqual(pictures, 0)
        self.assertEqual(browser.run("[...new Set([...document.querySelectorAll('[id]')].map(e => e.id))].length"),
                         browser.run("document.querySelectorAll('[id]').length"))

    def test_pictures_have_their_figures_as_a_table(self):
        browser = self.everything()
        without = browser.run("fa.sections.filter(s => s.node.querySelector('svg') && !s.node.querySelector('.figures td'))"
                              ".map(s => s.id)")
        self.assertEqual(without, ["parallel"], "the table of the configurations has the same figures")

    def test_the_tab_key_reaches_the_filter_the_table_and_all_that_scrolls(self):
        browser = self.everything()
        self.assertEqual(browser.run("""[...document.querySelectorAll("div, nav")].filter(e =>
            ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1
            && !e.hasAttribute("tabindex") && !e.querySelector("a, button, input, select, [tabindex]")).map(e => e.outerHTML.slice(0, 80))"""), [])
        browser.run("scrollTo(0, 0); document.activeElement.blur()")
        reached = set()
        for _ in range(60):
            browser.key("Tab", 9)
            reached.add(browser.run("document.activeElement.id || document.activeElement.className || document.activeElement.tagName"))
        self.assertIn("rule", reached)
        self.assertIn("view", reached)

    def test_axe_finds_nothing_serious(self):
        if not shutil.which("npm"):
            self.skipTest("npm is not installed, so axe-core is not run")
        packed = subprocess.run(["npm", "pack", "--silent", "--fetch-retries=0", "--fetch-timeout=20000", AXE], cwd=self.folder,
                                env={**os.environ, "HOME": self.folder}, capture_output=True, text=True)
        if packed.returncode:
            self.skipTest("npm's registry does not answer, so axe-core is not run")
        subprocess.run(["tar", "xzf", packed.stdout.split()[-1], "package/axe.min.js"], cwd=self.folder, check=True)
        with open(self.path("package/axe.min.js"), encoding="utf-8") as f:
            axe = f.read()
        for dark, width in ((False, 1400), (True, 390)):
            browser = self.everything(dark=dark, width=width)
            browser.ask("Runtime.evaluate", expression=axe)
            found = browser.run("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => "
                                "`${v.impact} ${v.id} ${v.nodes[0].html.slice(0, 100)}`))")
            print(f"\naxe, {width} px, {'dark' if dark else 'light'}: {found or 'nothing'}")
            self.assertEqual([one for one in found if one.startswith(("serious", "critical"))], [])


if __name__ == "__main__":
    unittest.main()
