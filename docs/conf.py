"""How the website is built: `make site` runs Sphinx on the notebooks as they are committed.

Nothing is executed, and a page asks no other machine for anything: formulas are set by a
MathJax that comes with the pages.
"""

import html
import json
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sphinx.application import Sphinx

import transformer_lab as tl
from transformer_lab.course.quiz.review import glossary
from transformer_lab.lab import playground_page
from transformer_lab.lab.guide import famous_guide
from transformer_lab.lab.lab_page import STYLES
from transformer_lab.lab.page.drawing import list_kinds
from transformer_lab.lab.page.join import modules, script, style
from transformer_lab.lab.page.policy import WASM, hash_source, policy_meta
from transformer_lab.translator import PRETRAINED, Translator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))  # for what lies beside this file
import first_page  # noqa: E402
import search_sections  # noqa: E402
import story  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "transformer_lab"
author = "the authors of transformer_lab"
release = PROJECT["version"]
copyright = "text and figures CC BY 4.0, code MIT"  # noqa: A001 - Sphinx's own name

# Sphinx's source folder is the repository, so that links between notebooks and documents are the
# same on the site, on GitHub and in JupyterLab.
include_patterns = ["docs/*.md", "CHANGELOG.md", "CONTRIBUTING.md"]
include_patterns += ["notebooks/*.ipynb", "notebooks/evidence/*.ipynb"]
root_doc = "docs/index"
extensions = ["myst_nb", "sphinx-mathjax-offline"]

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # so that links of the review's cards are followed
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_heading_slug_func = "anchors.jupyterlab_anchor"
suppress_warnings = ["mystnb.unknown_mime_type"]

html_theme = "furo"
html_title = "transformer_lab"
# GitHub Pages serves github.com/OWNER/NAME there.
OWNER, NAME = PROJECT["urls"]["Repository"].split("/")[-2:]
html_baseurl = f"https://{OWNER}.github.io/{NAME}/"
html_static_path = ["_static", "header.css"]
html_favicon = "_static/icon.svg"
html_css_files = ["header.css", "site.css"]
html_js_files = ["scrolling.js", "findings.js", ("formulas.js", {"defer": "defer"})]
mathjax3_config = {
    "startup": {"typeset": False},  # formulas.js does it, in slices
    # A file for each part: the one that has them all takes a tenth of a second to start.
    "loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml"]},
}
templates_path = ["_templates"]
html_show_sourcelink = False
html_copy_source = False
# The lessons have the lab's blues and the story's letters.
LIGHT, DARK = re.findall(r"--accent: (#\w+);", style("page.css"))
LETTERS = {"font-stack": 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'}
# The theme's own list, without the name, which the header has.
html_sidebars = {
    "**": [
        f"sidebar/{part}.html" for part in ("scroll-start", "search", "navigation", "scroll-end")
    ]
}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": LIGHT, "color-brand-content": LIGHT, **LETTERS},
    "dark_css_variables": {"color-brand-primary": DARK, "color-brand-content": DARK},
    "source_repository": PROJECT["urls"]["Repository"],
    "source_branch": "main",
    "source_directory": "",
}


FINDING = re.compile(r"\[(finding \d+)\]\(((?:\.\./)+docs/findings)\.md(#finding-\d+)\)")


def plain_anchors(_: Sphinx, name: str, source: list[str]) -> None:
    """Write links as Sphinx wants them: it doesn't decode %3F, nor know a finding's anchor."""
    source[0] = re.sub(r"\.ipynb#[^)\s]+", lambda link: unquote(link.group()), source[0])
    source[0] = FINDING.sub(r"<a href='\2.html\3'>\1</a>", source[0])


def glossary_by_letters(_: Sphinx, name: str, source: list[str]) -> None:
    """Give each letter of the glossary a table, with links to all letters on top and to the lessons."""
    if name != "docs/glossary":
        return
    head, rule, *rows = glossary().splitlines()
    by_letter: dict[str, list[str]] = {}
    for row in rows:
        letter = re.search(r"[a-z]", row.lower())
        start, lesson = row.rstrip(" |").rsplit("| ", 1)
        (notebook,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
        linked = f"{start}| [{lesson}](../notebooks/{notebook.name}) |"
        by_letter.setdefault(letter[0].upper(), []).append(linked)
    tables = ["\n".join([f"## {letter}\n", head, rule, *of]) for letter, of in by_letter.items()]
    letters = " · ".join(f"[{letter}](#{letter})" for letter in by_letter)
    opening, _, _ = source[0].partition("```{include}")
    source[0] = "\n\n".join([opening.rstrip(), letters, *tables]) + "\n"


LAB = re.compile(r'<div data-lab="\w+">(.*?)</div>.*', re.DOTALL)
RECORD, PLAYGROUND = (
    re.compile(
        r'<style>[^<]*</style>\n(<script type="application/json" data-of="(\w+)">.*?</script>\n)'
        rf'<script type="module">.*?{mount}\("\2"\);\n</script>',
        re.DOTALL,
    )
    for mount in ("mountRecordPages", "await mount")
)
SHARED_RECORD = r"""<link rel="stylesheet" href="../_static/lab.css">
\1<script type="module">
import { mountRecordPages } from "../_static/record_page.js";
mountRecordPages("\2");
</script>"""
SHARED_PLAYGROUND = r"""<link rel="stylesheet" href="../_static/playground.css">
\1<script type="module">
import { mount } from "../_static/playground.js";
mount("\2");
</script>"""
OPENED = """\
<details class="lab">
<summary><span>Open the lab here</span>{picture}</summary>
<iframe src="../docs/lab.html" title="The lab" loading="lazy"></iframe>
</details>"""


def share_pages(_: Sphinx, name: str, source: list[str]) -> None:
    """What each notebook holds for itself, all pages share: the lab, and the scripts of the rest."""
    if not name.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    lab, record, playground = (
        text.replace("../", "../" * name.count("/"))  # the evidence lies one folder further down
        for text in (OPENED, SHARED_RECORD, SHARED_PLAYGROUND)
    )
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            html = "".join(output.get("data", {}).get("text/html", ""))
            if html:
                html = LAB.sub(lambda page: lab.format(picture=page[1]), html)
                html = PLAYGROUND.sub(playground, html)
                output["data"]["text/html"] = RECORD.sub(record, html)
    source[0] = json.dumps(notebook)


COLAB = PROJECT["urls"]["Repository"].replace("github.com", "colab.research.google.com/github")
COPY = """\
<p class="copy">This is the copy for reading, in which no cell runs. To run them, open this notebook
<a href="{up}docs/setup.html">in JupyterLab</a> or
<a href="{colab}/blob/v{release}/{name}.ipynb">in Colab</a>.</p>"""


def open_with_picture(_: Sphinx, name: str, source: list[str]) -> None:
    """Behind the title of each page: that it's a copy for reading, and a lesson's picture."""
    if not name.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    first = next(cell for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    title, _, rest = "".join(first["source"]).partition("\n")
    copy = COPY.format(up="../" * name.count("/"), colab=COLAB, release=release, name=name)
    picture = first_page.opening(name.removeprefix("notebooks/"))
    first["source"] = "\n\n".join([title, copy, picture, rest.lstrip()])
    source[0] = json.dumps(notebook)


FOLDED = {
    "solution": ("hide-cell", "Show a solution"),
    "answers": ("hide-cell", "Show the definition"),
    "drawing": ("hide-input", "Show the code that draws"),
    "predict": ("hide-output", "Show what comes out"),
    "predict drawing": ("hide-cell", "Show what comes out"),
}
"""A cell's tag → what is folded on the site, and what the reader clicks on."""
STEPPED = [
    kind
    for kind in list_kinds()
    if any(path.name == "steps.js" for path in modules(f"lesson/{kind}.js"))
] + ["playground", "lab"]
"""What begins before it shows anything, drawings, the playground and the lab: it stays in sight."""


def fold(_: Sphinx, name: str, source: list[str]) -> None:
    """Fold answers, code that draws, and what is to be predicted; mark the package's definitions.

    What is of use in a kernel alone is left out: the cell that installs the course, the check of an
    exercise that nobody has written, and the line that shows a deck of cards.
    """
    if not name.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    asked = False
    for cell in notebook["cells"]:
        tags = cell["metadata"].setdefault("tags", [])
        if cell["cell_type"] == "markdown":
            asked = "**Predict before you" in "".join(cell["source"])
            continue
        if "".join(cell["source"]).startswith("#| package: "):
            tags.append("definition")
        printed = "".join("".join(output.get("text", "")) for output in cell["outputs"])
        if cell["id"] == "setup" or printed.startswith("Not written yet"):
            tags.append("remove-cell")
        if "".join(cell["source"]).startswith("show_deck("):
            tags += ["deck", "remove-input"]
            continue
        fold_as = next((tag for tag in FOLDED if tag in tags), "")
        if asked and is_stepped(cell):
            tags.append("asked")  # the picture of a lab would give the answer away
        elif asked and fold_as in ("", "drawing") and "exercise" not in tags:
            fold_as = f"predict {fold_as}".strip()
        if fold_as:
            how, prompt = FOLDED[fold_as]
            tags.append(how)
            cell["metadata"]["mystnb"] = {"code_prompt_show": prompt, "code_prompt_hide": "Hide it"}
    source[0] = json.dumps(notebook)


def is_stepped(cell: dict[str, Any]) -> bool:
    """Whether a cell's output is a drawing to step through, the playground or the lab."""
    pages = ("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
    return any(f'data-{kind}="' in page for page in pages for kind in STEPPED)


def course_cards(app: Sphinx, name: str, source: list[str]) -> None:
    """The first page has the README's lessons as cards, and so has the list beside each page."""
    if name != root_doc:
        return
    app.env.note_dependency("README.md")
    rows = first_page.lessons()
    listed = "".join(
        f"{number} · {title} <../notebooks/{page}>\n" for number, title, page, *_ in rows
    )
    for place, text in (
        ("the lessons as cards", first_page.cards() + "\n"),
        ("the lessons", listed),
    ):
        before, _, after = source[0].partition(f"<!-- {place} -->\n")
        assert after, f"docs/index.md has no place for {place}"
        source[0] = before + text + after


def add_header(app: Sphinx, name: str, template: str, context: dict[str, Any], _: object) -> None:
    """Give the page's template the header, with links that fit the page's folder."""
    context["site_header"] = write_header(name)


def link_preview(app: Sphinx, name: str, template: str, context: dict[str, Any], _: object) -> None:
    """What a link to the page is shown with, where somebody passes it on."""
    title = html.escape(context.get("title") or project)
    about = (
        "Build Attention Is All You Need step by step, open every head, and test what people say."
    )
    picture = f"{html_baseurl}{first_page.PREVIEW}"
    for field, text in (
        ("title", title),
        ("description", about),
        ("site_name", project),
        ("image", picture),
        ("image:alt", first_page.PREVIEW_SHOWS),
    ):
        context["metatags"] = (
            context.get("metatags", "") + f'<meta property="og:{field}" content="{text}">'
        )


HEADER = """\
<header class="site">
<a class="name" target="_top" href="{root}index.html">transformer_lab</a>
<nav aria-label="Site"><a target="_top" href="{root}index.html#course">Lessons</a>
<a target="_top" href="{root}docs/lab.html">Lab</a>
<a target="_top" href="{root}docs/playground.html">Playground</a>
<a target="_top" href="{root}docs/findings.html">Findings</a></nav>
</header>
"""
"""What stands above every page but the story, which has a bar of its own.

`root` leads to the top. A page may show the lab in a frame, and its links lead out of that.
"""


def write_header(name: str) -> str:
    """Return the header for a page, such as "docs/lab", on which the page's own link is marked."""
    header = HEADER.format(root="../" * name.count("/"))
    return header.replace(f'/{name}.html"', f'/{name}.html" aria-current="page"')


MOVED = """\
<!doctype html>
<meta charset="utf-8">
<title>The lab</title>
<meta http-equiv="refresh" content="0; url=lab.html">
<p>The bench is called <a href="lab.html">the lab</a> now.</p>
"""
"""What stands at the old address of the lab."""


def write_more(app: Sphinx, error: Exception | None) -> None:
    """The first page, pictures of cards and links, what the search looks through, and the lab."""
    if error is None:
        first_page.write_pictures(Path(app.outdir))
        first_page.write_preview(Path(app.outdir))
        search_sections.write_sections(app)
        story.write_story(
            Path(app.outdir), repository=PROJECT["urls"]["Repository"], address=html_baseurl
        )
        static = Path(app.outdir) / "_static"
        (static / "lab.css").write_text(style(*STYLES), encoding="utf-8")
        program = script("lab/record_page.js") + "export { mountRecordPages };\n"
        (static / "record_page.js").write_text(program, encoding="utf-8")
        (static / "playground.css").write_text(style(*playground_page.STYLES), encoding="utf-8")
        program = playground_page.program() + "export { mount };\n"
        (static / "playground.js").write_text(program, encoding="utf-8")
        (Path(app.outdir) / "docs" / "bench.html").write_text(MOVED, encoding="utf-8")
        pages = Path(app.outdir) / "docs"
        write_lab(pages / "lab.html", static / "models")
        write_playground(pages / "playground.html")


SECOND_SEED = HERE / "models" / "seed_8"
"""A model of the same recipe and sentences from another seed; its card has its scores."""


def write_lab(path: Path, models: Path) -> None:
    """Write the lab's own page, with other models beside it that it fetches when they are asked for."""
    page = tl.lab(Translator.load(device="cpu"), **famous_guide())
    files = {
        f"this model after {step:,} steps": PRETRAINED / f"{name}.safetensors"
        for step, name in Translator.snapshots().items()
    }
    files["this model trained again, from another seed"] = SECOND_SEED / "model.safetensors"
    models.mkdir(exist_ok=True)
    page.data["others"] = []
    for name, file in files.items():
        copied = f"{file.parent.name}_{file.name}"
        shutil.copy(file, models / copied)
        page.data["others"].append({"name": name, "address": f"../_static/models/{copied}"})
    page.to_html(path, overwrite=True)
    text = with_header(path)
    path.write_text(
        text.replace("; base-uri", "; connect-src 'self'; base-uri", 1), encoding="utf-8"
    )


def with_header(path: Path) -> str:
    """A page in docs with the site's header, whose style its policy allows."""
    page = path.read_text(encoding="utf-8")
    look = (HERE / "header.css").read_text(encoding="utf-8")
    page = page.replace("style-src-elem ", f"style-src-elem {hash_source(look)} ", 1)
    page = page.replace("</head>", f"<style>{look}</style>\n</head>", 1)
    return page.replace("<main>\n", f"{write_header(f'docs/{path.stem}')}<main>\n", 1)


def write_playground(path: Path) -> None:
    """Write the playground's own page."""
    page = tl.playground().to_html(path, overwrite=True)
    page.write_text(with_header(page), encoding="utf-8")


SITE = {
    # MathJax writes the styles of formulas while it sets them, so these cannot be named by a hash.
    "style-src-elem": "'self' 'unsafe-inline'",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "frame-src": "'self'",
    "form-action": "'self'",
}
"""What a page of the site may load beside what stands in it."""


def mended(page: str) -> str:
    """A page of the theme without what it gets wrong.

    Firefox fetches the next page ahead, which the policy refuses; the headings of the list of pages have
    no level.
    """
    page = re.sub(r'<link rel="next"[^>]*>', "", page)
    return page.replace(
        'class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'
    )


def guard(app: Sphinx, error: Exception | None) -> None:
    """Give each page the policy that names its scripts; those of one file alone have theirs."""
    for path in sorted(Path(app.outdir).rglob("*.html")) if error is None else ():
        page = path.read_text(encoding="utf-8")
        if "Content-Security-Policy" in page:
            continue
        page = mended(page)
        # A shared script's worker isn't seen in the page, nor that it compiles WebAssembly.
        learns = "_static/playground.js" in page
        more = {"worker-src": "blob:"} if learns else {}
        rule = policy_meta(page, SITE | more, scripts=["'self'", *[WASM] * learns])
        charset = re.search(r"<meta charset=[^>]*>", page)
        assert charset, f"{path} does not say how its letters are written"
        path.write_text(page.replace(charset[0], f"{charset[0]}\n{rule}", 1), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.config.mathjax_path = (
        "mathjax/startup.js"  # instead of the extension's, which has all parts in one
    )
    app.connect("build-finished", write_more)
    app.connect("build-finished", guard, priority=900)  # after all that writes pages
    app.connect("html-page-context", add_header)
    app.connect("html-page-context", link_preview)
    app.connect("source-read", plain_anchors)
    app.connect("source-read", glossary_by_letters)
    app.connect("source-read", fold)
    app.connect("source-read", share_pages)
    app.connect("source-read", open_with_picture)
    app.connect("source-read", course_cards)
