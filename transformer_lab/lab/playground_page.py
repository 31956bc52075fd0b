"""The playground: a page where a Transformer learns a task while you watch, without Python."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from transformer_lab.config import check_choice
from transformer_lab.figures.style import weight_colours
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.drawing import words_alone
from transformer_lab.lab.page.join import script, style

TASKS = (
    "copy",
    "reverse",
    "sort",
    "partner",
    "count",
    "brackets",
    "dates",
    "numbers_en",
    "numbers_fr",
    "numbers_de",
    "world",
    "own",
)
"""The names of the tasks, in the order of `page/tasks/tasks.js`."""
STYLES = ("page.css", "playground/playground.css")
TITLE = "Teach a Transformer while you watch"


class PlaygroundPage:
    """A playground that needs no kernel: training happens in the reader's browser.

    Notebooks display it, and `to_html` saves it as one file:

        playground("sort").to_html("play.html")
    """

    def __init__(self, start: str):
        """Create a page that opens at the address `start`, such as "task=sort&heads=1"."""
        self.start = start
        self.alt = (
            "The playground: if scripts may run, a small Transformer learns here while you watch."
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.fragment(is_alone=False), "text/plain": self.alt}

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write one HTML file that opens offline in any browser, and return its path.

        Raises:
            ValueError: If the file exists and `overwrite` is not set.
        """
        body = self.fragment(is_alone=True)
        return saved.write_page(path, TITLE, body, overwrite=overwrite)

    def fragment(self, *, is_alone: bool) -> str:
        """Return the playground's HTML; with `is_alone`, the page keeps the settings in its URL."""
        data = {"start": f"#{self.start}", "isAlone": is_alone}
        return fragment(words_alone(self.alt, step=-1), saved.dump_json(data))


def fragment(still: str, data: str) -> str:
    """Return the HTML of a playground: a still picture or text, and the script that replaces it.

    `data` holds the initial settings. Data saved by an older version are shown by the current
    script.
    """
    return saved.fragment(
        "playground",
        still,
        data,
        style=style(*STYLES),
        script=program(),
        mount="await mount",
    )


def program() -> str:
    """Return a playground's script, whose function `mount` inserts the playground into the page.

    The script contains the source code of the worker that trains the model.
    """
    today = {"colours": weight_colours(), "script": script("playground/worker.js")}
    mount = f"const mount = (name) => mountPlaygrounds(name, {saved.dump_json(today)});\n"
    return script("playground/playground.js") + mount


def playground(task: str = "reverse", *, start: str = "") -> PlaygroundPage:
    """Build a page in which a Transformer learns `task` from scratch, in the reader's browser.

        playground("sort")
        playground("reverse", start="but=mask:false")   # adds a run without a causal mask

    Args:
        task: One of `TASKS`, such as "reverse" (letters), "numbers_en" (numbers in words), "world"
            (the bilingual world), or "own" (the reader's own pairs).
        start: The other settings, written as in the page's URL, such as "heads=1&seed=3". The field
            "but" adds a second run with one setting changed, as in "but=positions:none".

    Raises:
        ValueError: If the task is not one of `TASKS`.
    """
    check_choice("task", task, TASKS)
    return PlaygroundPage("&".join(filter(None, [urlencode({"task": task}), start])))
