"""A lab on the screen: what its pixels, labels and texts say, to compare with NumPy's numbers."""

import base64
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.records import WRITTEN, make_record, probabilities
from transformer_lab.attention.head_names import name_heads
from transformer_lab.attention.record import AttentionRecord, Head, Referent
from transformer_lab.lab import lab

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
SEEN = ("</script>", HOSTILE[1], HOSTILE[2], "🙂", "שלום", "w" * 60, "∅", "⇄abc")
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
CROSS = RECORD.weights(Head("cross", 0, 0))
FIRST = {kind: Head(kind, 0, 0) for kind in ("encoder", "decoder", "cross")}
LONG = [f"word{i}" for i in range(101)]
SNAPSHOTS = tuple(make_record(seed=seed, label=f"step {100 * seed}") for seed in (1, 2))


@dataclass
class Opened:
    """A page of the lab on the screen."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def root(self) -> Locator:
        return self.page.locator(".tl-lab, .tl-lesson, .tl-playground")

    @property
    def table(self) -> Locator:
        """The open head's map, as a table."""
        return self.root.locator(".weight-map table")

    @property
    def cells(self) -> Locator:
        """The open head's map, as a picture, where it has many words."""
        return self.root.locator(".cells")

    @property
    def readout(self) -> str:
        return self.root.locator(".readout").inner_text()

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def show(self, view: str) -> None:
        """Look at the open head "as lines" or "as a map"."""
        self.button({"as lines": "Where it looks", "as a map": "As a map"}[view]).click()

    def open_head(self, head: Head) -> None:
        """Open a head by the list."""
        self.root.get_by_label("Open a head").select_option(head.code)

    def go_deeper(self) -> None:
        """Open what is one step deeper: all heads, files, and a glossary."""
        if self.root.locator(".more[open]").count() == 0:
            self.root.locator(".more > summary").click()
        # The browser reports the opening a moment later, and only then the heads are drawn.
        self.root.locator(".dot[aria-pressed]").first.wait_for()

    def dot(self, head: Head) -> Locator:
        """A head among all heads."""
        return self.root.locator(f"[data-control='head {head.code}']")

    def cell(self, query: int, key: int) -> Locator:
        """A cell of the table."""
        return self.table.locator(f"td[data-row='{query}'][data-key='{key}']")

    def row_word(self, query: int) -> Locator:
        """The word beside a row of the table."""
        return self.table.locator(f"th[data-row='{query}']")

    def words(self, side: str) -> list[str]:
        """The words beside the table's rows, or above its columns, as they stand."""
        selector = {"queries": "tbody th", "keys": "thead th"}[side]
        place = {"queries": "y", "keys": "x"}[side]
        texts = "(all, place) => all.map((e) => [e.getBoundingClientRect()[place], e.innerText])"
        found = self.table.locator(selector).evaluate_all(texts, place)
        return [text for _, text in sorted(found)]

    def weights(self, table: Locator | None = None) -> np.ndarray:
        """The weights that the colours of a table's cells mean, (query, key); 0 where the mask hides one.

        One looks near the corner of each cell: there it is free of rings, frames and numbers.
        """
        table = self.table if table is None else table
        pixels = pixels_of(table)
        boxes = table.evaluate(BOXES)
        rows, columns = (1 + max(box[at] for box in boxes) for at in (0, 1))
        seen = np.zeros((rows, columns))
        for row, column, hidden, x, y in boxes:
            if not hidden:
                seen[row, column] = nearest(pixels[int(y), int(x)]) / 255
        return seen


BOXES = """(table) => {
    const whole = table.getBoundingClientRect();
    return [...table.querySelectorAll("td[data-key]")].map((cell) => {
        const box = cell.getBoundingClientRect();
        return [Number(cell.dataset.row), Number(cell.dataset.key), cell.matches(".unseen"),
            box.x - whole.x + 0.15 * box.width, box.y - whole.y + 0.2 * box.height];
    });
}"""


def pixels_of(element: Locator) -> np.ndarray:
    """The element as it is on the screen: (height, width, RGB)."""
    image = Image.open(io.BytesIO(element.screenshot())).convert("RGB")
    return np.asarray(image).astype(int)


def read_weights(pixels: np.ndarray, shape: tuple[int, int], inset: float = 0.1) -> np.ndarray:
    """The weights that the colours of a map's cells mean, (query, key).

    `inset` is where in each cell one looks: near its corner it is free of rings and numbers.
    """
    height, width = pixels.shape[:2]
    rows, columns = ((np.arange(n) + inset) / n for n in shape)
    points = pixels[np.ix_((rows * height).astype(int), (columns * width).astype(int))]
    return nearest(points) / 255


def nearest(colours: np.ndarray) -> np.ndarray:
    """The place in the colour map that is nearest to each colour."""
    distance = np.abs(colours[..., None, :] - VIRIDIS).sum(axis=-1)
    assert distance.min(axis=-1).max() <= 12, "a colour that no weight has"
    return distance.argmin(axis=-1)


def close(seen, expected):
    np.testing.assert_allclose(seen, expected, atol=0.012)


def numbers(text: str) -> list[float]:
    return [float(n.replace("−", "-")) for n in re.findall(r"(?<![\w.])−?\d+\.\d+", text)]


def shown_head(opened) -> str:
    """The code of the open head, as the list says it."""
    return opened.root.get_by_label("Open a head").input_value()


def check_readout(text: str, query: int, key: int | None, weights, queries, keys):
    """The words below the map say a cell's weight, and the strongest of its row, as NumPy has them."""
    said = f"“{queries[query]}” looks most at "
    if key is not None:
        name, value = re.match(r"The weight of “(.*)” is (\S+)\. ", text).groups()
        assert name == keys[key]
        assert float(value) == pytest.approx(weights[query, key], abs=0.0011)
        said = f"The weight of “{keys[key]}” is {value}. {said}"
    assert text.startswith(said)
    found = re.findall(r"“([^”]+)” (\d\.\d\d)", text.removeprefix(said))
    strongest = np.sort(weights[query])[::-1][:5]
    seen = [float(value) for _, value in found]
    assert len(seen) >= (strongest > 0.0056).sum()
    assert seen == pytest.approx(strongest[: len(seen)], abs=0.0057)
    assert found[0][0] == keys[weights[query].argmax()]
    of_names = [weights[query, list(keys).index(name)] for name, _ in found]
    assert seen == pytest.approx(of_names, abs=0.0057)


def check_lines(opened, weights, query):
    """One line for each weight of the row that can be seen, from its query to its key."""
    expected = {k: w for k, w in enumerate(weights[query]) if w >= 0.01}
    seen = {}
    for line in drawn_lines(opened):
        assert line[0] == query
        seen[line[1]] = line[2]
    assert seen == pytest.approx(expected, abs=0.001)


def drawn_lines(opened) -> list[tuple[int, int, float]]:
    """The lines as (query, key, weight)."""
    found = opened.root.locator(".line-board > svg line").evaluate_all(
        "all => all.map((e) => ['y2', 'y1', 'stroke-width'].map((n) => Number(e.getAttribute(n))))"
    )
    return [(int(q / 24 - 0.5), int(k / 24 - 0.5), (width - 0.5) / 5) for q, k, width in found]


def check_all_lines(opened, weights):
    """The strongest weights of all rows, at most sixty."""
    lines = drawn_lines(opened)
    found = [w for *_, w in lines]
    strongest = np.sort(weights, axis=None)[::-1]
    assert min(60, (strongest > 0.0107).sum()) <= len(lines) <= min(60, (strongest > 0.0093).sum())
    assert found == pytest.approx(list(strongest[: len(found)]), abs=0.001)
    assert found == pytest.approx([weights[q, k] for q, k, _ in lines], abs=0.001)


def by_keyboard(control: Locator, key="Enter"):
    control.focus()
    control.press(key)


def save(opened, kind, way, tmp_path) -> Path:
    with opened.page.expect_download() as info:
        way(opened.button(f"Save a picture of the open head as {kind}"))
    path = tmp_path / info.value.suggested_filename
    info.value.save_as(path)
    return path


def luminance(colour) -> float:
    c = np.asarray(colour) / 255
    return float(
        np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
    )


def contrast(one, other) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def serious(page: Page, context: str | None = None) -> list:
    """What axe-core finds serious or critical, with the elements that it is about."""
    found = Axe().run(page, context=context).response["violations"]
    return [
        (v["id"], [n["html"][:200] for n in v["nodes"]])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


def out_of_reach(page: Page) -> list[str]:
    """What scrolls, and where the keyboard can't get at what is out of sight."""
    return page.evaluate(
        """() => {
          const scrolls = (one) => {
            const { overflowX, overflowY } = getComputedStyle(one);
            return (/auto|scroll/.test(overflowX) && one.scrollWidth > one.clientWidth)
              || (/auto|scroll/.test(overflowY) && one.scrollHeight > one.clientHeight);
          };
          const reached = (one) => [one, ...one.querySelectorAll("*")].some((each) => each.tabIndex >= 0);
          return [...document.body.querySelectorAll("*")]
            .filter((one) => scrolls(one) && !reached(one))
            .map((one) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`);
        }"""
    )


def try_sliders_and_quizzes(page: Page) -> tuple[int, int]:
    """Move each slider to its other end, answer each quiz's first question; how many there were."""
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    sliders, quizzes = page.locator(".tl-frames").all(), page.locator(".tl-quiz").all()
    for slider in sliders:
        image, handle = slider.locator("img"), slider.get_by_role("slider")
        before = image.get_attribute("src")
        at_end = handle.evaluate("(range) => range.value === range.max")
        handle.press("Home" if at_end else "End")
        expect(image).not_to_have_attribute("src", before)
    for quiz in quizzes:
        quiz.get_by_role("radio").first.check()
        expect(quiz.locator(".reply").first).to_contain_text(re.compile(r"(Right|No)\. .+"))
    return len(sliders), len(quizzes)


def weights_of_canvas(canvas: Locator) -> np.ndarray:
    """The weights that the canvas's pixels stand for, one a pixel."""
    return weights_of_image(canvas.evaluate("c => c.toDataURL()"))


def weights_of_image(address: str) -> np.ndarray:
    """The weights that the pixels of a data address stand for."""
    image = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGB")
    return nearest(np.asarray(image).astype(int)) / 255


def open_record(visit_page, folder, record, start="", **options):
    """The page of a record, on the screen."""
    page = lab(record, start=start, names=name_heads([record]))
    return visit_page(page.to_html(folder / "a.html"), **options)


def ask(view, text):
    """Write a sentence into the field of a live lab, and ask for it."""
    box = view.get_by_role("textbox")
    box.fill(text)
    box.press("Enter")


def open_head(view, code):
    """Open a head of a lab by the list of all heads."""
    view.get_by_label("Open a head").select_option(code)


def use_theme(page, name):
    """Choose a theme of JupyterLab by its menu."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-item[data-type=submenu]").filter(has_text="Theme").first.hover()
    choice = page.locator('.lm-Menu-item[data-command="apputils:change-theme"]')
    choice.filter(has_text=re.compile(rf"^{name}\s*$")).click()
