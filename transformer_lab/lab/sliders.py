"""Show a picture that changes with a control, drawn by the kernel or taken from stored pictures."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from IPython.display import display
from matplotlib.figure import Figure
from PIL import Image

from transformer_lab.config import describe_type
from transformer_lab.figures.display import draw_image, encode_webp, picture, with_alt_text
from transformer_lab.figures.style import PIXEL_RATIO
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.drawing import fragment

STORE_FRAMES = "TRANSFORMER_LAB_FRAMES"
"""The environment variable that the course builder sets so that controls work without a kernel."""
MOST_FRAMES = 16
"""The maximum number of values to store; if there are more, evenly spaced ones are chosen."""
MOST_BYTES = 210_000
"""The maximum number of bytes for one slider's stored pictures.

Pictures that need more are stored at half the resolution. If that is not enough, fewer are stored.
"""

Draw = Callable[[Any], Figure | tuple[Figure, str]]
"""A function that draws a picture for one value of a control, with or without alt text."""


def show_live(draw: Draw, control: Any) -> None:
    """Show `draw(control.value)`, and draw it again whenever the ipywidgets control changes.

    Without a kernel, the page shows the first picture instead of the control. If the environment
    variable `TRANSFORMER_LAB_FRAMES` is set during the run, the page gets a slider that goes
    through stored pictures.
    """
    import ipywidgets

    panel = ipywidgets.HTML()

    def first_or_next(_: Any = None) -> dict[str, Any]:
        bundle = picture(*with_alt_text(draw(control.value)))
        panel.value = bundle["text/html"]
        return dict(bundle)

    data = first_or_next()
    if os.environ.get(STORE_FRAMES):
        packed = saved.dump_json(draw_frames(draw, control))
        data["text/html"] = fragment("frames", data["text/html"], packed)
    control.observe(first_or_next, names="value")
    if control.layout.width is None:
        control.layout.width = "30em"  # room for many steps; the default is 300 pixels
    box = ipywidgets.VBox([control, panel])
    data["application/vnd.jupyter.widget-view+json"] = {
        "version_major": 2,
        "version_minor": 0,
        "model_id": box.model_id,
    }
    display(data, raw=True)


def draw_frames(draw: Draw, control: Any) -> dict[str, Any]:
    """Draw a picture for each of a control's values, up to `MOST_FRAMES` of them.

    Returns:
        "label": the control's description.
        "pictures": the results of `encode_picture`, in order.
        "start": the index of the picture for the control's current value, which is always
            included.
    """
    values, names = list_values(control)
    own = values.index(control.value)
    count = min(len(values), MOST_FRAMES)
    drawn = with_alt_text(draw(control.value))
    picture = encode_picture(names[own], *drawn)
    coarse = count * len(picture["webp"]) > MOST_BYTES
    if coarse:
        picture = encode_picture(names[own], *drawn, coarse=True)
    kept = spread_evenly(len(values), own, min(count, MOST_BYTES // len(picture["webp"])))
    pictures = [
        picture
        if n == own
        else encode_picture(names[n], *with_alt_text(draw(values[n])), coarse=coarse)
        for n in kept
    ]
    return {"label": control.description, "start": kept.index(own), "pictures": pictures}


def encode_picture(name: str, figure: Figure, alt: str, *, coarse: bool = False) -> dict[str, Any]:
    """Encode a picture as a dict: "name", "alt", "width" in CSS pixels, and "webp" in base64.

    With `coarse`, the image has fewer pixels and colours, so it takes fewer bytes.
    """
    image = draw_image(figure).convert("RGB")
    if coarse:
        size = image.width // PIXEL_RATIO, image.height // PIXEL_RATIO
        image = image.resize(size, Image.Resampling.LANCZOS).quantize(24, dither=Image.Dither.NONE)
    width = round(figure.get_figwidth() * figure.dpi)
    return {"name": name, "alt": alt, "width": width, "webp": encode_webp(image)}


def list_values(control: Any) -> tuple[list[Any], list[str]]:
    """Return all values of a slider or selection control in order, and the names of the values."""
    if hasattr(control, "options"):
        pairs = [o if isinstance(o, tuple) else (str(o), o) for o in control.options]
        return [value for _, value in pairs], [name for name, _ in pairs]
    if not hasattr(control, "step"):
        expected = "one with options, or with min, max and step"
        raise ValueError(f"control is {describe_type(control)}; expected {expected}")
    count = round((control.max - control.min) / control.step) + 1
    values = [control.min + n * control.step for n in range(count)]
    return values, [f"{value:g}" for value in values]


def spread_evenly(count: int, own: int, most: int) -> list[int]:
    """Return about `most` evenly spaced indices into a list of length `count`, sorted.

    They always include the first index, the last index, and `own`.
    """
    even = np.linspace(0, count - 1, max(2, min(count, most))).round().astype(int).tolist()
    nearest = min(range(len(even)), key=lambda n: abs(even[n] - own))
    even[nearest] = own
    return sorted({*even, 0, count - 1})
