"""A page that holds several widgets: each looks as it does alone, wherever the styles of others stand."""

import re

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Page, expect

from tests.thorough import thorough_from
from tools.build_notebooks import NOTEBOOKS, every_notebook, page_name, read
from tools.embed import KINDS, with_todays_script
from tools.stored_pages import STORED
from transformer_lab.lab.page.join import FOLDER
from transformer_lab.lab.page.saved import PAGE

SHEETS = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.rglob("*.css"))]
PROPERTIES = sorted(
    {name for text in SHEETS for name in re.findall(r"[{;]\s*([a-z][a-z-]+):", text)}
)
WIDGETS = ", ".join(f"[data-{kind}]" for kind in KINDS)
HELD = sorted(
    page_name(path) for path in every_notebook() if path.read_text("utf-8").count("<div data-") > 1
)
"""Notebooks that hold more than one widget."""
CHANGED = """
(widget, properties, change) => {
  const looks = () => [...widget.querySelectorAll(".tl-page, .tl-page *")].flatMap((element) =>
    [null, "::before", "::after"].map((pseudo) => {
      const style = getComputedStyle(element, pseudo);
      const name = `${element.localName}.${element.getAttribute("class") ?? ""}${pseudo ?? ""}`;
      const values = properties.map((property) => style.getPropertyValue(property));
      return [`${element.parentElement.className} > ${name}`, values];
    }));
  const before = looks();
  change();
  const after = looks();
  const told = before.flatMap(([name, values], i) => values.flatMap((value, j) =>
    value === after[i][1][j] ? [] : [`${name}: ${properties[j]} ${value} → ${after[i][1][j]}`]));
  return before.length < 9 ? ["nothing is drawn"] : [...new Set(told)].slice(0, 20);
}
"""
"""What looks otherwise after a change: of each element what a style sheet of ours may set."""
BESIDE = """
([sheets, properties]) => {
  const add = () => sheets.forEach((text) => ["afterbegin", "beforeend"].forEach((place) => {
    const style = document.createElement("style");
    style.textContent = text;
    document.body.insertAdjacentElement(place, style);
  }));
  return (CHANGED)(document.querySelector("[data-mounted]"), properties, add);
}
""".replace("CHANGED", CHANGED)
ALONE = """
([widgets, properties]) => {
  const all = [...document.querySelectorAll(widgets)].filter((one) => one.dataset.mounted);
  const choose = (used) => all.forEach((one) => { one.nextElementSibling.sheet.disabled = !used(one); });
  return all.flatMap((widget) => {
    const told = (CHANGED)(widget, properties, () => choose((one) => one === widget));
    choose(() => true);
    return told;
  });
}
""".replace("CHANGED", CHANGED)


@pytest.fixture(scope="module")
def stored() -> dict[str, str]:
    """The first page of each kind that the notebooks hold, with today's script and style."""
    cells = [cell for path in every_notebook() for cell in read(path).cells]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    found: dict[str, str] = {}
    for output in outputs:
        for page in STORED.finditer(output.get("data", {}).get("text/html", "")):
            found.setdefault(page[1], page[0])
    return {kind: with_todays_script(page) for kind, page in found.items()}


def wait_until_drawn(page: Page, count: int) -> None:
    expect(page.locator(".tl-page[data-ready=true]")).to_have_count(count)
    page.wait_for_function("document.getAnimations().length === 0")


@pytest.mark.parametrize(("width", "scheme"), thorough_from(1, [(1240, "light"), (390, "dark")]))
@pytest.mark.parametrize("kind", thorough_from(3, KINDS))
def test_styles_of_other_widgets_before_and_behind_it_change_nothing(
    browser, stored, kind, width, scheme
):
    looks = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    page = browser.new_page(**looks, reduced_motion="reduce")
    page.set_content(PAGE.format(policy="", title=kind, body=stored[kind]))
    wait_until_drawn(page, 1)
    for step in page.locator("[data-control^='step ']").all()[-1:]:
        step.click()
    told = page.evaluate(BESIDE, [SHEETS, PROPERTIES])
    page.close()
    assert told == []


@pytest.mark.parametrize("name", thorough_from(1, HELD))
def test_in_exported_html_each_widget_looks_as_it_does_alone(browser, name):
    page = browser.new_page(reduced_motion="reduce")
    html = HTMLExporter().from_filename(str(NOTEBOOKS / f"{name}.ipynb"))[0]
    page.set_content(html)
    wait_until_drawn(page, page.locator("script[data-of]").count())
    told = page.evaluate(ALONE, [WIDGETS, PROPERTIES])
    page.close()
    assert told == []
