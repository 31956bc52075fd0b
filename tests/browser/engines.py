"""Two more engines beside Chromium, by what they bring: WebDriver for WebKitGTK, BiDi for Firefox."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from websocket import create_connection

HERE = "127.0.0.1"
WIDTH, HEIGHT = 1240, 900
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
WEBKIT = shutil.which("WebKitWebDriver")
MINI = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
DISPLAY = shutil.which("Xvfb")
PREFERENCES = """\
user_pref("network.proxy.type", 1);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("ui.prefersReducedMotion", 1);
user_pref("ui.primaryPointerCapabilities", 6);
user_pref("ui.allPointerCapabilities", 6);
"""
"""Of Firefox: nobody is asked over the network, since nobody listens at the port, and nothing moves. It
has a mouse (2 is a fine pointer, 4 one that can hover), because without a window there would be none."""


class Engine(Protocol):
    """A browser with one page."""

    def open(self, url: str) -> None:
        """Go there, and wait until the page is loaded."""

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, as far as JSON can say it."""


class Firefox:
    """Firefox, over its WebSocket (W3C, *WebDriver BiDi*)."""

    def __init__(self, address: str):
        self.socket = create_connection(f"{address}/session", suppress_origin=True, timeout=60)
        self.count = 0
        self.call("session.new", capabilities={})
        (tab,) = self.call("browsingContext.getTree")["contexts"]
        self.tab = tab["context"]
        viewport = {"width": WIDTH, "height": HEIGHT}
        self.call("browsingContext.setViewport", context=self.tab, viewport=viewport)

    def call(self, method: str, **params: Any) -> Any:
        """Send a command, and wait for its answer."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        answer: dict[str, Any] = {}
        while answer.get("id") != self.count:  # an event comes without
            answer = json.loads(self.socket.recv())
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, url: str) -> None:
        self.call("browsingContext.navigate", context=self.tab, url=url, wait="complete")

    def ask(self, expression: str) -> Any:
        said = self.call(
            "script.evaluate",
            expression=stated(expression),
            target={"context": self.tab},
            awaitPromise=False,
        )
        assert said["type"] == "success", said
        return json.loads(said["result"]["value"])


class WebKit:
    """WebKitGTK's MiniBrowser, over HTTP (W3C, *WebDriver*)."""

    def __init__(self, port: int):
        self.address = f"http://{HERE}:{port}/session"
        options = {"binary": str(MINI[-1]), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self.address += "/" + self.call("", wanted)["sessionId"]
        self.call("/window/rect", {"width": WIDTH, "height": HEIGHT + 100})

    def call(self, path: str, data: dict[str, Any]) -> Any:
        """Post a command; its answer."""
        request = urllib.request.Request(self.address + path, json.dumps(data).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        self.call("/url", {"url": url})

    def ask(self, expression: str) -> Any:
        script = {"script": f"return {stated(expression)}", "args": []}
        return json.loads(self.call("/execute/sync", script))


def stated(expression: str) -> str:
    """The value of an expression as a text; what is none is null."""
    return f'(JSON.stringify({expression}) ?? "null")'


@contextmanager
def running(*command: str, **options: Any) -> Iterator[subprocess.Popen]:
    """A program, until the block ends."""
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        if process.stdout:
            process.stdout.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Firefox without a window, with a profile of its own."""
    assert FIREFOX
    (folder / "user.js").write_text(PREFERENCES)
    log = folder / "log"
    command = [
        FIREFOX,
        "--headless",
        "--no-remote",
        "--remote-debugging-port=0",
        "--profile",
        str(folder),
    ]
    with (
        log.open("w") as errors,
        running(*command, stderr=errors, env=os.environ | {"HOME": str(folder)}),
    ):
        browser = Firefox(until(lambda: re.search(r"listening on (ws://\S+)", log.read_text()))[1])
        yield browser
        browser.call("browser.close")
        browser.socket.close()


@contextmanager
def webkit() -> Iterator[WebKit]:
    """WebKitGTK on a screen that nobody sees."""
    assert DISPLAY
    assert WEBKIT
    screen = [DISPLAY, "-displayfd", "1", "-screen", "0", "1400x1100x24", "-nolisten", "tcp"]
    with running(*screen, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as display:
        number = display.stdout.readline().strip()
        with socket.socket() as probe:
            probe.bind((HERE, 0))
            port = probe.getsockname()[1]
        environment = os.environ | {"DISPLAY": f":{number}", "WEBKIT_DISABLE_COMPOSITING_MODE": "1"}
        with running(WEBKIT, f"--port={port}", env=environment, stderr=subprocess.DEVNULL):
            browser = until(lambda: answering(port))
            yield browser
            with suppress(urllib.error.URLError):  # or MiniBrowser stays behind
                urllib.request.urlopen(urllib.request.Request(browser.address, method="DELETE"))


def answering(port: int) -> WebKit | None:
    """The browser behind a driver; None until the driver listens."""
    with suppress(urllib.error.URLError):
        return WebKit(port)
    return None


def until(found: Callable[[], Any]) -> Any:
    """What is found, once it is."""
    for _ in range(600):
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError("it did not come")
