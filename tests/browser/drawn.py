"""A drawing of a lesson on the screen: nothing is cut off, and axe-core finds nothing serious."""

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.screen import serious
from transformer_lab.lab.page.drawing import Drawing

PAYLOAD = 60_000
"""Bytes of script, style, data and words."""


def open_drawing(browser: Browser, drawing: Drawing, folder: Path, **options) -> Page:
    """The page of a drawing; errors in it fail the test at once."""
    path = drawing.to_html(folder / f"{drawing.kind}.html", overwrite=True)
    page = browser.new_context(**{"viewport": {"width": 760, "height": 600}} | options).new_page()
    page.on("pageerror", lambda error: (_ for _ in ()).throw(error))
    page.goto(path.as_uri())
    expect(page.locator(f".tl-{drawing.kind}")).to_be_visible()
    return page


def walk(browser: Browser, drawing: Drawing, folder: Path) -> int:
    """Go through all steps by keyboard, in light, in the dark and on a phone; how many there are."""
    assert len(drawing._repr_mimebundle_()["text/html"].encode()) <= PAYLOAD
    looks = ({}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 700}})
    for look in looks:
        page = open_drawing(browser, drawing, folder, reduced_motion="reduce", **look)
        count, said = page.locator("button[data-control^='step ']").count(), set()
        page.locator("[data-control='step 0']").focus()
        for step in range(count):
            button = page.locator(f"[data-control='step {step}']")
            expect(button).to_have_attribute("aria-current", "step")
            said.add("".join(page.locator(".said, .sum").all_inner_texts()))
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            assert serious(page, f".tl-{drawing.kind}") == []
            page.keyboard.press("ArrowRight")
        assert len(said) == count, "each step says something of its own"
        page.context.close()
    return count
