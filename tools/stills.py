"""Take the still pictures of drawings from the page itself, in Chromium.

GitHub, paper and untrusted notebooks run no script, so the builder and `tools.embed` put a picture
where a drawing has only words so far. A drawing says which of its steps the picture shows. A playground
trains first, and its picture shows the result.
"""

import html
import io
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from nbformat import NotebookNode
from PIL import Image
from playwright.sync_api import Browser, Page

from tools.browser import launch_chromium
from tools.stored_pages import STORED
from transformer_lab.figures.display import image_tag, quantize_colours
from transformer_lab.figures.style import PIXEL_RATIO
from transformer_lab.lab import playground_page
from transformer_lab.lab.page import drawing

WIDTH = 740
"""The width of a notebook's column and of a sheet of paper, in CSS pixels."""
WITHOUT_CONTROLS = """
.steps, .switches, .controls, .ways, .rows, .place { display: none !important }
"""
AFTER_TRAINING = """
.tl-playground > :not(.example, .experiment, .runs), .tl-playground .maps { display: none !important }
/* The loss is drawn at moments that the clock chooses. */
.tl-playground .chart :is(.loss, .scale) { display: none !important }
.tl-playground .runs { grid: none / auto-flow minmax(0, 1fr) !important }
"""
LONGEST = 600_000
"""The most milliseconds that a playground may take to learn."""
SECONDS = re.compile(r" and [\d.]+ seconds")
"""The text that differs between two training runs in a playground."""
WAITING = re.compile(r'<p data-step="(-?\d+)">(.*?)</p>', re.DOTALL)
"""What `drawing.words_alone` writes: the step to photograph, and the words."""


def take_stills(
    notebook: NotebookNode,
    launch: Callable[[], AbstractContextManager[Browser]] = launch_chromium,
) -> int:
    """Put a picture into each drawing of a notebook that waits for one, and return their number.

    `launch` opens the browser; it is called only if there is such a drawing.

    Raises:
        RuntimeError: If there is no browser.
    """
    outputs = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if WAITING.search(output.get("data", {}).get("text/html", ""))
    ]
    if outputs:
        with launch() as browser:
            for output in outputs:
                page = output.data["text/html"]
                output.data["text/html"] = STORED.sub(partial(with_still, browser), page)
    return len(outputs)


def with_still(browser: Browser, stored: re.Match[str]) -> str:
    """Return the page of a drawing, with a picture if it waits for one."""
    kind, seen, data = stored.groups()
    waiting = WAITING.fullmatch(seen)
    if not waiting:
        return stored[0]
    if kind == "playground":
        image, alt = train_and_photograph(browser, data)
    else:
        image = photograph(browser, kind, data, int(waiting[1]))
        alt = html.unescape(waiting[2])
    tag = image_tag(quantize_colours(image), alt, width=image.width // PIXEL_RATIO)
    return stored[0].replace(seen, tag.replace("<img ", f'<img data-step="{waiting[1]}" '))


def photograph(browser: Browser, kind: str, data: str, step: int) -> Image.Image:
    """Return the picture of a drawing of these data at a step, without its controls."""
    tab = open_tab(browser, drawing.fragment(kind, "", data))
    count = tab.locator("button[data-control^='step ']").count()
    tab.locator(f"button[data-control='step {step % count}']").click()
    return close_tab(tab, WITHOUT_CONTROLS)


def train_and_photograph(browser: Browser, data: str) -> tuple[Image.Image, str]:
    """Train the playground of these data; return its picture without controls, and an alt text."""
    tab = open_tab(browser, playground_page.fragment("", data))
    tab.locator("button[data-control='train']").click()
    running = tab.locator("button[data-control='pause']")
    running.wait_for()
    running.wait_for(state="hidden", timeout=LONGEST)
    alt = "A small Transformer has learned in this page."
    for run in tab.locator(".run").all():
        status = run.locator(".status")
        said = SECONDS.sub("", status.inner_text())
        status.evaluate("(status, said) => { status.textContent = said; }", said)
        alt += f" {run.locator('h3').inner_text()}: {said.removeprefix('Done: ')}"
    return close_tab(tab, AFTER_TRAINING), alt


def open_tab(browser: Browser, fragment: str) -> Page:
    """Open a tab as wide as a notebook's column that shows a fragment."""
    tab = browser.new_page(
        viewport={"width": WIDTH, "height": 100},
        device_scale_factor=PIXEL_RATIO,
        color_scheme="light",
        reduced_motion="reduce",
    )
    tab.set_content(f'<body style="margin: 0; padding: 12px">{fragment}</body>')
    tab.locator("[data-ready=true]").wait_for()
    return tab


def close_tab(tab: Page, style: str) -> Image.Image:
    """Photograph everything that a tab shows in a style, with nothing pointed at, and close it."""
    tab.mouse.move(0, 0)
    tab.evaluate("document.activeElement.blur()")
    tab.add_style_tag(content=style)
    image = Image.open(io.BytesIO(tab.screenshot(full_page=True, animations="disabled")))
    tab.close()
    return image


def without_still(html: str) -> str:
    """Return a drawing's page with words in place of its picture, so that a new one is taken."""
    return re.sub(r'<img data-step="(-?\d+)" alt="(.*?)"[^>]*>', r'<p data-step="\1">\2</p>', html)
