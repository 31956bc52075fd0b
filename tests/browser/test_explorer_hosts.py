"""The explorer's page wherever it lies: hostile tokens, both themes, all sizes, no scripts."""

import io
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.browser.screen import (
    CROSS,
    RECORD,
    SEEN,
    Opened,
    check_readout,
    close,
    contrast,
    pixels_of,
    save,
    serious,
    weights_of_canvas,
    weights_of_picture,
)
from tests.records import WordByWord, make_record
from tests.thorough import thorough_from
from transformer_lab.attention.record import AttentionRecord
from transformer_lab.lab import explore
from transformer_lab.lab.explorer import payload, widget
from transformer_lab.lab.page.saved import PAGE

# ---------------------------------------------------------------- hostile tokens


def test_hostile_tokens_are_shown_as_they_are_and_do_nothing(visit_page, hostile_page, tmp_path):
    opened = visit_page(hostile_page)
    assert opened.labels("keys") == list(SEEN)
    assert opened.labels("queries") == list(SEEN[:5])
    sentence = opened.root.locator(".sentence .token").all_inner_texts()
    assert sentence == [*SEEN, *SEEN[:5]]
    expect(opened.root.locator(".snapshots output")).to_have_text("<b>last</b>")
    for place in range(5):
        opened.root.locator(".queries .label").nth(place).click()
        assert opened.readout.startswith(f"{SEEN[place]} looks at: ")
        expect(opened.root.locator(".steps b")).to_have_text(SEEN[place])
    opened.root.get_by_text("The 12 strongest links as a table").click()
    for kind in ("Encoder", "Decoder", "Cross"):
        opened.button(kind).click()
        opened.button("Lines").click()
        opened.root.locator(".column.key button").nth(1).hover()
        opened.button("Lines").click()
    for kind in ("SVG", "PNG"):
        path = save(opened, kind, Locator.click, tmp_path)
        assert path.stat().st_size > 1000
    ET.parse(tmp_path / "attention_cross_1_1.svg")
    slider = opened.root.get_by_label("Training snapshot")
    slider.focus()
    opened.press("Home")
    expect(opened.root.locator(".snapshots output")).to_have_text("</script>")
    assert (
        opened.page.evaluate("document.querySelectorAll('.tl-explorer img, main b img').length")
        == 0
    )
    assert opened.page.title().startswith("Attention: </script> <img src=x onerror=alert(1)>")


def test_right_to_left_words_leave_their_neighbours_in_place(visit_page, hostile_page):
    opened = visit_page(hostile_page)
    left = [t.bounding_box()["x"] for t in opened.root.locator(".sentence .token").all()[:5]]
    assert left == sorted(left)


# ---------------------------------------------------------------- themes, sizes, hosts


TEXTS = """root => [...root.querySelectorAll('*')].filter(e => e.checkVisibility() &&
  [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(e => {
    const box = e.getBoundingClientRect(), colour = getComputedStyle(e).color.match(/[\\d.]+/g);
    return [e.textContent.trim().slice(0, 30), colour.map(Number),
            [box.left, box.top, box.right, box.bottom].map(n => Math.round(n + 0)),
            e.matches(':disabled')];
  })"""


def check_contrast(opened):
    """Of each text with the colour that most of its box has on the screen."""
    screen = Image.open(io.BytesIO(opened.page.screenshot(full_page=True))).convert("RGB")
    scrolled = opened.page.evaluate("[scrollX, scrollY]")
    checked = 0
    for text, colour, box, disabled in opened.root.evaluate(TEXTS):
        left, top, right, bottom = np.array(box) + np.tile(scrolled, 2)
        if disabled or right - left < 2 or bottom - top < 2 or right > screen.width:
            continue
        inside = screen.crop((left, top, right, bottom)).get_flattened_data()
        paper = Counter(inside).most_common(1)[0][0]
        assert contrast(colour[:3], paper) >= 4.5, (text, colour, paper)
        checked += 1
    assert checked > 40


@pytest.mark.parametrize("theme", thorough_from(1, ["light", "dark"]))
def test_text_is_readable_and_an_accessibility_checker_finds_nothing_serious(
    theme, visit_page, full_page, hostile_page
):
    opened = visit_page(full_page, color_scheme=theme)
    expect(opened.root).to_have_attribute("data-theme", theme)
    opened.root.get_by_text("The 12 strongest links as a table").click()
    for _ in range(2):
        for query in range(5):
            opened.root.locator(".queries .label").nth(query).click()
            if query in (0, 2):
                check_contrast(opened)
        opened.button("Show small weights").click()
    opened.root.get_by_label("Sort heads by").select_option("aer")
    check_contrast(opened)
    assert serious(opened.page) == []
    opened.button("Lines").click()
    opened.root.locator(".column.query button").nth(2).hover()
    check_contrast(opened)
    assert serious(opened.page) == []
    assert serious(visit_page(hostile_page, color_scheme=theme).page) == []


def test_numbers_on_every_colour_are_readable(visit_page, tmp_path):
    """A row of weights from 0.05 to 0.95, then one of a single 1."""
    share = np.array([[0.05, 0.95], [0.15, 0.85], [0.25, 0.75], [0.35, 0.65], [0.45, 0.55]])
    record = make_record(source=("a", "b"), encoder=(1,), cross=(1,))
    record = replace(record, cross=(share[None].astype(np.float32),))
    opened = visit_page(explore(record, layer=0).to_html(tmp_path / "a.html"))
    for _ in range(2):
        for query in range(5):
            opened.root.locator(".queries .label").nth(query).hover()
            spans = opened.root.locator(".numbers span")
            assert spans.count() == 2
            for key in range(2):
                ink = spans.nth(key).evaluate("e => getComputedStyle(e).color.match(/\\d+/g)")
                pixels = pixels_of(opened.cells)[30 * query + 5, 30 * key + 5]
                assert contrast([int(c) for c in ink[:3]], pixels) >= 4.5
        opened.button("Show small weights").click()


def test_the_theme_follows_the_reader(opened):
    expect(opened.root).to_have_attribute("data-theme", "light")
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.root).to_have_attribute("data-theme", "dark")
    opened.page.evaluate("document.body.style.background = '#fffff0'")
    expect(opened.root).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("width", thorough_from(1, [320, 420]))
def test_a_narrow_page_does_not_scroll_sideways(width, visit_page, full_page, hostile_page):
    for path in (full_page, hostile_page):
        opened = visit_page(path, viewport={"width": width, "height": 800})
        for _ in range(2):
            opened.root.locator(".queries .label, .column.query button").nth(1).click()
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
            opened.button("Lines").click()


def test_each_layer_has_a_line_of_its_own_and_one_stack_needs_no_arrow(visit_page, tmp_path):
    rng = np.random.default_rng(0)
    layers = tuple(rng.dirichlet(np.ones(5), size=(heads, 5)) for heads in (12, 11, 12))
    record = AttentionRecord(tuple("abcde"), (), (), layers, (), ())
    opened = visit_page(explore(record, layer=0).to_html(tmp_path / "a.html"))
    tiles = opened.root.locator(".tile")
    tops = [tile.bounding_box()["y"] for tile in tiles.all()]
    lines = [tops[:12], tops[12:23], tops[23:]]
    assert all(len(set(line)) == 1 for line in lines)
    assert lines[0][0] < lines[1][0] < lines[2][0]
    assert opened.root.locator(".sentence").inner_text().strip() == "a b c d e"
    # Up and down go by the lines that one sees.
    tiles.nth(3).focus()
    opened.press("ArrowDown")
    expect(tiles.nth(15)).to_be_focused()
    opened.press("ArrowDown", "ArrowUp")
    expect(tiles.nth(15)).to_be_focused()


def test_one_hundred_tokens_and_48_heads(visit_page, tmp_path):
    words = [f"word{i}" for i in range(101)]
    record = make_record(words, (), (), encoder=(8,) * 6, decoder=(), cross=())
    opened = visit_page(explore(record, layer=0).to_html(tmp_path / "a.html"))
    assert opened.root.locator(".tile").count() == 48
    assert opened.labels("queries") == words
    opened.root.locator(".tile").nth(47).click()
    opened.root.locator(".queries .label").nth(97).click()
    weights = record.encoder[5][7]
    check_readout(opened.readout, 97, None, weights, words, words)
    opened.cells.focus()
    opened.press("ArrowDown")
    check_readout(opened.readout, 98, 0, weights, words, words)
    # A tile of a hundred tokens is smaller than its map: all of it is on the screen all the same.
    close(weights_of_canvas(opened.root.locator("canvas.matrix")), weights)
    opened.root.get_by_label("Sort heads by").select_option("entropy")
    fits = (
        "all => all.every(e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"
    )
    assert opened.root.locator(".tile span").evaluate_all(fits)
    opened.button("Lines").click()
    assert 1 < opened.root.locator("svg line").count() <= 101


@pytest.mark.thorough(caught_by=["test_one_hundred_tokens_and_48_heads"])
def test_512_tokens_open_and_say_what_is_left_out(visit_page, tmp_path, monkeypatch):
    monkeypatch.setattr(payload, "MOST_VALUES", 300_000)
    words = [f"word{i}" for i in range(512)]
    record = make_record(words, (), (), encoder=(2,), decoder=(), cross=())
    opened = visit_page(explore(record, layer=0).to_html(tmp_path / "a.html"))
    notice = opened.root.locator(".left-out")
    expect(notice).to_contain_text("Of each row the 32 strongest of 512 weights are shown.")
    weights = record.encoder[0][0]
    opened.cells.focus()
    opened.press("ArrowDown", "ArrowRight", "ArrowRight")
    kept = np.where(weights >= np.sort(weights)[:, -32, None], weights, 0)
    lines = opened.readout.split("\n")
    assert kept[0, 2] == 0 < weights[0, 2]
    assert lines[0] == "word0 → word2: 0, or left out"
    best = int(weights[0].argmax())
    assert lines[1].startswith(f"word0 looks at: word{best} {weights[0, best]:.2f}")
    # A tile shows the largest weight of each block; the two tiles share one picture.
    blocks = kept.reshape(64, 8, 64, 8).max(axis=(1, 3))
    close(weights_of_picture(opened.root.locator(".tile .picture").first)[:, :64], blocks)


@pytest.fixture
def two(visit_page, tmp_path):
    def make(*records):
        pages = [explore(record, layer=0) for record in records]
        body = "\n".join(page._repr_mimebundle_()["text/html"] for page in pages)
        path = tmp_path / "two.html"
        path.write_text(PAGE.format(policy="", title="Two", body=body), encoding="utf-8")
        return visit_page(path)

    return make


def test_two_explorers_on_one_page_mind_their_own_business(two):
    other = make_record(seed=5)
    opened = two(RECORD, other)
    assert opened.root.count() == 2
    first, second = opened.root.all()
    second.get_by_role("button", name="Encoder").click()
    first.locator(".queries .label").nth(1).click()
    expect(second.locator(".readout")).to_contain_text("Point at")
    assert first.get_by_role("heading").inner_text() == "Cross attention, layer 1, head 1"
    assert second.get_by_role("heading").inner_text() == "Encoder attention, layer 1, head 1"
    close(opened.weights(first.locator(".cells"), (5, 7)), CROSS)
    close(opened.weights(second.locator(".cells"), (7, 7)), other.encoder[0][0])
    assert serious(opened.page) == []


@pytest.mark.thorough(caught_by=["test_two_explorers_on_one_page_mind_their_own_business"])
def test_the_same_record_twice_on_one_page_is_two_explorers(two):
    opened = two(RECORD, RECORD)
    assert opened.root.count() == 2
    assert opened.page.locator("main img").count() == 0


def test_where_scripts_do_not_run_the_picture_and_its_words_remain(visit_page, full_page):
    opened = visit_page(full_page, java_script_enabled=False)
    (picture,) = opened.page.locator("img").all()
    assert picture.get_attribute("alt").startswith("Cross attention of 9 heads in 3 layers")
    box = picture.bounding_box()
    assert box["width"] > 300
    assert pixels_of(picture).std() > 20


def test_where_the_script_fails_the_picture_remains(browser, full_page):
    """A browser without DecompressionStream, say."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(full_page.as_uri())
    page.wait_for_timeout(200)
    assert page.locator("img").is_visible()
    assert page.locator(".tl-explorer").count() == 0
    assert len(errors) == 1
    context.close()


def live_outputs() -> list:
    """What a live explorer leaves in a notebook: the data of each output."""
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(widget, "display", lambda data, raw: shown.append(data))
        widget.AttentionExplorer(WordByWord(), source="a cat", layer=0)._ipython_display_()
    return shown


def test_in_nbconverts_html_it_works_too(browser, tmp_path):
    """Its own scripts come from elsewhere, and are refused: the explorer needs none of them."""
    bundle = explore(RECORD, layer=0)._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", bundle)
    cell = nbformat.v4.new_code_cell("explore(record)", outputs=[output], execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    asked = []
    views = [nbformat.v4.new_output("display_data", data) for data in live_outputs()]
    live = nbformat.v4.new_code_cell("live", outputs=views, execution_count=2)
    for cells in ([], [cell, live]):
        notebook.cells = cells
        path = tmp_path / "notebook.html"
        path.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
        context = browser.new_context(viewport={"width": 1240, "height": 900})
        context.route(lambda url: url.startswith("http"), lambda route: route.abort())
        page = context.new_page()
        opened = Opened(page)
        page.on("request", lambda r, o=opened: o.requests.append(r.url))
        page.goto(path.as_uri())
        asked.append({url for url in opened.requests if url.startswith("http")})
        if cells:
            expect(opened.root).to_have_attribute("data-ready", "true")
            opened.button("Encoder").click()
            close(opened.weights(opened.cells, (7, 7)), RECORD.encoder[0][0])
            (picture,) = page.locator("img").all()
            assert picture.is_visible(), "of the live one there is its picture"
            assert picture.get_attribute("alt").startswith("Cross attention of 9 heads")
        context.close()
    assert asked[1] <= asked[0], "the explorer asks for nothing"
