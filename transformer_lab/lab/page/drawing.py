"""Interactive drawings that need no kernel: data, the script that draws them, and alt text.

Lessons create drawings with the functions in `lab/drawings`, and the notebook builder stores a
still picture next to each script.
"""

import html
from pathlib import Path
from typing import Any

from transformer_lab.lab.page import saved
from transformer_lab.lab.page.join import FOLDER, script, style

LESSON = FOLDER / "lesson"
STYLE = "lesson/lesson.css"


class Drawing:
    """An interactive drawing that the reader steps through.

    Notebooks display it, and `to_html` saves it as one file:

        attention_player(words, Q, K, V).to_html("player.html")
    """

    def __init__(self, kind: str, data: dict[str, Any], alt: str, *, step: int = -1):
        """Create a drawing from its data.

        Args:
            kind: The kind of drawing, which is the name of a module in `page/lesson`.
            data: The data that the module draws.
            alt: A description of the drawing, for pages where no script runs and for readers who
                cannot see it.
            step: The step that the still picture shows, counted from 0; a negative number means the
                last one.
        """
        self.kind = kind
        self.data = data
        self.alt = alt
        self.step = step

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        page = fragment(self.kind, words_alone(self.alt, self.step), saved.dump_json(self.data))
        return {"text/html": page, "text/plain": self.alt}

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write one HTML file that opens offline in any browser, and return its path.

        Raises:
            ValueError: If the file exists and `overwrite` is not set.
        """
        body = self._repr_mimebundle_()["text/html"]
        return saved.write_page(path, self.alt.partition(":")[0], body, overwrite=overwrite)


def words_alone(alt: str, step: int) -> str:
    """Return a drawing's alt text as an HTML paragraph that is shown until the script runs.

    The notebook builder may replace the paragraph with a still picture of the drawing at `step`.
    """
    return f'<p data-step="{step}">{html.escape(alt)}</p>'


def fragment(kind: str, still: str, data: str) -> str:
    """Return HTML with a still picture or text, and the script that replaces it.

    The script draws `data`, and is always the current version for this kind of drawing.
    """
    own = f"lesson/{kind}.css"
    looks = style("page.css", STYLE, *([own] if (FOLDER / own).exists() else ()))
    program = script(f"lesson/{kind}.js")
    return saved.fragment(
        kind, still, data, style=looks, script=program, mount=mount_function(kind)
    )


def mount_function(kind: str) -> str:
    """Return the name of the JavaScript function that inserts this kind of drawing."""
    return f"mount{kind.title()}"


def list_kinds() -> list[str]:
    """List all kinds of drawings: the modules in `page/lesson` that have a mount function."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in LESSON.glob("*.js")}
    return sorted(
        kind for kind, text in texts.items() if f"function {mount_function(kind)}(" in text
    )
