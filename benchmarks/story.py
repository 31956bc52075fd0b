"""The website in a browser: when its first page is painted, and how long a page stands still.

A page stands still while one task of its main thread runs. Processor time is what the task takes on a
machine that nobody else uses. The slowest round is given beside the median.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from benchmarks.machine import describe_run
from benchmarks.page_tasks import TRACED, find_longest_task
from benchmarks.report import Target, table, target_table
from tools.browser import launch_chromium

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "index.html",
    "index.html#screen=5&cut=1",
    "docs/index.html",
    "docs/lab.html",
    "notebooks/00_start_here.html",
    "notebooks/01_attention_in_numpy.html",
    "notebooks/07_the_whole_transformer.html",
    "notebooks/11_explore_the_heads.html",
    "notebooks/15_what_attention_costs.html",
)
SETTLED = 3000  # milliseconds in which a page sets its formulas and unpacks its model
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def build_site(folder: Path) -> None:
    """Build the website into a folder, as `make site` does."""
    paths = [str(path) for path in (ROOT / "docs", ROOT, folder)]
    command = [sys.executable, "-m", "sphinx", "--quiet", "-c", *paths]
    subprocess.run(command, check=True)  # noqa: S603


def measure(browser: Browser, address: str) -> tuple[float, float, float]:
    """Return milliseconds: the first paint, and the longest task in processor time and by the clock."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    browser.start_tracing(page=page, categories=TRACED)
    page.goto(address, wait_until="load")
    page.wait_for_timeout(SETTLED)
    painted = page.evaluate(PAINTED)
    trace = browser.stop_tracing()
    context.close()
    return painted, *find_longest_task(trace, address.partition("#")[0])


def section(rounds: int) -> str:
    """Return the section on the website's pages, opened from a folder without a network."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in PAGES}
    with tempfile.TemporaryDirectory() as folder, launch_chromium() as browser:
        build_site(Path(folder))
        size = (Path(folder) / "index.html").stat().st_size
        for turn in range(rounds + 1):
            for name in PAGES:
                measured = measure(browser, f"{Path(folder).as_uri()}/{name}")
                if turn:  # at first the browser is still starting
                    found[name].append(measured)
    rows = [
        [
            name,
            *(
                f"{median(times):.0f} ({max(times):.0f}) ms"
                for times in zip(*measured, strict=True)
            ),
        ]
        for name, measured in found.items()
    ]
    promised = [
        Target("first page before its model, in kB", size / 1000, 150, True),
        Target("its first paint, in ms", median(one[0] for one in found[PAGES[0]]), 500, True),
    ]
    promised += [
        Target(f"longest task of {name}, in ms", median(one[1] for one in measured), 100, True)
        for name, measured in found.items()
    ]
    words = f"Median and, in brackets, the slowest. {describe_run(rounds)}\n"
    titles = ["page", "first paint", "longest task, processor time", "longest task, by the clock"]
    return "\n".join([words, table(titles, rows), target_table(promised, "limit")])
