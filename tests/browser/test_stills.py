"""Still pictures of drawings are taken from the page, at the step that the drawing says."""

import base64
import html
import io
import re
from contextlib import nullcontext

import nbformat
import numpy as np
import pytest
from PIL import Image

from tests.drawings import DRAWINGS
from tools import browser as chromium
from tools.build_notebooks import every_notebook, read
from tools.stills import WIDTH, take_stills, without_still
from tools.stored_pages import STORED
from transformer_lab.lab import playground
from transformer_lab.lab.page import drawing

STILL = re.compile(r'<img data-step="(-?\d+)" alt="(.*?)" width="(\d+)" .*base64,(.*?)">')
KINDS = {kind for kind in drawing.list_kinds() if kind not in ("frames", "quiz")}


def notebook_of(*drawings):
    """A notebook that shows these drawings, as a kernel that has no browser leaves it."""
    outputs = [nbformat.v4.new_output("display_data", d._repr_mimebundle_()) for d in drawings]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=outputs)])


def pages(notebook):
    return [output.data["text/html"] for output in notebook.cells[0].outputs]


def pixels(page):
    return np.asarray(
        Image.open(io.BytesIO(base64.b64decode(STILL.search(page)[4]))).convert("RGB")
    )


@pytest.fixture
def launch(browser):
    """The browser that is open already: Playwright runs one loop in a thread."""
    return lambda: nullcontext(browser)


def test_a_still_has_the_drawings_words_and_the_same_pixels_each_time(launch):
    made = DRAWINGS["stream"]()
    first, second = notebook_of(made), notebook_of(made)
    assert (take_stills(first, launch), take_stills(second, launch)) == (1, 1)
    assert pages(first) == pages(second)
    assert take_stills(first, launch) == 0, "a picture that is there stays"
    (page,) = pages(first)
    step, alt, width, _ = STILL.search(page).groups()
    assert (int(step), html.unescape(alt), int(width)) == (made.step, made.alt, WIDTH)
    drawn = pixels(page)
    assert drawn.shape[1] == 2 * WIDTH
    assert tuple(drawn[0, 0]) == (255, 255, 255)
    assert without_still(page) == made._repr_mimebundle_()["text/html"]


def test_each_step_has_a_picture_of_its_own_and_below_0_the_last_is_meant(launch):
    made = [DRAWINGS["family"]() for _ in range(3)]
    for step, one in zip((0, 2, -1), made, strict=True):
        one.step = step
    notebook = notebook_of(*made)
    take_stills(notebook, launch)
    first, third, last = map(pixels, pages(notebook))
    assert first.shape != third.shape or (first != third).any()
    assert np.array_equal(third, last)


def test_a_playgrounds_still_shows_what_it_has_learned_and_the_same_each_time(launch):
    made = playground("copy", start="steps=300&width=16&but=mask:false")
    first, second = notebook_of(made), notebook_of(made)
    assert (take_stills(first, launch), take_stills(second, launch)) == (1, 1)
    assert pages(first) == pages(second)
    (page,) = pages(first)
    _, alt, width, _ = STILL.search(page).groups()
    runs = re.findall(r"(\w[^.:]*): \d+% of 512 unseen examples are right after 300 steps\.", alt)
    assert [name.partition(",")[0] for name in runs] == ["Your model", "The same"]
    assert "second" not in alt
    assert int(width) == WIDTH


def test_without_a_browser_it_says_so(monkeypatch):
    monkeypatch.setattr(chromium, "find_browser", lambda: None)
    with pytest.raises(RuntimeError, match="no browser found; run apt-get install chromium"):
        take_stills(notebook_of(DRAWINGS["slabs"]()))


def test_every_stored_drawing_has_a_still_with_its_words():
    seen = set()
    for path in every_notebook():
        for cell in read(path).cells:
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                for found in STORED.finditer(data.get("text/html", "")):
                    if found[1] in KINDS:
                        seen.add(found[1])
                        still = STILL.fullmatch(found[2])
                        assert still, f"{path.name}, {cell.id}: python -m tools.embed takes it"
                        assert html.unescape(still[2]) == data["text/plain"]
    assert seen == KINDS
