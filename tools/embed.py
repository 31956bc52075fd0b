"""Put the current script and style into the pages that notebooks hold: `python -m tools.embed`.

A stored page is a picture, data, and the script that draws them. If only the script has changed, this
is enough; `make notebooks`, which runs all cells, makes all three again. The pictures of drawings whose
script has changed are taken again. With `--train`, so are those of playgrounds, whose models then train
once more. Instead of a picture, a quiz has folded answers, which are written from its data.
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
    """Return the page of a quiz with these packed data, as `Quiz.page` writes it today."""
    return drawing.fragment("quiz", quiz.static_html(json.loads(data)), data)


KINDS = {host: partial(lab_page.fragment, host) for host in ("record", "lab")} | {
    kind: partial(drawing.fragment, kind) for kind in drawing.list_kinds()
}
KINDS |= {"quiz": quiz_page, "playground": playground_page.fragment}


def with_todays_script(html: str) -> str:
    """Return a cell's HTML output with the current script in each page; pictures and data stay."""
    return STORED.sub(lambda found: KINDS[found[1]](found[2], found[3]), html)


def embed(notebook: NotebookNode, *, train: bool = False) -> int:
    """Update all outputs of a notebook; return how many were outdated."""
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
    """Write each notebook that holds an outdated page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--train", action="store_true", help="also take the pictures of playgrounds again"
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
