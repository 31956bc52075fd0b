"""Pages in Chromium without a network: when they are drawn, and what an interaction costs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, Route

DRAWN = Path(__file__).with_name("drawn.js")
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
MEGA = 1e6


class OpenPage:
    """A page that has been opened and is drawn."""

    def __init__(self, browser: Browser, page: Page):
        self.browser = browser
        self.page = page
        self.devtools = page.context.new_cdp_session(page)
        # In processor time, so that the work of other programs is not counted as the page's.
        self.devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.seconds_to_drawn = page.evaluate("drawn") / 1000

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page; raise a RuntimeError if it fails."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.devtools.send("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def metric(self, name: str) -> float:
        """Return one of Chromium's own counts for this page."""
        found = self.devtools.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in found if metric["name"] == name)

    def work(self, act: Callable[[], object]) -> float:
        """Return the seconds of main-thread work that one interaction takes.

        Chromium counts the processor time of the tasks on a page's main thread (TaskDuration: script,
        style, layout and painting). This is its count from the event to the beginning of the second
        frame after it, minus what two frames take without an event (the median of three).
        """

        def counted(act: Callable[[], object]) -> float:
            before = self.metric("TaskDuration")
            act()
            self.ask(TWO_FRAMES)
            return self.metric("TaskDuration") - before

        idle = median(counted(lambda: None) for _ in range(3))
        return max(0.0, counted(act) - idle)

    def megabytes(self) -> tuple[float, float]:
        """Return the size of the script's heap and of the page's process, after garbage collection.

        An SVG's elements are not in the script's heap but elsewhere in the process, whose size is its
        anonymous resident memory (a term of Linux), or 0 on other systems.
        """
        self.devtools.send("HeapProfiler.collectGarbage")
        heap = self.metric("JSHeapUsedSize") / MEGA
        listed = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
        pages = [p["id"] for p in listed["processInfo"] if p["type"] == "renderer"]
        return heap, max(map(resident_megabytes, pages))  # a spare one, without a page, is smaller


def resident_megabytes(process: int) -> float:
    """Return the anonymous resident memory of a process in megabytes, or 0 outside Linux."""
    status = Path(f"/proc/{process}/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024 / MEGA
    return 0.0


@contextmanager
def open_page(browser: Browser, path: Path, served: Mapping[str, bytes]) -> Iterator[OpenPage]:
    """Open a file in a new page, and wait until it is drawn.

    Requests are answered from `served` or blocked.
    """

    def answer(route: Route) -> None:
        body = served.get(route.request.url)
        if route.request.url.startswith("file:"):
            route.continue_()
        elif body is None:
            route.abort()
        else:
            route.fulfill(body=body, content_type="text/javascript")

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.route("**/*", answer)
    context.add_init_script(path=DRAWN)
    page = context.new_page()
    page.goto(path.as_uri(), wait_until="commit")
    try:
        yield OpenPage(browser, page)
    finally:
        context.close()
