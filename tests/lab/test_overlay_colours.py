"""Heads that lie over each other on the lab: their colours, for every eye, on light and dark paper."""

import itertools
import re

import numpy as np
import pytest

from tests.figures.test_figures import SIGHT, cie_lab, linear
from transformer_lab.lab.page.join import FOLDER

CSS = (FOLDER / "lab/lab.css").read_text(encoding="utf-8")
PAGE = (FOLDER / "page.css").read_text(encoding="utf-8")
COLOURS = {
    "light": re.findall(r"^\.tl-lab \.over-\d, .*--over: (#\w{6})", CSS, re.M),
    "dark": re.findall(
        r'^\.tl-lab\[data-theme="dark"\] :is\(\.over-\d.*--over: (#\w{6})', CSS, re.M
    ),
}
PAPER = dict(zip(("light", "dark"), re.findall(r"--paper: (#\w{6})", PAGE), strict=True))


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", COLOURS)
def test_four_heads_are_told_apart(theme, sight):
    assert len(COLOURS[theme]) == 4
    seen = [cie_lab(np.clip(np.array(SIGHT[sight]) @ linear(c), 0, 1)) for c in COLOURS[theme]]
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) > 20  # 2.3 is a just noticeable difference


@pytest.mark.parametrize("theme", COLOURS)
def test_they_stand_out_from_the_paper(theme):
    def luminance(colour: str) -> float:
        return linear(colour) @ [0.2126, 0.7152, 0.0722] + 0.05

    for colour in COLOURS[theme]:
        pair = sorted([luminance(colour), luminance(PAPER[theme])])
        assert pair[1] / pair[0] >= 3  # WCAG 2.1, 1.4.11
