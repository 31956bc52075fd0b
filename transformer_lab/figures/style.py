"""The style of the course's pictures, in which a colour means the same thing everywhere."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
import numpy as np

COLOURS = {
    "query": "#0086d1",
    "key": "#c67a05",
    "value": "#08602b",
    "mask": "#8c8c8c",
    "encoder": "#3c1195",
    "decoder": "#97187a",
}
"""The colours of the model's parts, with a contrast of at least 3 : 1 to the background.

Colour-blind readers can tell them apart. A test checks this and the contrast.
"""
HEADS = ("#4a1fd0", "#0e8f9e", "#8f0f2e", "#999400")
"""The colours of heads, for pictures with several heads.

Numbers on a light shade of these colours are black. Colour-blind readers can tell the light shades
apart, too.
"""
INK, QUIET, PAPER = "#1c1c1c", "#5f5f5f", "#ffffff"
HIGHLIGHT = "#ff6a00"
"""The colour that frames a row or a cell of a map; no weight is drawn in it."""
WEIGHTS = "viridis"
"""The colour map for weights from 0 to 1, and for maps whose numbers are all above 0."""
SIGNED = "RdBu_r"
"""The colour map for numbers of either sign, always symmetric about 0."""
MASKED = "#dedede"
"""The colour of a cell that may not be attended to; no weight is drawn in it, not even 0."""
LINES = ("#0086d1", "#b3470a", "#08602b", "#97187a", "#3c1195", "#c67a05")
"""The colours of curves that do not stand for a part of the model, in order of use.

A test checks that colour-blind readers can tell them apart.
"""

PAGE = 7.8
"""The column width of the page in inches (about 750 CSS pixels); no picture is wider."""

SCREEN_DPI = 96
"""CSS pixels per inch; with 96, a 9-point font is as tall as the text around the picture."""
PIXEL_RATIO = 2
"""The number of pixels per CSS pixel, which keeps pictures sharp on a high-resolution screen."""


@contextmanager
def course_style() -> Iterator[None]:
    """Use the course's style inside the `with` block, and change nothing outside it.

    The background is opaque, so a picture looks the same in light and dark themes. The font
    comes with matplotlib, so it is the same everywhere.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": "DejaVu Sans",
                "font.size": 9,
                "axes.titlesize": 11,
                "axes.titleweight": "bold",
                "axes.titlelocation": "left",
                "axes.labelsize": 9,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.edgecolor": QUIET,
                "axes.labelcolor": QUIET,
                "xtick.color": QUIET,
                "ytick.color": QUIET,
                "xtick.labelcolor": INK,
                "ytick.labelcolor": INK,
                "text.color": INK,
                "axes.titlecolor": INK,
                "figure.facecolor": PAPER,
                "axes.facecolor": PAPER,
                "savefig.facecolor": PAPER,
                "figure.dpi": SCREEN_DPI,
                "savefig.dpi": SCREEN_DPI * PIXEL_RATIO,
                "figure.constrained_layout.h_pad": 0.12,
                "figure.constrained_layout.w_pad": 0.12,
            }
        )
        yield


def weight_colours() -> str:
    """Return the 256 colours for weights as RGB bytes, encoded in base64."""
    colours = matplotlib.colormaps[WEIGHTS](np.linspace(0, 1, 256), bytes=True)[:, :3]
    return base64.b64encode(colours.tobytes()).decode()
