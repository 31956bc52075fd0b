"""What the site's search looks through: the prose of each section, without code and without LaTeX."""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SIGNS = {
    **{r"\sqrt": "√", r"\cdot": "·", r"\times": "×", r"\top": "T", r"\infty": "∞", r"\sum": "Σ"},
    **{r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\epsilon": "ε", r"\varepsilon": "ε"},
    **{r"\theta": "θ", r"\sigma": "σ", r"\mu": "μ", r"\pi": "π", r"\ln": "ln", r"\log": "log"},
    **{r"\exp": "exp", r"\max": "max", r"\sin": "sin", r"\cos": "cos", r"\le": "≤", r"\ge": "≥"},
    **{r"\approx": "≈", r"\ldots": "…", r"\dots": "…", r"\to": "→", r"\in": "∈", r"\,": " "},
}
LEFT_OUT = (
    nodes.section,
    nodes.literal_block,
    nodes.math_block,
    nodes.raw,
    nodes.image,
    nodes.comment,
)
BLOCKS = (nodes.paragraph, nodes.list_item, nodes.title, nodes.entry, nodes.term)


def readable(formula: str) -> str:
    """A short formula without LaTeX's commands; what needs more than signs is left out."""
    text = re.sub(r"\\(?:text|mathrm|mathit|mathbf|operatorname)\s*", "", formula)
    text = re.sub(r"\\[A-Za-z]+|\\.", lambda command: SIGNS.get(command[0], command[0]), text)
    text = re.sub(r"[{}]", "", text)
    return "…" if "\\" in text else text


def prose(node: nodes.Node) -> str:
    """What a reader reads of a node: no code, no output of a cell, no section within it."""
    if isinstance(node, LEFT_OUT) or "cell" in getattr(node, "attributes", {}).get("classes", ()):
        return ""
    if isinstance(node, nodes.math):
        return readable(node.astext())
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(map(prose, node.children)) + (" " if isinstance(node, BLOCKS) else "")


def sections_of(env: BuildEnvironment, page: str) -> list[dict[str, object]]:
    """The sections of a page: titles, where they are, their terms in bold, and their prose."""
    found = []
    document = env.get_doctree(page)
    for section in document.findall(nodes.section):
        own = [child for child in section.children[1:] if not isinstance(child, nodes.section)]
        text = " ".join("".join(map(prose, own)).split())
        if not text:
            continue
        strong = [bold for child in own for bold in child.findall(nodes.strong)]
        found.append(
            {
                "page": prose(env.titles[page]).strip(),
                "title": prose(section.children[0]).strip(),
                "at": f"{page}.html#{section['ids'][0]}",
                "bold": sorted({" ".join(prose(bold).split()) for bold in strong}),
                "text": text,
            }
        )
    return found


def write_sections(app: Sphinx) -> None:
    """All sections as a script, which a page can read from a disk, too."""
    found = [part for page in sorted(app.env.found_docs) for part in sections_of(app.env, page)]
    text = f"globalThis.SECTIONS = {json.dumps(found, ensure_ascii=False)};\n"
    (Path(app.outdir) / "_static" / "sections.js").write_text(text, encoding="utf-8")
