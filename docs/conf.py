"""How the website is built: `make site` runs Sphinx on the notebooks as they are committed.

Nothing is executed, and a page asks no other machine for anything: formulas are set by a
MathJax that comes with the pages.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

from sphinx.application import Sphinx

import transformer_lab as tl
from transformer_lab.translator import Translator
from transformer_lab.viz.bench_guide import famous_guide

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))  # for anchors.py
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "transformer_lab"
author = "the authors of transformer_lab"
release = PROJECT["version"]
copyright = "text and figures CC BY 4.0, code MIT"  # noqa: A001 - Sphinx's own name

# Sphinx's source folder is the repository, so that links between notebooks and documents are the
# same on the site, on GitHub and in JupyterLab.
include_patterns = ["docs/*.md", "notebooks/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md"]
root_doc = "docs/index"
extensions = ["myst_nb", "sphinx-mathjax-offline"]

nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_heading_slug_func = "anchors.jupyterlab_anchor"
suppress_warnings = ["mystnb.unknown_mime_type"]

html_theme = "furo"
html_title = "transformer_lab"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "to_start.html"}
templates_path = ["_templates"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "source_repository": PROJECT["urls"]["Repository"],
    "source_branch": "main",
    "source_directory": "",
}


def plain_anchors(_: Sphinx, name: str, source: list[str]) -> None:
    """Write the headings in links as they are: Sphinx does not decode %3F."""
    source[0] = re.sub(r"\.ipynb#[^)\s]+", lambda link: unquote(link.group()), source[0])


def fold_answers(_: Sphinx, name: str, source: list[str]) -> None:
    """Fold the answers as JupyterLab does, and leave out the cell that installs the course."""
    if not name.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        tags = cell["metadata"].setdefault("tags", [])
        if cell["id"] == "setup":
            tags.append("remove-cell")
        elif cell["metadata"].get("jupyter", {}).get("source_hidden"):
            tags.append("hide-cell")
    source[0] = json.dumps(notebook)


def course_table(app: Sphinx, name: str, source: list[str]) -> None:
    """The first page has the README's table of lessons, and the list beside each page its rows.

    Without the badges, which are pictures from outside.
    """
    if name != root_doc:
        return
    app.env.note_dependency("README.md")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| # \| notebook .*\n(?:\|.*\n)+", readme, re.MULTILINE)
    table = re.sub(r" \[!\[[^]]*\]\([^)]*\)\]\([^)]*\)", "", table)
    table = table.replace("](notebooks/", "](../notebooks/")
    rows = re.findall(r"^\| (\d\d) \| \[(.+?)\]\((\S+)\.ipynb\)", table, re.MULTILINE)
    lessons = "".join(f"{number} · {title} <{page}>\n" for number, title, page in rows)
    for place, text in (("the table of README.md", table), ("its lessons", lessons)):
        before, _, after = source[0].partition(f"<!-- {place} -->\n")
        assert after, f"docs/index.md has no place for {place}"
        source[0] = before + text + after


def write_bench(app: Sphinx, error: Exception | None) -> None:
    """The shipped model in a page of its own, with six things to try."""
    if error is None:
        path = Path(app.outdir) / "docs" / "bench.html"
        tl.bench(Translator.load(device="cpu"), path, **famous_guide(), overwrite=True)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("build-finished", write_bench)
    app.connect("source-read", plain_anchors)
    app.connect("source-read", fold_answers)
    app.connect("source-read", course_table)
