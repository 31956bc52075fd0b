"""A record's page wherever it lies: hostile tokens, both themes, all sizes, many words, and files."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.browser.screen import (
    CROSS,
    FIRST,
    GOLD,
    HOSTILE,
    LONG,
    RECORD,
    SEEN,
    SNAPSHOTS,
    by_keyboard,
    check_all_lines,
    check_lines,
    check_readout,
    close,
    contrast,
    nearest,
    open_record,
    save,
    serious,
    shown_head,
    weights_of_canvas,
)
from tests.records import SOURCE, WRITTEN, make_record
from tests.thorough import thorough_from
from transformer_lab.attention.head_names import name_heads
from transformer_lab.attention.record import Head
from transformer_lab.lab import lab, record_data

# ---------------------------------------------------------------- data of version 2


@pytest.mark.parametrize("pinned", [[], [3, 2], [3, None], [None, 2]])
def test_data_of_version_2_are_shown(pinned, visit_page, tmp_path):
    """Without names, without languages, and with what is open at first in a dict."""
    page = lab(RECORD)
    start = {"kind": "encoder", "layer": 1, "head": 2, "pinned": pinned}
    page.data = {n: v for n, v in page.data.items() if n not in ("names", "languages")}
    page.data["start"] = start
    opened = visit_page(page.to_html(tmp_path / "a.html"))
    assert shown_head(opened) == "e2.3"
    weights = RECORD.encoder[1][2]
    if pinned[:1] == [3]:
        check_lines(opened, weights, 3)
    else:
        check_all_lines(opened, weights)
    opened.show("as a map")
    assert bool(opened.table.locator(".chosen").count()) == (pinned == [3, 2])
    expect(opened.root.locator(".axes")).to_contain_text("the source words that look")
    opened.go_deeper()
    expect(opened.dot(Head("encoder", 1, 2))).to_have_text("e2.3")


# ---------------------------------------------------------------- hostile tokens


def test_hostile_tokens_are_shown_as_they_are_and_do_nothing(visit_page, hostile_page, tmp_path):
    opened = visit_page(hostile_page)
    sentence = opened.root.locator(".source .token").all_inner_texts()
    written = opened.root.locator(".written .token").all_inner_texts()
    assert (sentence, written) == (list(SEEN), list(SEEN[:5]))
    expect(opened.root.locator(".moments output")).to_have_text("<b>last</b>")
    opened.show("as a map")
    assert opened.words("keys") == list(SEEN)
    assert opened.words("queries") == list(SEEN[:5])
    for place in range(5):
        opened.row_word(place).click()
        assert opened.readout.startswith(f"“{SEEN[place]}” looks most at ")
        expect(opened.root.locator(".next li.taken .token")).to_have_text(SEEN[place])
    opened.go_deeper()
    opened.root.locator(".every-head summary").click()
    expect(opened.root.locator(".every-head thead .token")).to_have_text(list(SEEN))
    for kind in FIRST:
        for view in ("as lines", "as a map"):
            opened.show(view)
            opened.open_head(FIRST[kind])
    for kind in ("SVG", "PNG"):
        path = save(opened, kind, Locator.click, tmp_path)
        assert path.stat().st_size > 1000
    ET.parse(tmp_path / "attention_c1.1.svg")
    opened.root.get_by_label("Moment in training").focus()
    opened.press("Home")
    expect(opened.root.locator(".moments output")).to_have_text("</script>")
    assert opened.page.locator(".tl-lab img, main b img").count() == 0
    assert opened.page.title().startswith("Lab: </script> <img src=x onerror=alert(1)>")
    assert len(HOSTILE) == len(SEEN)


def test_right_to_left_words_leave_their_neighbours_in_place(visit_page, hostile_page):
    opened = visit_page(hostile_page)
    left = [t.bounding_box()["x"] for t in opened.root.locator(".source .token").all()[:5]]
    assert left == sorted(left)


def test_right_to_left_words_leave_numbers_in_place_too(visit_page, tmp_path):
    """In the words below the map each number stands behind its word."""
    source = tuple("שלום עולם זה משפט ארוך מאוד".split())
    record = make_record(source, target=(), written=(), decoder=(), cross=())
    opened = open_record(visit_page, tmp_path, record, "head=e1.1&row=2&key=3&view=map")
    tokens = opened.root.locator(".readout .token")
    assert tokens.first.inner_text() == source[3]
    assert tokens.nth(1).inner_text() == source[2]
    boxes = [token.bounding_box() for token in tokens.all()]
    assert len({box["y"] for box in boxes}) == 1, "on one line"
    left = [box["x"] for box in boxes]
    assert left == sorted(left)


def test_a_very_long_word_leaves_room_for_the_map(visit_page, hostile_page):
    opened = visit_page(hostile_page)
    opened.show("as a map")
    whole, body = (opened.table.locator(s).bounding_box() for s in ("thead", "tbody"))
    assert whole["height"] < 200
    assert body["width"] > 300
    expect(opened.table.locator("thead th").nth(5)).to_have_attribute("title", "w" * 60)


# ---------------------------------------------------------------- screens


@pytest.mark.parametrize("theme", thorough_from(1, ["light", "dark"]))
def test_an_accessibility_checker_finds_nothing_serious(theme, visit_page, full_page, hostile_page):
    for path in (full_page, hostile_page):
        opened = visit_page(path, color_scheme=theme)
        expect(opened.root).to_have_attribute("data-theme", theme)
        assert serious(opened.page) == []
        opened.go_deeper()
        opened.root.locator(".every-head summary").click()
        for score in ("maps", "entropy"):
            opened.root.get_by_label("What the heads show").select_option(score)
            opened.show("as a map")
            opened.cell(2, 3).click()
            assert serious(opened.page) == []
            opened.button("Make small weights visible").click()


def test_a_long_record_is_accessible_too(visit_page, tmp_path):
    """Its source scrolls, and the keyboard gets there."""
    record = make_record(LONG, LONG[:7], LONG[1:8], encoder=(2,), decoder=(2,), cross=(2,))
    for view in ("lines", "map"):
        path = lab(record, start=f"view={view}").to_html(tmp_path / f"{view}.html")
        opened = visit_page(path)
        assert serious(opened.page) == []


@pytest.mark.parametrize("width", [320, 390])
def test_a_narrow_page_does_not_scroll_sideways(width, visit_page, full_page, hostile_page):
    for path in (full_page, hostile_page):
        opened = visit_page(path, viewport={"width": width, "height": 800})
        opened.go_deeper()
        opened.root.locator(".column.query button").nth(1).click()
        for view in ("as lines", "as a map"):
            opened.show(view)
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_on_is_seen_in_a_readers_own_colours(visit_page, full_page):
    """There no background is drawn: a frame says which tab, which step and which head."""
    opened = visit_page(full_page, forced_colors="active")
    opened.show("as a map")
    opened.go_deeper()
    for control in ("view map", "step 0", "head c1.1"):
        on = opened.root.locator(f"[data-control='{control}']")
        expect(on).to_have_css("outline-style", "solid")
    expect(opened.root.locator("[data-control='step 1']")).not_to_have_css("outline-style", "solid")
    opened.page.mouse.move(0, 0)
    close(opened.weights(), CROSS)
    opened.show("as lines")
    line = opened.root.locator(".line-board > svg line").first
    assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(0, 0, 0)"


def test_numbers_on_every_colour_are_readable(visit_page, tmp_path):
    """A row of weights from 0.05 to 0.95, then one of a single 1."""
    share = np.array([[0.05, 0.95], [0.15, 0.85], [0.25, 0.75], [0.35, 0.65], [0.45, 0.55]])
    record = make_record(source=("a", "b"), encoder=(1,), cross=(1,))
    record = replace(record, cross=(share[None].astype(np.float32),))
    opened = open_record(visit_page, tmp_path, record, "head=c1.1&view=map")
    for _ in range(2):
        for query in range(5):
            opened.row_word(query).click()
            for key in range(2):
                cell = opened.cell(query, key)
                assert cell.inner_text() == f"{share[query, key]:.2f}".removeprefix("0")
                ink, paper = cell.evaluate(
                    "e => ['color', 'backgroundColor'].map((n) => getComputedStyle(e)[n].match(/\\d+/g))"
                )
                assert contrast(*([int(c) for c in one[:3]] for one in (ink, paper))) >= 4.5
        opened.button("Make small weights visible").click()


# ---------------------------------------------------------------- many words


def test_one_hundred_tokens_and_48_heads(visit_page, tmp_path):
    record = make_record(LONG, (), (), encoder=(8,) * 6, decoder=(), cross=())
    opened = open_record(visit_page, tmp_path, record, "head=e1.1&view=map")
    labels = [opened.root.locator(f"{s} .label") for s in (".queries", ".keys")]
    assert labels[0].all_inner_texts() == LONG
    x = labels[1].evaluate_all("all => all.map((e) => [e.getBoundingClientRect().x, e.innerText])")
    assert [text for _, text in sorted(x)] == LONG
    opened.open_head(Head("encoder", 5, 7))
    weights = record.encoder[5][7]
    labels[0].nth(97).click()
    check_readout(opened.readout, 97, None, weights, LONG, LONG)
    opened.cells.focus()
    opened.press("ArrowDown")
    check_readout(opened.readout, 98, 0, weights, LONG, LONG)
    canvas = opened.cells.locator("canvas")
    close(weights_of_canvas(canvas), weights)
    # What is pointed at is the cell below the pointer, and a press chooses it.
    box = opened.cells.bounding_box()
    place = {"x": 13.5 * box["width"] / 101, "y": 17.5 * box["height"] / 101}
    opened.cells.hover(position=place)
    check_readout(opened.readout, 17, 13, weights, LONG, LONG)
    opened.page.mouse.move(0, 0)
    check_readout(opened.readout, 98, 0, weights, LONG, LONG)
    opened.cells.click(position=place)
    opened.page.mouse.move(0, 0)
    check_readout(opened.readout, 17, 13, weights, LONG, LONG)
    lit = opened.root.locator(".label.lit").all_inner_texts()
    assert lit == ["word13", "word17"]
    box = opened.cells.bounding_box()  # the page may have scrolled
    for band, side, length, at in (("row", "y", "height", 17), ("column", "x", "width", 13)):
        frame = opened.root.locator(f".band.{band}").bounding_box()
        assert frame[side] - box[side] == pytest.approx(at * box[length] / 101, abs=1)
        assert frame[length] == pytest.approx(box[length] / 101, abs=1)
    opened.button("Make small weights visible").click()
    close(weights_of_canvas(canvas), np.sqrt(weights))
    opened.go_deeper()
    # A small map shows the largest weight of each block of a hundred tokens.
    small = np.zeros((102, 102))
    small[:101, :101] = weights
    blocks = small.reshape(51, 2, 51, 2).max(axis=(1, 3))
    close(weights_of_canvas(opened.dot(Head("encoder", 5, 7)).locator("canvas")), blocks)
    opened.show("as lines")
    opened.root.locator(".column.query button").nth(17).press("Escape")
    assert 1 < opened.root.locator(".line-board > svg line").count() <= 60


def test_a_large_map_has_its_gold_and_its_mask(visit_page, tmp_path):
    words = LONG[:37]
    record = make_record(words, words, words, alignment=((31, 7), (2, 29)))
    opened = open_record(visit_page, tmp_path, record, "head=c1.1&view=map")
    box = opened.cells.bounding_box()
    rings = [ring.bounding_box() for ring in opened.root.locator(".rings .ring.gold").all()]
    middles = [
        (r["x"] + r["width"] / 2 - box["x"], r["y"] + r["height"] / 2 - box["y"]) for r in rings
    ]
    places = [(int(x / box["width"] * 37), int(y / box["height"] * 37)) for x, y in middles]
    assert places == [(31, 7), (2, 29)]
    opened.open_head(FIRST["decoder"])
    expect(opened.root.locator(".rings .ring")).to_have_count(0)
    opened.cells.focus()
    opened.press("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")
    check_readout(opened.readout, 1, 1, record.decoder[0][0], words, words)


@pytest.mark.thorough(caught_by=["test_one_hundred_tokens_and_48_heads"])
def test_512_tokens_open_and_say_what_is_left_out(visit_page, tmp_path, monkeypatch):
    monkeypatch.setattr(record_data, "MOST_VALUES", 300_000)
    words = [f"word{i}" for i in range(512)]
    record = make_record(words, (), (), encoder=(2,), decoder=(), cross=())
    opened = open_record(visit_page, tmp_path, record, "head=e1.1&view=map")
    note = opened.root.locator(".weight-map .note")
    expect(note).to_contain_text("In each row, only the 32 strongest of 512 weights are shown.")
    weights = record.encoder[0][0]
    opened.cells.focus()
    opened.press("ArrowRight", "ArrowRight", "ArrowRight")
    kept = np.where(weights >= np.sort(weights)[:, -32, None], weights, 0)
    assert kept[0, 2] == 0 < weights[0, 2]
    assert opened.readout.startswith(
        "The weight of “word2” is 0, or left out. “word0” looks most at "
    )
    best = int(weights[0].argmax())
    assert f"looks most at “word{best}” {weights[0, best]:.2f}" in opened.readout
    opened.go_deeper()
    blocks = kept.reshape(64, 8, 64, 8).max(axis=(1, 3))
    close(weights_of_canvas(opened.dot(FIRST["encoder"]).locator("canvas")), blocks)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("way", [Locator.click, by_keyboard])
def test_the_open_map_is_saved_as_svg_and_png(way, as_map, tmp_path):
    as_map.go_deeper()
    drawing = save(as_map, "SVG", way, tmp_path)
    assert drawing.name == "attention_c1.1.svg"
    root = ET.parse(drawing).getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["Cross-attention: mixed (c1.1)", *WRITTEN, *SOURCE]
    (image,) = root.iter("{http://www.w3.org/2000/svg}image")
    assert (float(image.get("width")), float(image.get("height"))) == (7 * 24, 5 * 24)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}ellipse"))) == 2 * (len(GOLD) + 2)
    picture = Image.open(save(as_map, "PNG", way, tmp_path)).convert("RGB")
    assert picture.size == tuple(round(2 * float(root.get(side))) for side in ("width", "height"))
    left, top = (2 * float(image.get(place)) for place in ("x", "y"))
    for query, key in np.ndindex(5, 7):
        point = np.array(picture.getpixel((left + 48 * (key + 0.5), top + 48 * (query + 0.5))))
        assert nearest(point) / 255 == pytest.approx(CROSS[query, key], abs=0.012)


def test_the_open_lines_are_saved_as_they_are_seen(opened, tmp_path):
    opened.root.locator(".column.query button").nth(2).click()
    opened.go_deeper()
    root = ET.parse(save(opened, "SVG", Locator.click, tmp_path)).getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["Cross-attention: mixed (c1.1)", *WRITTEN, *SOURCE]
    lines = list(root.iter("{http://www.w3.org/2000/svg}line"))
    widths = sorted((float(line.get("stroke-width")) - 0.5) / 5 for line in lines)
    assert widths == pytest.approx(sorted(w for w in CROSS[2] if w >= 0.01), abs=0.001)


# ---------------------------------------------------------------- where no script runs


def test_the_data_in_the_page_are_those_that_python_packed(full_page):
    text = full_page.read_text(encoding="utf-8")
    (packed,) = re.findall(r'<script type="application/json"[^>]*>(.*)</script>', text)
    names = name_heads([RECORD])
    page = lab(RECORD, start="head=c1.1", snapshots=SNAPSHOTS, names=names)
    expected = page.data | {"address": True}
    assert json.loads(packed) == json.loads(json.dumps(expected))
