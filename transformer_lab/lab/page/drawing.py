"""A drawing that moves without a kernel: a still picture, data, and the script that draws them."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from transformer_lab.figures.display import picture
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.join import FOLDER, script, style

LESSON = FOLDER / "lesson"
STYLE = "lesson/lesson.css"


class Drawing:
    """A drawing to step through. It displays itself in a notebook, and saves itself as a page.

    attention_player(words, Q, K, V).to_html("player.html")
    """

    def __init__(self, kind: str, data: dict[str, Any], still: Figure, alt: str):
        """`kind` names the module in `page/lesson`; where no script runs, `still` and `alt` are seen."""
        self.kind = kind
        self.data = data
        self.still = still
        self.alt = alt

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        data = picture(self.still, self.alt)
        html = fragment(self.kind, data["text/html"], saved.dump_json(self.data))
        return data | {"text/html": html}

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write one file that opens in any browser, offline; returns its path.

        Raises:
            ValueError: If the file is there already and `overwrite` is not given.
        """
        body = self._repr_mimebundle_()["text/html"]
        return saved.write_page(path, self.alt.partition(":")[0], body, overwrite=overwrite)


def fragment(kind: str, image: str, data: str) -> str:
    """Return HTML of a still picture, and today's script that replaces it by a drawing of these data."""
    own = f"lesson/{kind}.css"
    looks = style("page.css", STYLE, *([own] if (FOLDER / own).exists() else ()))
    program = script(f"lesson/{kind}.js")
    return saved.fragment(
        kind, image, data, style=looks, script=program, mount=mount_function(kind)
    )


def mount_function(kind: str) -> str:
    """Return the name of the function that puts drawings of a kind into the page."""
    return f"mount{kind.title()}"


def list_kinds() -> list[str]:
    """List all kinds of drawings: the modules in `page/lesson` that put themselves into a page."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in LESSON.glob("*.js")}
    return sorted(
        kind for kind, text in texts.items() if f"function {mount_function(kind)}(" in text
    )
