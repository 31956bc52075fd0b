"""The system's Chromium, which tools, benchmarks and tests drive; nothing is downloaded."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from transformer_lab.config.browser import find_browser

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def launch_chromium() -> Iterator[Browser]:
    """Start the browser that doctor finds; raise a RuntimeError if there is none."""
    path = find_browser()
    if path is None:
        raise RuntimeError(
            "no browser found; run apt-get install chromium, or set CHROMIUM to a browser's path"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()
