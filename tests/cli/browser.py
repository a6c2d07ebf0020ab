"""A headless Chromium at the end of a pipe, by the DevTools protocol: no package is needed.

    with Browser() as browser:
        page = browser.open("report.html")
        page.run("document.title")
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def chromium():
    """The program, or None."""
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


class Browser:
    def __enter__(self):
        self.home = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():  # the protocol wants them to be 3 and 4
            os.dup2(to_browser, 100)
            os.dup2(from_browser, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions", f"--user-data-dir={self.home}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.sent = 0
        self.rest = b""
        self.events = []
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.home, ignore_errors=True)

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, **kinds):
        return Page(self, path, **kinds)


class Page:
    def __init__(self, browser, path, scripts=True, dark=False, width=1200, height=900):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.events.clear()
        self.url = pathlib.Path(path).resolve().as_uri()
        self.call("Page.navigate", url=self.url)
        end = time.monotonic() + 120
        while not any(e.get("method") == "Page.loadEventFired" for e in browser.events):
            browser.events.append(browser.read())
            if time.monotonic() > end:
                raise RuntimeError("the page does not load")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def run(self, expression):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def complaints(self):
        """What the console says."""
        self.run("0")
        out = []
        for event in self.browser.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                out.append(params["exceptionDetails"].get("text", "") + str(params["exceptionDetails"].get("exception", {}).get("description", "")))
            if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                out.append(params["entry"]["text"])
            if method == "Runtime.consoleAPICalled":
                out.append(str(params["args"]))
        return out

    def requests(self):
        """Addresses that were asked for, the page's own aside."""
        urls = [e["params"]["request"]["url"] for e in self.browser.events if e.get("method") == "Network.requestWillBeSent"]
        return [u for u in urls if u.split("#")[0] != self.url]

    def settle(self):
        """Until what was done is drawn, and events of scrolling are over."""
        self.run("new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(0))), 50))")

    def move_to(self, x, y):
        self.settle()
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def key(self, name):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name)

    def picture(self, file, clip=None):
        """All of the page, or {x, y, width, height} of it, as PNG."""
        params = {"format": "png", "captureBeyondViewport": True}
        if clip is None:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000)}
        params["clip"] = {**clip, "scale": 1}
        data = self.call("Page.captureScreenshot", **params)["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))
