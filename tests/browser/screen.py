"""An explorer on the screen: what its pixels, labels and texts say, to compare with NumPy's numbers."""

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
from transformer_lab.attention.record import AttentionRecord, Head, Referent

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
SNAPSHOTS = tuple(make_record(seed=seed, label=f"step {100 * seed}") for seed in (1, 2))


@dataclass
class Opened:
    """An explorer's page on the screen."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def root(self) -> Locator:
        return self.page.locator(".tl-explorer, .tl-lab, .tl-lesson")

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

    def weights(self, element: Locator, shape: tuple[int, int], inset: float = 0.1) -> np.ndarray:
        """A map's weights, read off the colours of its cells."""
        return read_weights(pixels_of(element), shape, inset)

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
    return opened.root.get_by_role("heading").inner_text()


def check_readout(text: str, query: int | None, key: int | None, weights, queries, keys):
    lines = text.removesuffix("\nPinned.").split("\n")
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


def by_keyboard(control: Locator, key="Enter"):
    control.focus()
    control.press(key)


def in_order(opened) -> list[str]:
    """The tiles' captions as they stand: line by line, from the left."""
    tiles = [(t.bounding_box(), t.inner_text()) for t in opened.root.locator(".tile").all()]
    return [text for _, text in sorted(tiles, key=lambda t: (round(t[0]["y"]), t[0]["x"]))]


def save(opened, kind, way, tmp_path) -> Path:
    with opened.page.expect_download() as info:
        way(opened.button(f"Save this map as {kind}"))
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


def weights_of_picture(part: Locator) -> np.ndarray:
    """The weights of the whole picture that a tile shows its part of."""
    return weights_of_image(
        part.evaluate(
            """async (part) => {
                const image = new Image();
                image.src = getComputedStyle(part).backgroundImage.slice(5, -2);
                await image.decode();
                const canvas = document.createElement("canvas");
                Object.assign(canvas, { width: image.width, height: image.height });
                canvas.getContext("2d").drawImage(image, 0, 0);
                return canvas.toDataURL();
            }"""
        )
    )


def weights_of_image(address: str) -> np.ndarray:
    """The weights that the pixels of a data address stand for."""
    image = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGB")
    return nearest(np.asarray(image).astype(int)) / 255
