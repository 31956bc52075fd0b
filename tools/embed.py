"""Put today's script and style into the pages that notebooks hold: `python -m tools.embed`.

A stored page is a picture, data, and the script that draws them. When the script changes alone, this
is enough; `make notebooks`, which runs all cells, makes the three anew. The pictures of drawings whose
script has changed are taken again, and with `--train` those of playgrounds, too, whose models then
learn once more. A quiz has folded answers for a picture: they are written from its data.
"""

import argparse
import json
from functools import partial

from nbformat import NotebookNode

from tools.build_notebooks import every_notebook, page_name, read, written
from tools.stills import take_stills, without_still
from tools.stored_pages import STORED
from transformer_lab.course.quiz import quiz
from transformer_lab.lab import lab_page, playground_page
from transformer_lab.lab.page import drawing
from transformer_lab.storage.files import write_atomically


def quiz_page(_: str, data: str) -> str:
    """A quiz of these packed data, as `Quiz.page` writes it today."""
    return drawing.fragment("quiz", quiz.static_html(json.loads(data)), data)


KINDS = {host: partial(lab_page.fragment, host) for host in ("record", "lab")} | {
    kind: partial(drawing.fragment, kind) for kind in drawing.list_kinds()
}
KINDS |= {"quiz": quiz_page, "playground": playground_page.fragment}


def with_todays_script(html: str) -> str:
    """A cell's HTML output, in which each page has its own picture and data and today's script."""
    return STORED.sub(lambda found: KINDS[found[1]](found[2], found[3]), html)


def embed(notebook: NotebookNode, *, train: bool = False) -> int:
    """Do so in all outputs of a notebook; how many were not of today."""
    count = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            is_playground = html.startswith("<div data-playground=")
            mended = with_todays_script(html)
            if train if is_playground else mended != html:
                mended = without_still(mended)
            if mended != html:
                output.data["text/html"] = mended
                count += 1
    take_stills(notebook)
    return count


def main() -> None:
    """Write each notebook that holds a page which is not of today."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--train", action="store_true", help="take the pictures of playgrounds again, too"
    )
    options = parser.parse_args()
    for path in every_notebook():
        notebook = read(path)
        count = embed(notebook, train=options.train)
        if count:
            write_atomically(path, written(notebook).encode())
            print(f"{page_name(path)}: {count}")


if __name__ == "__main__":
    main()
