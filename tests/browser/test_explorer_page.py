"""The explorer's page in a real browser: what the screen says is what NumPy says, by mouse and keys."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import matplotlib
import nbformat
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbconvert import HTMLExporter
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.records import SOURCE, TARGET, WRITTEN, make_record, probabilities
from transformer_lab.attention_record import AttentionRecord, Head, Referent
from transformer_lab.evaluation.alignment import SHAPE_SCORES, head_alignment_error_rate
from transformer_lab.viz import explore
from transformer_lab.viz.explorer import payload
from transformer_lab.viz.explorer.page import PAGE

GOLD = ((0, 0), (1, 1), (2, 2), (4, 3))
HOSTILE = (
    "</script>",
    "<img src=x onerror=alert(1)>",
    "\"'&amp;`${alert(1)}",
    "🙂",
    "שלום",
    "w" * 60,
    "",
    "\u202eabc",
    "\x00\x1b",
    "a\nb",
    " x ",
)
SEEN = ("</script>", HOSTILE[1], HOSTILE[2], "🙂", "שלום", "w" * 60, "∅", "\u202eabc")
SEEN = (*SEEN, "\u2400\u241b", "a⏎b", "␣x␣")
VIRIDIS = (matplotlib.colormaps["viridis"](np.linspace(0, 1, 256))[:, :3] * 255).round()


def full_record(**changes) -> AttentionRecord:
    """Everything that a record can have."""
    facts = {
        "next_tokens": probabilities(WRITTEN, np.random.default_rng(0)),
        "alignment": GOLD,
        "referent": Referent(pronoun=5, referent=1, other=4, step=2, decider=6),
        "muted": frozenset({Head("cross", 1, 1)}),
        "label": "step 300",
    }
    return make_record(**{**facts, **changes})


RECORD = full_record()
SNAPSHOTS = tuple(make_record(seed=seed, label=f"step {100 * seed}") for seed in (1, 2))


@pytest.fixture(scope="module")
def full_page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "full.html"
    return explore(RECORD, snapshots=SNAPSHOTS).to_html(path)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "hostile.html"
    record = make_record(
        HOSTILE,
        HOSTILE[4:9],
        HOSTILE[:5],
        next_tokens=probabilities(HOSTILE[:5], np.random.default_rng(0)),
        label="<b>last</b>",
    )
    return explore(record, snapshots=[replace(record, label="</script>")]).to_html(path)


@dataclass
class Opened:
    """An explorer's page on the screen."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def root(self) -> Locator:
        return self.page.locator(".tl-explorer")

    @property
    def cells(self) -> Locator:
        return self.root.locator(".cells")

    @property
    def readout(self) -> str:
        return self.root.locator(".readout").inner_text()

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def pixels(self, element: Locator) -> np.ndarray:
        """The element as it is on the screen: (height, width, RGB)."""
        image = Image.open(io.BytesIO(element.screenshot())).convert("RGB")
        return np.asarray(image).astype(int)

    def weights(self, element: Locator, shape: tuple[int, int], inset: float = 0.1) -> np.ndarray:
        """A map's weights, read off the colours of its cells; away from rings, frames and numbers."""
        pixels = self.pixels(element)
        rows, columns = (((np.arange(n) + inset) / n) for n in shape)
        height, width = pixels.shape[:2]
        points = pixels[np.ix_((rows * height).astype(int), (columns * width).astype(int))]
        return nearest(points) / 255

    def point_at(self, query: int, key: int) -> dict[str, float]:
        """The middle of a cell, in pixels of the map."""
        box = self.cells.bounding_box()
        return {"x": (key + 0.5) * box["width"] / 7, "y": (query + 0.5) * box["height"] / 5}

    def labels(self, side: str) -> list[str]:
        """The labels of an axis in the order in which they stand on the screen."""
        place = "x" if side == "keys" else "y"
        texts = "all => all.map(e => [e.getBoundingClientRect()[PLACE], e.innerText])"
        found = self.root.locator(f".{side} .label").evaluate_all(
            texts.replace("PLACE", f"'{place}'")
        )
        return [text for _, text in sorted(found)]


def nearest(colours: np.ndarray) -> np.ndarray:
    """The place in the colour map that is nearest to each colour."""
    distance = np.abs(colours[..., None, :] - VIRIDIS).sum(axis=-1)
    assert distance.min(axis=-1).max() <= 12, "a colour that no weight has"
    return distance.argmin(axis=-1)


@pytest.fixture
def visit_page(browser):
    """Open a page from disk; at the end nothing may have been fetched, and no error may have come."""
    contexts, pages = [], []

    def visit(path: Path, **options) -> Opened:
        context = browser.new_context(**{"viewport": {"width": 1240, "height": 900}} | options)
        contexts.append(context)
        opened = Opened(context.new_page())
        pages.append((opened, path))
        page = opened.page
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and opened.errors.append(m.text))
        page.on("dialog", lambda dialog: (opened.errors.append("alert"), dialog.dismiss()))
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            expect(opened.root.first).to_have_attribute("data-ready", "true")
        return opened

    yield visit
    for opened, path in pages:
        assert opened.errors == []
        fetched = [url for url in opened.requests if not url.startswith(("data:", "blob:"))]
        assert set(fetched) == {path.as_uri()}
    for context in contexts:
        context.close()


@pytest.fixture
def opened(visit_page, full_page) -> Opened:
    return visit_page(full_page)


def close(seen, expected):
    np.testing.assert_allclose(seen, expected, atol=0.012)


def numbers(text: str) -> list[float]:
    return [float(n.replace("−", "-")) for n in re.findall(r"(?<![\w.])−?\d+\.\d+", text)]


def shown_head(opened) -> str:
    return opened.root.get_by_role("heading").inner_text()


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
    pixels = opened.pixels(opened.cells)
    cell = pixels[:30, :30].reshape(-1, 3)
    assert (cell > 200).all(axis=1).sum() > 40
    expect(opened.root.locator(".legend")).to_contain_text("○ gold alignment")
    opened.button("Show gold").click()
    expect(rings).to_have_count(0)
    assert not (opened.pixels(opened.cells)[:30, :30] > 200).all(axis=-1).any()


def test_the_line_of_scores_is_that_of_the_open_head(opened):
    opened.root.locator(".tile").nth(5).click()
    head = Head("cross", 1, 2)
    weights = RECORD.weights(head)
    referent = weights[2, 1] - weights[2, 4]
    expected = [SHAPE_SCORES["entropy"](weights), head_alignment_error_rate(RECORD, head), referent]
    facts = opened.root.locator(".facts").inner_text()
    assert numbers(facts) == pytest.approx(expected, abs=0.0051)
    assert re.findall(r"[a-z][a-z ]+[a-z]", facts) == ["entropy", "alignment error", "referent"]


# ---------------------------------------------------------------- hover and pin


def check_readout(text: str, query: int | None, key: int | None, weights, queries, keys):
    lines = text.split("\n")
    if query is not None and key is not None:
        first, value = lines.pop(0).rsplit(": ", 1)
        assert first == f"{queries[query]} → {keys[key]}"
        assert float(value) == pytest.approx(weights[query, key], abs=0.0011)
    parts = []
    if query is not None:
        parts.append((f"{queries[query]} looks at: ", weights[query], keys))
    if key is not None:
        parts.append((f"{keys[key]} is looked at by: ", weights[:, key], queries))
    for line, (start, values, names) in zip(lines, parts, strict=True):
        assert line.startswith(start)
        found = re.findall(r"(\S+) (\d\.\d\d)(?:\s|$)", line.removeprefix(start))
        strongest = np.sort(values)[::-1][:5]
        seen = [float(value) for _, value in found]
        assert len(seen) >= (strongest > 0.0056).sum()
        assert seen == pytest.approx(strongest[: len(seen)], abs=0.0057)
        assert found[0][0] == names[values.argmax()]
        of_names = [values[list(names).index(name)] for name, _ in found]
        assert seen == pytest.approx(of_names, abs=0.0057)


CROSS = RECORD.weights(Head("cross", 0, 0))


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
        orange = np.abs(opened.pixels(opened.cells) - [0xD6, 0x58, 0]).sum(axis=-1) < 24
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
    expect(opened.root).to_have_attribute("data-pinned", "true")
    opened.press("Space")
    expect(opened.root).to_have_attribute("data-pinned", "false")


def test_what_is_pinned_at_first_is_shown(visit_page, tmp_path):
    page = explore(RECORD, kind="encoder", layer=1, head=2, pinned=(None, 3))
    opened = visit_page(page.to_html(tmp_path / "a.html"))
    assert shown_head(opened) == "Encoder attention, layer 2, head 3"
    weights = RECORD.weights(Head("encoder", 1, 2))
    check_readout(opened.readout, None, 3, weights, SOURCE, SOURCE)


# ---------------------------------------------------------------- heads, kinds, order


def by_keyboard(control: Locator, key="Enter"):
    control.focus()
    control.press(key)


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


def in_order(opened) -> list[str]:
    """The tiles' captions as they stand: line by line, from the left."""
    tiles = [(t.bounding_box(), t.inner_text()) for t in opened.root.locator(".tile").all()]
    return [text for _, text in sorted(tiles, key=lambda t: (round(t[0]["y"]), t[0]["x"]))]


@pytest.mark.parametrize("how", ["choice", "keyboard"])
@pytest.mark.parametrize(("name", "sign"), [("entropy", 1), ("mean_distance", -1)])
def test_heads_are_sorted_by_a_score(how, name, sign, opened):
    opened.button("Encoder").click()
    order = opened.root.get_by_label("Sort heads by")
    if how == "choice":
        order.select_option(name)
    else:
        order.focus()
        opened.press(*["ArrowDown"] * (1 if name == "entropy" else 2))
    heads = RECORD.heads("encoder")
    scores = [SHAPE_SCORES[name](RECORD.weights(head)) for head in heads]
    expected = [heads[i] for i in np.argsort(np.array(scores) * sign, kind="stable")]
    captions = in_order(opened)
    assert [c.split()[0] for c in captions] == [f"{h.layer + 1}.{h.head + 1}" for h in expected]
    values = [float(c.split()[1]) for c in captions]
    assert values == pytest.approx(sorted(scores, key=lambda s: s * sign), abs=0.0051)
    first = opened.root.get_by_role("button", name=f"Layer {expected[0].layer + 1}, head")
    label = {"entropy": "entropy", "mean_distance": "distance"}[name]
    assert any(f", {label} {values[0]:.2f}" in b.get_attribute("aria-label") for b in first.all())
    # Each tile still has its own picture.
    for tile, head in zip(opened.root.locator(".tile").all(), expected, strict=True):
        close(opened.weights(tile.locator(".picture"), (7, 7), inset=0.5), RECORD.weights(head))
    order.select_option("")
    assert in_order(opened) == ["1.1", "1.2", "2.1", "2.2", "2.3"]


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
    expect(steps.locator("p")).to_have_text(f"Read so far: {read} → {WRITTEN[step]}")
    rows = steps.get_by_role("listitem").all()
    for row, (token, probability) in zip(rows, RECORD.next_tokens[step], strict=True):
        name, value = row.inner_text().split()
        assert name == token
        assert float(value) == pytest.approx(probability, abs=0.00051)
        track, bar = (row.locator(part).bounding_box()["width"] for part in (".track", "i"))
        assert bar / track == pytest.approx(probability, abs=0.02)


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


def test_snapshots_of_other_lengths_and_depths_show_the_nearest(visit_page, tmp_path):
    """An untrained model's translation may be longer, and its pin lies outside of the shorter one."""
    words = tuple("abcdefghijk")
    long = make_record(target=("<bos>", *words[:-1]), written=words, cross=(3,), label="early")
    opened = visit_page(explore(RECORD, snapshots=[long]).to_html(tmp_path / "a.html"))
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
        ends = [float(line.get_attribute(name)) / 20 - 0.5 for name in ("y1", "y2")]
        assert ends[0] == query
        seen[int(ends[1])] = (float(line.get_attribute("stroke-width")) - 0.5) / 5
    assert seen == pytest.approx(expected, abs=0.001)


def test_a_head_as_lines_by_mouse(opened):
    opened.button("Lines").click()
    expect(opened.root.locator(".axes")).to_have_text(
        "Left: target word written (query). Right: source word it looks at (key)."
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


def test_a_head_as_lines_by_keyboard(opened):
    by_keyboard(opened.button("Lines"))
    expect(opened.button("Lines")).to_be_focused()
    queries, keys = (opened.root.locator(f".column.{side} button") for side in ("query", "key"))
    opened.button("Save this map as PNG").focus()
    opened.press("Tab")
    expect(queries.first).to_be_focused()
    check_lines(opened, CROSS, 0)
    opened.press("ArrowDown", "ArrowDown")
    expect(queries.nth(2)).to_be_focused()
    check_lines(opened, CROSS, 2)
    opened.press("Enter")
    expect(opened.root).to_have_attribute("data-pinned", "true")
    expect(queries.nth(2)).to_be_focused()
    opened.press("ArrowRight")
    expect(keys.first).to_be_focused()
    opened.press("ArrowDown")
    check_cross(opened, None, 1)
    opened.press("Escape")
    assert opened.readout.startswith("Point at")
    opened.press("Tab")
    expect(opened.root.get_by_label("Decoding step")).to_be_focused()


def test_the_strongest_links_as_a_table(opened):
    by_keyboard(opened.root.get_by_text("The strongest links as a table"))
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


def save(opened, kind, way, tmp_path) -> Path:
    with opened.page.expect_download() as info:
        way(opened.button(f"Save this map as {kind}"))
    path = tmp_path / info.value.suggested_filename
    info.value.save_as(path)
    return path


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
    opened.root.get_by_text("The strongest links as a table").click()
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


def luminance(colour) -> float:
    c = np.asarray(colour) / 255
    return float(
        np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
    )


def contrast(one, other) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


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


def serious(opened) -> list:
    found = Axe().run(opened.page).response["violations"]
    return [
        (v["id"], [n["html"][:200] for n in v["nodes"]])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable_and_an_accessibility_checker_finds_nothing_serious(
    theme, visit_page, full_page, hostile_page
):
    opened = visit_page(full_page, color_scheme=theme)
    expect(opened.root).to_have_attribute("data-theme", theme)
    opened.root.get_by_text("The strongest links as a table").click()
    for _ in range(2):
        for query in range(5):
            opened.root.locator(".queries .label").nth(query).click()
            if query in (0, 2):
                check_contrast(opened)
        opened.button("Show small weights").click()
    opened.root.get_by_label("Sort heads by").select_option("aer")
    check_contrast(opened)
    assert serious(opened) == []
    opened.button("Lines").click()
    opened.root.locator(".column.query button").nth(2).hover()
    check_contrast(opened)
    assert serious(opened) == []
    assert serious(visit_page(hostile_page, color_scheme=theme)) == []


def test_numbers_on_every_colour_are_readable(visit_page, tmp_path):
    """A row of weights from 0.05 to 0.95, then one of a single 1."""
    share = np.array([[0.05, 0.95], [0.15, 0.85], [0.25, 0.75], [0.35, 0.65], [0.45, 0.55]])
    record = make_record(source=("a", "b"), encoder=(1,), cross=(1,))
    record = replace(record, cross=(share[None].astype(np.float32),))
    opened = visit_page(explore(record).to_html(tmp_path / "a.html"))
    for _ in range(2):
        for query in range(5):
            opened.root.locator(".queries .label").nth(query).hover()
            spans = opened.root.locator(".numbers span")
            assert spans.count() == 2
            for key in range(2):
                ink = spans.nth(key).evaluate("e => getComputedStyle(e).color.match(/\\d+/g)")
                pixels = opened.pixels(opened.cells)[30 * query + 5, 30 * key + 5]
                assert contrast([int(c) for c in ink[:3]], pixels) >= 4.5
        opened.button("Show small weights").click()


def test_the_theme_follows_the_reader(opened):
    expect(opened.root).to_have_attribute("data-theme", "light")
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.root).to_have_attribute("data-theme", "dark")
    opened.page.evaluate("document.body.style.background = '#fffff0'")
    expect(opened.root).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("width", [420, 320])
def test_a_narrow_page_does_not_scroll_sideways(width, visit_page, full_page, hostile_page):
    for path in (full_page, hostile_page):
        opened = visit_page(path, viewport={"width": width, "height": 800})
        for _ in range(2):
            opened.root.locator(".queries .label, .column.query button").nth(1).click()
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
            opened.button("Lines").click()


def test_one_hundred_tokens_and_48_heads(visit_page, tmp_path):
    words = [f"word{i}" for i in range(101)]
    record = make_record(words, (), (), encoder=(8,) * 6, decoder=(), cross=())
    opened = visit_page(explore(record).to_html(tmp_path / "a.html"))
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


def weights_of_canvas(canvas: Locator) -> np.ndarray:
    """The weights that the canvas's pixels stand for, one a pixel."""
    return weights_of_image(canvas.evaluate("c => c.toDataURL()"))


def weights_of_picture(part: Locator) -> np.ndarray:
    """The weights of the whole picture that a tile shows its part of."""
    return weights_of_image(
        part.evaluate(
            """async (part) => {
                const image = new Image();
                image.src = getComputedStyle(part).backgroundImage.slice(5, -2);
                await image.decode();
                const canvas = new OffscreenCanvas(image.width, image.height);
                canvas.getContext("2d").drawImage(image, 0, 0);
                const reader = new FileReader();
                reader.readAsDataURL(await canvas.convertToBlob());
                await new Promise((done) => (reader.onload = done));
                return reader.result;
            }"""
        )
    )


def weights_of_image(address: str) -> np.ndarray:
    """The weights of a picture in a data address."""
    image = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGB")
    return nearest(np.asarray(image).astype(int)) / 255


def test_512_tokens_open_and_say_what_is_left_out(visit_page, tmp_path, monkeypatch):
    monkeypatch.setattr(payload, "MOST_VALUES", 300_000)
    words = [f"word{i}" for i in range(512)]
    record = make_record(words, (), (), encoder=(2,), decoder=(), cross=())
    opened = visit_page(explore(record).to_html(tmp_path / "a.html"))
    notice = opened.root.locator(".left-out")
    expect(notice).to_contain_text("Of each row the 32 strongest of 512 weights are shown.")
    weights = record.encoder[0][0]
    opened.cells.focus()
    opened.press("ArrowDown", "ArrowRight", "ArrowRight")
    kept = np.where(weights >= np.sort(weights)[:, -32, None], weights, 0)
    lines = opened.readout.split("\n")
    assert lines[0].startswith("word0 → word2: ")
    best = int(weights[0].argmax())
    assert lines[1].startswith(f"word0 looks at: word{best} {weights[0, best]:.2f}")
    # A tile shows the largest weight of each block; the two tiles share one picture.
    blocks = kept.reshape(128, 4, 128, 4).max(axis=(1, 3))
    close(weights_of_picture(opened.root.locator(".tile .picture").first)[:, :128], blocks)


@pytest.fixture
def two(visit_page, tmp_path):
    def make(*records):
        pages = [explore(record) for record in records]
        body = "\n".join(page._repr_mimebundle_()[0]["text/html"] for page in pages)
        path = tmp_path / "two.html"
        path.write_text(PAGE.format(title="Two", body=body), encoding="utf-8")
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
    assert serious(opened) == []


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
    assert opened.pixels(picture).std() > 20


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


def test_in_nbconverts_html_it_works_too(browser, tmp_path):
    """Its own scripts come from elsewhere, and are refused: the explorer needs none of them."""
    bundle, metadata = explore(RECORD)._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", bundle, metadata=metadata)
    cell = nbformat.v4.new_code_cell("explore(record)", outputs=[output], execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    asked = []
    for cells in ([], [cell]):
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
        context.close()
    assert asked[1] <= asked[0], "the explorer asks for nothing"
