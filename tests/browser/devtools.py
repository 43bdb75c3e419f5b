"""Chromium without a window, driven by its DevTools protocol over a pipe: no port, no package.

https://chromedevtools.github.io/devtools-protocol; messages are JSON, each ended by a NUL.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_S = 240


class Chromium:

    def __init__(self, folder):
        from_browser, to_us = os.pipe()
        from_us, to_browser = os.pipe()
        self.incoming, self.outgoing = from_browser, to_browser
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (from_us, to_us)]
        command = [PROGRAM, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   f"--user-data-dir={folder}/chromium", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # root may not make the namespaces that it needs
        with open(f"{folder}/chromium.log", "wb") as log:
            # The protocol's descriptors are 3 and 4, which are in use here, so that nothing of subprocess is there.
            self.process = subprocess.Popen(
                command, pass_fds=(3, 4), preexec_fn=lambda: (os.dup2(high[0], 3), os.dup2(high[1], 4)),
                env={**os.environ, "HOME": folder}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for fd in (from_us, to_us, *high):
            os.close(fd)
        self.received, self.last, self.session, self.events = b"", 0, None, []
        pages = [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.ask(f"{domain}.enable")

    def _message(self):
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self.received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.incoming], [], [], left)[0]:
                raise AssertionError(f"Chromium said nothing for {PATIENCE_S} s")
            part = os.read(self.incoming, 1 << 20)
            if not part:
                raise AssertionError("Chromium has ended")
            self.received += part
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        """Send a command and return its result; events that come before it are kept."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.outgoing, json.dumps(message).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") != self.last:
                self.events.append(message)
            elif "error" in message:
                raise AssertionError(f"{method}: {message['error']}")
            else:
                return message["result"]

    def event(self, method):
        while True:
            for event in self.events:
                if event.get("method") == method:
                    self.events.remove(event)
                    return event["params"]
            self.events.append(self._message())

    def run(self, expression):
        """The value of a JavaScript expression, of a promise the value that it comes to."""
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(str(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def open(self, path, width=1400, dark=False, scripts=True, print_=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", media="print" if print_ else "",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events = []  # a page that loads itself again has more than one end of loading
        self.ask("Page.navigate", url="about:blank")
        self.event("Page.loadEventFired")
        self.events = []
        self.ask("Page.navigate", url=path if path.startswith("http:") else f"file://{path}")
        self.event("Page.loadEventFired")

    def complaints(self):
        """What stands in the console, and exceptions."""
        return [event["params"] for event in self.events if event.get("method") in
                ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def key(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def drag(self, x, y, to_y):
        for kind, at, buttons in (("mouseMoved", y, 0), ("mousePressed", y, 1), ("mouseMoved", (y + to_y) / 2, 1),
                                  ("mouseMoved", to_y, 1), ("mouseReleased", to_y, 0)):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=at, button="left" if kind != "mouseMoved" or buttons else "none",
                     buttons=buttons, clickCount=int(kind in ("mousePressed", "mouseReleased")))

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.ask("Browser.close")
        except (AssertionError, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.incoming)
        os.close(self.outgoing)
