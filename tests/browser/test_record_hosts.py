"""Stored records and live labs wherever they lie: on one page, in a notebook's HTML, without scripts."""

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from tests.browser.screen import RECORD, nearest, pixels_of, serious
from tests.records import WordByWord, make_record
from transformer_lab.lab import lab, widget
from transformer_lab.lab.page.saved import PAGE

START = "head=c1.1&view=map"
NOTE = "All heads as a still picture; run this cell for the live lab."


@pytest.fixture(scope="module")
def page_of_a_record(tmp_path_factory):
    return lab(RECORD, start=START).to_html(tmp_path_factory.mktemp("record") / "record.html")


def check_map(root, weights):
    """That the open map's cells have the colours of these weights."""
    colours = "all => all.map(c => getComputedStyle(c).backgroundColor.match(/\\d+/g).map(Number))"
    cells = root.locator(".weight-map tbody td")
    expect(cells).to_have_count(weights.size)
    seen = nearest(np.array(cells.evaluate_all(colours)))[:, None] / 255
    np.testing.assert_allclose(seen.reshape(weights.shape), weights, atol=0.012)


def open_head(root, code):
    root.get_by_label("Open a head").select_option(code)


@pytest.fixture
def two(visit_page, tmp_path):
    def make(*records):
        pages = [lab(record, start=START) for record in records]
        body = "\n".join(page._repr_mimebundle_()["text/html"] for page in pages)
        path = tmp_path / "two.html"
        path.write_text(PAGE.format(policy="", title="Two", body=body), encoding="utf-8")
        return visit_page(path)

    return make


def test_two_records_on_one_page_mind_their_own_business(two):
    other = make_record(seed=5)
    opened = two(RECORD, other)
    assert opened.root.count() == 2
    first, second = opened.root.all()
    open_head(second, "e1.1")
    first.locator(".weight-map th[data-row='3']").click()
    expect(first.get_by_label("Open a head")).to_have_value("c1.1")
    expect(second.locator("tr.lit th")).to_have_text("the")
    check_map(first, RECORD.cross[0][0])
    check_map(second, other.encoder[0][0])
    assert serious(opened.page) == []


@pytest.mark.thorough(caught_by=["test_two_records_on_one_page_mind_their_own_business"])
def test_the_same_record_twice_on_one_page_is_two_labs(two):
    opened = two(RECORD, RECORD)
    assert opened.root.count() == 2
    assert opened.page.locator("main img").count() == 0


def test_the_theme_follows_the_reader(visit_page, page_of_a_record):
    opened = visit_page(page_of_a_record)
    expect(opened.root).to_have_attribute("data-theme", "light")
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.root).to_have_attribute("data-theme", "dark")
    opened.page.evaluate("document.body.style.background = '#fffff0'")
    expect(opened.root).to_have_attribute("data-theme", "light")


def test_where_scripts_do_not_run_the_picture_and_its_words_remain(visit_page, page_of_a_record):
    opened = visit_page(page_of_a_record, java_script_enabled=False)
    (picture,) = opened.page.locator("img").all()
    assert picture.get_attribute("alt").startswith("Cross attention of 9 heads in 3 layers")
    box = picture.bounding_box()
    assert box["width"] > 300
    assert pixels_of(picture).std() > 20


def test_where_the_script_fails_the_picture_remains(browser, page_of_a_record):
    """A browser without DecompressionStream, say."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(page_of_a_record.as_uri())
    page.wait_for_timeout(200)
    assert page.locator("img").is_visible()
    assert page.locator(".tl-lab").count() == 0
    assert len(errors) == 1
    context.close()


def live_outputs() -> list:
    """What a live lab leaves in a notebook: the data of each output."""
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(widget, "display", lambda data, raw: shown.append(data))
        lab(WordByWord(), "a cat", kernel=True)._ipython_display_()
    return shown


def test_in_nbconverts_html_a_record_works_and_a_live_lab_has_its_picture(browser, tmp_path):
    """Its own scripts come from elsewhere, and are refused: the lab needs none of them."""
    bundle = lab(RECORD, start=START)._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", bundle)
    cell = nbformat.v4.new_code_cell("lab(record)", outputs=[output], execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    views = [nbformat.v4.new_output("display_data", data) for data in live_outputs()]
    live = nbformat.v4.new_code_cell("live", outputs=views, execution_count=2)
    asked = []
    for cells in ([], [cell, live]):
        notebook.cells = cells
        path = tmp_path / "notebook.html"
        path.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
        context = browser.new_context(viewport={"width": 1240, "height": 900})
        context.route(lambda url: url.startswith("http"), lambda route: route.abort())
        page = context.new_page()
        requests = []
        page.on("request", lambda request, to=requests: to.append(request.url))
        page.goto(path.as_uri())
        asked.append({url for url in requests if url.startswith("http")})
        if cells:
            root = page.locator(".tl-lab")
            expect(root).to_have_attribute("data-ready", "true")
            open_head(root, "e1.1")
            check_map(root, RECORD.encoder[0][0])
            (picture,) = page.locator("img").all()
            assert picture.is_visible(), "of the live one there is its picture"
            assert picture.get_attribute("alt").startswith("Cross attention of 9 heads")
            expect(page.get_by_text(NOTE)).to_be_visible()
        context.close()
    assert asked[1] <= asked[0], "the lab asks for nothing"
