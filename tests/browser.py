"""A headless Chromium in which a test types and clicks as people do: its DevTools protocol over two pipes.

Keys and mouse go through the browser's own input, so that what a key does by itself (moving the focus, pressing a
button, choosing among radio buttons) is part of the test. Nothing but Chromium is needed.
"""

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

# Key to what the protocol wants to know of it: code, number, and the text that it enters.
KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "ArrowRight": ("ArrowRight", 39, ""),
    "End": ("End", 35, ""),
}


class Browser:
    """One page in a browser, with its profile in a folder."""

    def __init__(self, folder: Path):
        program = shutil.which("chromium")
        if program is None:
            pytest.skip("chromium is not installed: bash envs/chromium.sh")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def pipes():
            # The protocol's pipes are the descriptors 3 and 4; copies first, lest one overwrite the other.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [
                program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                f"--user-data-dir={folder / 'profile'}", "--window-size=1000,900", "--remote-debugging-pipe",
                "about:blank",
            ],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session = b"", 0, None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(info["targetId"] for info in targets if info["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._session = None
            self.call("Browser.close")
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self._in)
            os.close(self._out)

    def call(self, method, **params):
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session and not method.startswith("Browser."):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self, seconds=60):
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            self._buffer += os.read(self._in, 1 << 16)
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def evaluate(self, expression):
        """Return the value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, condition, seconds=20):
        """Wait until a condition holds in the page."""
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.02)

    def press(self, key, times=1):
        """Press a key."""
        code, number, text = KEYS[key]
        fields = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", **fields, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def place(self, selector):
        """Return the middle of an element in the window, after it was scrolled there."""
        return self.evaluate(
            f"""(() => {{
              const found = document.querySelector({json.dumps(selector)});
              found.scrollIntoView({{block: "center"}});
              const box = found.getBoundingClientRect();
              return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )

    def click(self, selector):
        """Click on an element."""
        x, y = self.place(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", buttons=0, clickCount=1)

    def mouse(self, kind, x, y, **buttons):
        """Send one event of the mouse."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **buttons)
