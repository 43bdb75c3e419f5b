#!/usr/bin/env python3
"""Make the pictures of docs/page.md again: screenshots.py FOLDER, with FA_SOURCE_DIR and FA_BIN_DIR as for the tests."""

import base64
import os
import sys

import pages


class Screenshots(pages.Pages):

    def picture(self, path, selector=None):
        clip = {}
        if selector:
            self.browser.run(f"document.querySelector('{selector}').scrollIntoView()")
            self.settled()
            x, y, width, height = self.browser.run(f"""(() => {{
                const box = document.querySelector('{selector}').getBoundingClientRect();
                return [box.x + scrollX - 12, box.y + scrollY + 6, box.width + 24, box.height];
            }})()""")
            clip = {"clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}, "captureBeyondViewport": True}
        self.settled()
        image = self.browser.ask("Page.captureScreenshot", format="png", optimizeForSpeed=False, **clip)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(image))

    def runTest(self):
        folder = sys.argv[1]
        os.makedirs(folder, exist_ok=True)
        self.open("record", width=1100)
        self.settled()
        self.picture(os.path.join(folder, "page.png"))
        self.open("record", width=1100, dark=True)
        self.see_all()
        self.picture(os.path.join(folder, "parallel.png"), "#parallel")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: screenshots.py FOLDER")
    Screenshots.setUpClass()
    try:
        Screenshots().runTest()
    finally:
        Screenshots.doClassCleanups()
