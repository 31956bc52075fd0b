"""The explorer's page: what the screen says is what NumPy says, by mouse and by keyboard alone."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.browser.screen import (
    CROSS,
    GOLD,
    RECORD,
    SNAPSHOTS,
    by_keyboard,
    check_readout,
    close,
    in_order,
    nearest,
    numbers,
    pixels_of,
    save,
    shown_head,
)
from tests.records import SOURCE, TARGET, WRITTEN, make_record
from tests.thorough import thorough_from
from transformer_lab.attention.record import Head
from transformer_lab.attention.scores import available_scores, head_alignment_error_rate
from transformer_lab.lab import explore

# ---------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_every_cell_has_its_weight_and_every_line_its_token(kind, opened):
    opened.button(kind.capitalize()).click()
    queries, keys = RECORD.tokens(kind)
    weights = RECORD.weights(Head(kind, 0, 0))
    opened.page.mouse.move(0, 0)
    seen = opened.weights(opened.cells, weights.shape)
    close(seen, weights)
    for row, drawn in zip(weights, seen, strict=True):
        best = np.sort(row)
        if best[-1] - best[-2] > 0.03:
            assert row.argmax() == drawn.argmax()
    assert opened.labels("queries") == list(queries)
    assert opened.labels("keys") == list(keys)
    map_box = opened.cells.bounding_box()
    for side, place, length in (("queries", "y", "height"), ("keys", "x", "width")):
        boxes = [e.bounding_box() for e in opened.root.locator(f".{side} .label").all()]
        middles = [box[place] + box[length] / 2 - map_box[place] for box in boxes]
        cell = map_box[length] / len(boxes)
        np.testing.assert_allclose(middles, (np.arange(len(boxes)) + 0.5) * cell, atol=1.5)
    names = {
        "encoder": ("source word", "source word it looks at"),
        "decoder": ("target word read", "target word it looks at"),
        "cross": ("target word written", "source word it looks at"),
    }
    axes = "Rows: {} (query). Columns: {} (key).".format(*names[kind])
    expect(opened.root.locator(".axes")).to_have_text(axes)


def test_small_weights_are_shown_by_their_root(opened):
    opened.button("Show small weights").click()
    weights = RECORD.weights(Head("cross", 0, 0))
    close(opened.weights(opened.cells, weights.shape), np.sqrt(weights))
    expect(opened.root.locator(".scale")).to_contain_text("colour by its square root")
    opened.button("Show small weights").click()
    close(opened.weights(opened.cells, weights.shape), weights)


def test_every_head_is_drawn_small_under_its_name(opened):
    tiles = opened.root.locator(".tile")
    assert tiles.count() == 9
    for number, head in enumerate(RECORD.heads("cross")):
        if head in RECORD.muted:
            expect(tiles.nth(number)).to_have_text(f"{head.layer + 1}.{head.head + 1}  muted")
            continue
        weights = RECORD.weights(head)
        close(
            opened.weights(tiles.nth(number).locator(".picture"), weights.shape, inset=0.5), weights
        )
        expect(tiles.nth(number)).to_have_text(f"{head.layer + 1}.{head.head + 1}")
        name = f"Layer {head.layer + 1}, head {head.head + 1}"
        expect(tiles.nth(number)).to_have_accessible_name(name)
    expect(tiles.nth(4)).to_have_accessible_name("Layer 2, head 2, muted")


def test_layers_may_have_other_numbers_of_heads(visit_page, tmp_path):
    record = make_record(encoder=(2, 5, 3), decoder=(1,), cross=(7, 2))
    page = explore(record, kind="encoder", layer=1, head=4)
    opened = visit_page(page.to_html(tmp_path / "a.html"))
    assert shown_head(opened) == "Encoder attention, layer 2, head 5"
    captions = opened.root.locator(".tile").all_inner_texts()
    assert captions == ["1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2", "3.3"]
    opened.button("Decoder").click()
    assert shown_head(opened) == "Decoder attention, layer 1, head 1", "the nearest that there is"
    close(opened.weights(opened.cells, (5, 5)), record.decoder[0][0])
    opened.button("Cross").click()
    opened.root.locator(".tile").nth(8).click()
    close(opened.weights(opened.cells, (5, 7)), record.cross[1][1])


def test_one_stack_of_one_token_opens(visit_page, tmp_path):
    """As from a decoder alone; a score that it has not got is a dash, and comes last."""
    record = make_record(source=(), target=("<bos>",), written=("a",), encoder=(), cross=())
    opened = visit_page(explore(record).to_html(tmp_path / "a.html"))
    assert opened.root.locator(".kinds button").all_inner_texts() == ["Decoder"]
    close(opened.weights(opened.cells, (1, 1)), [[1]])
    expect(opened.root.locator(".facts")).to_contain_text("previous token –")
    opened.root.get_by_label("Sort heads by").select_option("previous_token")
    assert in_order(opened)[0] == "1.1  –"
    expect(opened.root.locator(".sentence")).to_have_text("a")


def test_gold_is_ringed_at_its_word_and_step(opened):
    rings = opened.root.locator(".marks ellipse:not(.under)")
    box = opened.cells.bounding_box()
    places = []
    for ring in rings.all():
        at = ring.bounding_box()
        x, y = at["x"] + at["width"] / 2 - box["x"], at["y"] + at["height"] / 2 - box["y"]
        places.append((int(x / box["width"] * 7), int(y / box["height"] * 5)))
    assert places == [*GOLD, (1, 2), (4, 2)], "key and query; then the referent and the other noun"
    # A ring is white on black, whatever the weight below it.
    pixels = pixels_of(opened.cells)
    cell = pixels[:30, :30].reshape(-1, 3)
    assert (cell > 200).all(axis=1).sum() > 40
    legend = opened.root.locator(".legend")
    expect(legend).to_contain_text("○ gold alignment")
    opened.button("Decoder").click()
    expect(legend).to_have_text("")
    opened.button("Encoder").click()
    expect(legend).to_have_text("orange ○ referent · dashed ○ the other noun")
    opened.button("Cross").click()
    expect(legend).to_contain_text("○ gold alignment")
    opened.button("Show gold").click()
    expect(rings).to_have_count(0)
    expect(legend).to_have_text("")
    assert not (pixels_of(opened.cells)[:30, :30] > 200).all(axis=-1).any()


def test_the_line_of_scores_is_that_of_the_open_head(opened):
    opened.root.locator(".tile").nth(5).click()
    head = Head("cross", 1, 2)
    scores = available_scores(RECORD, "cross")
    expected = [score.compute(RECORD, head) for score in scores]
    facts = opened.root.locator(".facts").inner_text()
    assert numbers(facts) == pytest.approx(expected, abs=0.0051)
    assert re.findall(r"[a-z][a-z ]+[a-z]", facts) == [score.label for score in scores]


# ---------------------------------------------------------------- hover and pin


def check_cross(opened, query, key):
    check_readout(opened.readout, query, key, CROSS, WRITTEN, SOURCE)


def check_numbers(opened, row):
    """The weights that stand in the row, each in its column."""
    box = opened.cells.bounding_box()
    seen = {}
    for number in opened.root.locator(".numbers span").all():
        at = number.bounding_box()
        assert round((at["y"] - box["y"]) / at["height"]) == row
        seen[round((at["x"] - box["x"]) / at["width"])] = float(number.inner_text())
    expected = {k: w for k, w in enumerate(CROSS[row]) if w >= 0.045}
    assert seen == pytest.approx(expected, abs=0.0056)


def framed(opened) -> set[str]:
    bands = opened.root.locator(".band")
    return {b.get_attribute("class").split()[1] for b in bands.all() if b.is_visible()}


def test_hover_says_the_cell_its_row_and_its_column(opened):
    assert opened.readout.startswith("Point at a word or a cell")
    for query, key in ((2, 4), (4, 6), (0, 0)):
        opened.cells.hover(position=opened.point_at(query, key))
        check_cross(opened, query, key)
        check_numbers(opened, query)
        assert framed(opened) == {"row", "column"}
        lit = opened.root.locator(".label.lit").all_inner_texts()
        assert sorted(lit) == sorted([WRITTEN[query], SOURCE[key]])
        # The frame is where the row is: its first and last line of pixels.
        orange = np.abs(pixels_of(opened.cells) - [0xD6, 0x58, 0]).sum(axis=-1) < 24
        lines = np.flatnonzero(orange.mean(axis=1) > 0.8)
        assert abs(lines - 30 * query).min() <= 1
        assert abs(lines - 30 * (query + 1)).min() <= 2
    opened.page.mouse.move(5, 5)
    assert opened.readout.startswith("Point at a word or a cell")
    assert framed(opened) == set()


def test_hover_over_a_label_says_its_row_or_its_column_alone(opened):
    opened.root.locator(".queries .label").nth(3).hover()
    check_cross(opened, 3, None)
    assert framed(opened) == {"row"}
    opened.root.locator(".keys .label").nth(5).hover()
    check_cross(opened, None, 5)
    assert framed(opened) == {"column"}


def test_a_click_pins_and_another_click_lets_go(opened):
    place = opened.point_at(3, 2)
    opened.cells.click(position=place)
    opened.page.mouse.move(5, 5)
    check_cross(opened, 3, 2)
    opened.cells.hover(position=opened.point_at(1, 5))
    check_cross(opened, 1, 5)
    opened.page.mouse.move(5, 5)
    check_cross(opened, 3, 2)
    opened.cells.click(position=place)
    opened.page.mouse.move(5, 5)
    assert opened.readout.startswith("Point at")


def test_the_keyboard_moves_pins_and_lets_go(opened):
    opened.cells.focus()
    opened.press("ArrowDown")  # the first press begins at the corner
    check_cross(opened, 0, 0)
    opened.press("ArrowDown", "ArrowDown", "ArrowRight")
    check_cross(opened, 2, 1)
    opened.press("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    check_cross(opened, 1, 0)
    opened.press("Enter", *["ArrowDown"] * 9, *["ArrowRight"] * 9)
    check_cross(opened, 4, 6)
    opened.press("Tab")
    expect(opened.cells).not_to_be_focused()
    opened.cells.focus()
    opened.press("Escape")
    assert opened.readout.startswith("Point at")
    opened.press("ArrowDown", "Space")
    assert opened.readout.endswith("Pinned.")
    opened.press("Space")
    assert "Pinned" not in opened.readout
    opened.press("ArrowDown", "ArrowRight", "r")
    check_cross(opened, 0, None)
    assert opened.readout.endswith("Pinned.")
    opened.press("ArrowRight", "ArrowRight", "c")
    check_cross(opened, None, 1)


def test_what_is_pinned_at_first_is_shown(visit_page, tmp_path):
    page = explore(RECORD, kind="encoder", layer=1, head=2, pinned=(None, 3))
    opened = visit_page(page.to_html(tmp_path / "a.html"))
    assert shown_head(opened) == "Encoder attention, layer 2, head 3"
    weights = RECORD.weights(Head("encoder", 1, 2))
    check_readout(opened.readout, None, 3, weights, SOURCE, SOURCE)


# ---------------------------------------------------------------- heads, kinds, order


@pytest.mark.parametrize("way", [Locator.click, by_keyboard])
def test_the_kind_is_changed(way, opened):
    way(opened.button("Decoder"))
    assert shown_head(opened) == "Decoder attention, layer 1, head 1"
    expect(opened.button("Decoder")).to_have_attribute("aria-pressed", "true")
    expect(opened.button("Cross")).to_have_attribute("aria-pressed", "false")
    close(opened.weights(opened.cells, (5, 5)), RECORD.decoder[0][0])
    way(opened.button("Encoder"))
    close(opened.weights(opened.cells, (7, 7)), RECORD.encoder[0][0])
    assert opened.root.locator(".tile").count() == 5


def test_a_head_is_opened_by_mouse(opened):
    opened.root.locator(".tile").nth(7).click()
    assert shown_head(opened) == "Cross attention, layer 3, head 2"
    close(opened.weights(opened.cells, (5, 7)), RECORD.cross[2][1])
    pressed = opened.root.locator(".tile[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["3.2"]


def test_a_head_is_opened_by_keyboard(opened):
    opened.button("Encoder").focus()
    opened.press("Tab", "Tab", "Tab", "Tab")  # Decoder, Cross, Sort by, the open tile
    expect(opened.root.locator(".tile").first).to_be_focused()
    for keys, layer, head in (
        (["ArrowRight"], 0, 1),
        (["ArrowDown", "ArrowDown"], 2, 1),
        (["ArrowRight", "ArrowRight"], 2, 2),
        (["Home"], 0, 0),
        (["End"], 2, 2),
        (["ArrowUp", "ArrowLeft"], 1, 1),
    ):
        opened.press(*keys)
        assert shown_head(opened) == f"Cross attention, layer {layer + 1}, head {head + 1}"
        expect(opened.root.locator(":focus")).to_have_text(re.compile(rf"^{layer + 1}.{head + 1}"))
    close(opened.weights(opened.cells, (5, 7)), RECORD.cross[1][1])


@pytest.mark.parametrize("how", ["choice", "keyboard"])
@pytest.mark.parametrize("name", thorough_from(1, ["entropy", "mean_distance"]))
def test_heads_are_sorted_by_a_score(how, name, opened):
    names = [score.name for score in available_scores(RECORD, "encoder")]
    score = available_scores(RECORD, "encoder")[names.index(name)]
    sign = 1 if score.best == "low" else -1
    opened.button("Encoder").click()
    order = opened.root.get_by_label("Sort heads by")
    if how == "choice":
        order.select_option(name)
    else:
        order.focus()
        opened.press(*["ArrowDown"] * (1 + names.index(name)))
    heads = RECORD.heads("encoder")
    scores = [score.compute(RECORD, head) for head in heads]
    expected = [heads[i] for i in np.argsort(np.array(scores) * sign, kind="stable")]
    captions = in_order(opened)
    assert [c.split()[0] for c in captions] == [f"{h.layer + 1}.{h.head + 1}" for h in expected]
    values = [float(c.split()[1]) for c in captions]
    assert values == pytest.approx(sorted(scores, key=lambda s: s * sign), abs=0.0051)
    first = opened.root.get_by_role("button", name=f"Layer {expected[0].layer + 1}, head")
    assert any(
        f", {score.label} {values[0]:.2f}" in b.get_attribute("aria-label") for b in first.all()
    )
    # Each tile still has its own picture.
    for tile, head in zip(opened.root.locator(".tile").all(), expected, strict=True):
        close(opened.weights(tile.locator(".picture"), (7, 7), inset=0.5), RECORD.weights(head))
    order.select_option("")
    assert in_order(opened) == ["1.1", "1.2", "2.1", "2.2", "2.3"]


@pytest.mark.thorough(caught_by=["test_heads_are_sorted_by_a_score"])
def test_heads_are_sorted_by_their_alignment_error(opened):
    opened.root.get_by_label("Sort heads by").select_option("aer")
    heads = RECORD.heads("cross")
    errors = [head_alignment_error_rate(RECORD, head) for head in heads]
    expected = [heads[i] for i in np.argsort(errors, kind="stable")]
    found = [caption.split()[0] for caption in in_order(opened)]
    assert found == [f"{h.layer + 1}.{h.head + 1}" for h in expected]
    opened.button("Encoder").click()
    assert opened.root.get_by_label("Sort heads by").input_value() == "", "it has no gold"


# ---------------------------------------------------------------- steps and training


def set_slider(opened, slider: Locator, share: float) -> None:
    box = slider.bounding_box()
    opened.page.mouse.click(
        box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2
    )


def check_step(opened, step):
    steps = opened.root.locator(".steps")
    expect(steps.locator("label")).to_have_text(f"Step {step + 1} of 5 ")
    read = " ".join(TARGET[: step + 1])
    expect(steps.locator("p").first).to_have_text(f"Read so far: {read} → writes {WRITTEN[step]}")
    *rows, others = steps.get_by_role("listitem").all()
    for row, (token, probability) in zip(rows, RECORD.next_tokens[step], strict=True):
        name, value = row.inner_text().split()
        assert name == token
        assert float(value) == pytest.approx(probability, abs=0.00051)
        track, bar = (row.locator(part).bounding_box()["width"] for part in (".track", "i"))
        assert bar / track == pytest.approx(probability, abs=0.02)
    rest = 1 - sum(probability for _, probability in RECORD.next_tokens[step])
    name, _, value = others.inner_text().partition("\n")
    assert name == "all others together"
    assert float(value) == pytest.approx(rest, abs=0.00051)


def test_a_word_that_stands_twice_is_named_with_its_place(visit_page, tmp_path):
    record = make_record(source=("the", "cat", "and", "the", "dog", ".", "<eos>"))
    opened = visit_page(explore(record, kind="encoder", layer=0).to_html(tmp_path / "a.html"))
    opened.root.locator(".queries .label").nth(3).hover()
    assert opened.readout.startswith("the (4) looks at: ")
    opened.root.locator(".queries .label").nth(1).hover()
    assert opened.readout.startswith("cat looks at: ")


@pytest.mark.thorough(
    caught_by=["test_small_weights_are_shown_by_their_root", "test_a_head_as_lines_by_mouse"]
)
def test_small_weights_are_shown_as_lines_too(opened):
    opened.button("Lines").click()
    opened.root.locator(".column.query button").nth(2).click()
    lines = opened.root.locator(".map.lines line")
    widths = [float(line.get_attribute("stroke-width")) for line in lines.all()]
    opened.button("Show small weights").click()
    wider = [float(line.get_attribute("stroke-width")) for line in lines.all()]
    weights = (np.array(widths) - 0.5) / 5
    np.testing.assert_allclose((np.array(wider) - 0.5) / 5, np.sqrt(weights), atol=1e-6)


def test_the_step_follows_the_row_that_is_looked_at(opened):
    opened.root.locator(".queries .label").nth(2).hover()
    check_step(opened, 2)
    opened.root.locator(".turned .label").nth(1).hover()
    check_step(opened, 2)
    opened.root.locator(".queries .label").nth(4).click()
    opened.root.locator(".queries .label").nth(1).hover()
    check_step(opened, 1)
    opened.page.mouse.move(2, 2)
    check_step(opened, 4)


def test_the_slider_goes_on_from_the_row_that_the_keyboard_looks_at(opened):
    """Also onto the row that is pinned, which stays pinned."""
    opened.root.locator(".queries .label").nth(3).click()
    opened.cells.focus()
    opened.press("ArrowUp")
    check_step(opened, 2)
    opened.root.get_by_label("Decoding step").focus()
    opened.press("ArrowRight")
    check_step(opened, 3)
    check_cross(opened, 3, None)


def test_what_the_numbers_mean_can_be_read(opened):
    opened.root.get_by_text("What the numbers of a head mean").click()
    labels = [score.label for score in available_scores(RECORD, "cross")]
    terms = opened.root.locator("dt").all_inner_texts()
    assert terms == [*labels, "2.1 under a small map"]
    expect(opened.root.locator("dd").first).to_contain_text("0 nats if all is on one key")
    opened.button("Decoder").click()
    assert "distance" in opened.root.locator("dt").all_inner_texts()
    assert "distance" not in terms


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_decoding_is_stepped_through(way, opened):
    slider = opened.root.get_by_label("Decoding step")
    check_step(opened, 0)
    if way == "mouse":
        set_slider(opened, slider, 0.75)
    else:
        slider.focus()
        opened.press("ArrowRight", "ArrowRight", "ArrowRight")
        expect(slider).to_be_focused()
    check_step(opened, 3)
    check_cross(opened, 3, None)
    value = "step 4, writes chien"
    expect(slider).to_have_attribute("aria-valuetext", value)
    # The step stays where its rows are the steps too.
    opened.button("Decoder").click()
    check_step(opened, 3)
    weights = RECORD.weights(Head("decoder", 0, 0))
    check_readout(opened.readout, 3, None, weights, TARGET, TARGET)
    opened.button("Encoder").click()
    expect(opened.root.locator(".steps")).to_be_hidden()


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_heads_are_watched_through_training(way, opened):
    slider = opened.root.get_by_label("Training snapshot")
    name = opened.root.locator(".snapshots output")
    expect(name).to_have_text("step 300")
    opened.root.locator(".tile").nth(7).click()
    if way == "mouse":
        set_slider(opened, slider, 0)
    else:
        slider.focus()
        opened.press("ArrowLeft", "ArrowLeft")
        expect(slider).to_be_focused()
    expect(name).to_have_text("step 100")
    expect(slider).to_have_attribute("aria-valuetext", "step 100")
    assert shown_head(opened) == "Cross attention, layer 3, head 2"
    close(opened.weights(opened.cells, (5, 7)), SNAPSHOTS[0].cross[2][1])
    tile = opened.root.locator(".tile .picture").nth(2)
    close(opened.weights(tile, (5, 7), inset=0.5), SNAPSHOTS[0].cross[0][2])
    slider.focus()
    opened.press("End")
    expect(name).to_have_text("step 300")
    close(opened.weights(opened.cells, (5, 7)), RECORD.cross[2][1])


@pytest.mark.thorough(caught_by=["test_heads_are_watched_through_training"])
def test_snapshots_of_other_lengths_and_depths_show_the_nearest(visit_page, tmp_path):
    """An untrained model's translation may be longer, and its pin lies outside of the shorter one."""
    words = tuple("abcdefghijk")
    long = make_record(target=("<bos>", *words[:-1]), written=words, cross=(3,), label="early")
    opened = visit_page(explore(RECORD, layer=0, snapshots=[long]).to_html(tmp_path / "a.html"))
    opened.root.locator(".tile").nth(8).click()
    slider = opened.root.get_by_label("Training snapshot")
    slider.focus()
    opened.press("Home")
    assert shown_head(opened) == "Cross attention, layer 1, head 3"
    assert opened.labels("queries") == list(words)
    opened.root.locator(".queries .label").nth(10).click()
    assert opened.readout.startswith("k looks at: ")
    slider.focus()
    opened.press("End")
    opened.page.mouse.move(5, 5)
    assert opened.readout.startswith("Point at")
    assert opened.labels("queries") == list(WRITTEN)


# ---------------------------------------------------------------- lines, table, files


def check_lines(opened, weights, query):
    """One line for each weight of the row that can be seen, from its query to its key."""
    expected = {k: w for k, w in enumerate(weights[query]) if w >= 0.01}
    seen = {}
    for line in opened.root.locator("svg line").all():
        ends = [float(line.get_attribute(name)) / 24 - 0.5 for name in ("y2", "y1")]
        assert ends[0] == query
        seen[int(ends[1])] = (float(line.get_attribute("stroke-width")) - 0.5) / 5
    assert seen == pytest.approx(expected, abs=0.001)


def test_a_head_as_lines_by_mouse(opened):
    opened.button("Lines").click()
    expect(opened.root.locator(".axes")).to_have_text(
        "Left: source word it looks at (key). Right: target word written (query)."
    )
    strong = np.sort(CROSS.ravel())[::-1]
    assert opened.root.locator("svg line").count() == (strong >= 0.01).sum()
    side = opened.root.get_by_role("group", name="Queries: target word written")
    assert side.get_by_role("button").all_inner_texts() == list(WRITTEN)
    other = opened.root.get_by_role("group", name="Keys: source word it looks at")
    assert other.get_by_role("button").all_inner_texts() == list(SOURCE)
    side.get_by_text("chat", exact=True).hover()
    check_lines(opened, CROSS, 1)
    check_cross(opened, 1, None)
    side.get_by_text("voit", exact=True).click()
    opened.page.mouse.move(5, 5)
    check_lines(opened, CROSS, 2)
    opened.button("Lines").click()
    close(opened.weights(opened.cells, (5, 7)), CROSS)
    check_cross(opened, 2, None)


@pytest.mark.thorough(
    caught_by=["test_a_head_as_lines_by_mouse", "test_a_head_is_opened_by_keyboard"]
)
def test_a_head_as_lines_by_keyboard(opened):
    by_keyboard(opened.button("Lines"))
    expect(opened.button("Lines")).to_be_focused()
    queries, keys = (opened.root.locator(f".column.{side} button") for side in ("query", "key"))
    opened.button("Save this map as PNG").focus()
    opened.press("Tab", "Tab")  # the words looked at come first
    expect(queries.first).to_be_focused()
    check_lines(opened, CROSS, 0)
    opened.press("ArrowDown", "ArrowDown")
    expect(queries.nth(2)).to_be_focused()
    check_lines(opened, CROSS, 2)
    opened.press("Enter")
    assert opened.readout.endswith("Pinned.")
    expect(queries.nth(2)).to_be_focused()
    opened.press("ArrowLeft")
    expect(keys.first).to_be_focused()
    opened.press("ArrowDown")
    check_cross(opened, None, 1)
    opened.press("Escape")
    assert opened.readout.startswith("Point at")
    opened.press("Tab", "Tab")
    expect(opened.root.get_by_label("Decoding step")).to_be_focused()


def test_the_strongest_links_as_a_table(opened):
    by_keyboard(opened.root.get_by_text("The 12 strongest links as a table"))
    expect(opened.root.get_by_role("row")).to_have_count(13)
    rows = opened.root.get_by_role("row").all()
    assert rows[0].inner_text().split() == ["query", "key", "weight"]
    places = np.dstack(np.unravel_index(np.argsort(-CROSS, axis=None)[:12], CROSS.shape))[0]
    for row, (query, key) in zip(rows[1:], places, strict=True):
        *names, weight = row.inner_text().split()
        assert names == [WRITTEN[query], SOURCE[key]]
        assert float(weight) == pytest.approx(CROSS[query, key], abs=0.0011)
    opened.root.locator(".tile").nth(1).click()
    first = opened.root.get_by_role("row").nth(1).inner_text().split()
    assert float(first[2]) == pytest.approx(RECORD.cross[0][1].max(), abs=0.0011)


@pytest.mark.parametrize("way", [Locator.click, by_keyboard])
def test_the_open_map_is_saved_as_svg_and_png(way, opened, tmp_path):
    drawing = save(opened, "SVG", way, tmp_path)
    assert drawing.name == "attention_cross_1_1.svg"
    root = ET.parse(drawing).getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["Cross attention, layer 1, head 1", *WRITTEN, *SOURCE]
    (image,) = root.iter("{http://www.w3.org/2000/svg}image")
    assert (float(image.get("width")), float(image.get("height"))) == (7 * 24, 5 * 24)
    picture = Image.open(save(opened, "PNG", way, tmp_path)).convert("RGB")
    assert picture.size == tuple(round(2 * float(root.get(side))) for side in ("width", "height"))
    left, top = (2 * float(image.get(place)) for place in ("x", "y"))
    for query, key in np.ndindex(5, 7):
        point = np.array(picture.getpixel((left + 48 * (key + 0.5), top + 48 * (query + 0.5))))
        assert nearest(point) / 255 == pytest.approx(CROSS[query, key], abs=0.012)
