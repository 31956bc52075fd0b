"""What fills a slide: a cell's picture, piece, print, code, formula or table, as HTML."""

import base64
import html
import io
import re
import textwrap

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from docs.first_page import stored_picture, without_title
from tools.slides.deck import Slide, title_of_picture

PLACE = re.compile(r'<div data-(\w+)="(\w+)">')
LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
FRAME = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><link rel="stylesheet" href="shared/piece.css"></head>
<body class="{kind}">{fragment}</body>
</html>
"""
WIDTH, HEIGHT = 1168, 560
"""Pixels that printed text may fill."""
LARGEST, SMALLEST = 48, 24
"""Pixels of printed text."""
LETTER = 15
"""Pixels of a letter in a picture's title: one that is wider than the picture has two lines."""
NARROW = 0.575
"""How wide a monospaced letter is, in its size; the style sets letters a little closer."""
WIDEST = 84
"""Letters in a line of it."""


def in_math(content: str, options: dict[str, bool]) -> str:
    """A formula as MathJax looks for it."""
    opened, closed = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return f"{opened}{html.escape(content)}{closed}"


MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=in_math)


FORMULA = re.compile(r'(<span class="math inline">[^<]*</span>[.,:;?!)]?)')


def inline(text: str) -> str:
    """A line of Markdown; no line begins with the full stop behind a formula."""
    return FORMULA.sub(r'<span class="together">\1</span>', MARKDOWN.renderInline(text))


def paragraphs(texts: list[str]) -> str:
    """Some lines of Markdown, each a paragraph; links are words here."""
    plain = (LINK.sub(r"\1", text) for text in texts)
    return "".join(f"<p>{inline(text)}</p>" for text in plain)


def body(slide: Slide) -> str:
    """What fills a slide, or nothing.

    Raises:
        ValueError: If the cell has not what the slide should show; the message names the cell.
    """
    makers = {"output": output, "printed": printed, "code": code, "question": question}
    if slide.show == "words":
        return ""
    if slide.show in makers:
        return makers[slide.show](slide)
    return block(slide)


def shown(slide: Slide) -> list[dict[str, str]]:
    """What a cell displays, picture by picture."""
    found = [dict(o.data) for o in slide.cell.outputs if "text/html" in o.get("data", {})]
    if not found:
        raise ValueError(f"cell {slide.cell.id} displays nothing; expected a picture or a piece")
    return found


def output(slide: Slide) -> str:
    """A picture without its title, which is the slide's; or a piece that answers to the mouse."""
    data = shown(slide)[slide.number - 1]
    kind = PLACE.search(data["text/html"])
    if kind and "<script" in data["text/html"]:
        return piece(kind[1], data["text/html"], "".join(data["text/plain"]).partition(": ")[0])
    image = stored_picture(data["text/html"])
    for _ in range(1 + LETTER * len(title_of_picture(slide.cell)) // image.width):
        image = without_title(image.convert("RGB"))
    written = io.BytesIO()
    image.save(written, "png")
    source = base64.b64encode(written.getvalue()).decode()
    alt = html.escape("".join(data["text/plain"]), quote=True)
    shape = "tall" if image.width < 1.45 * image.height else "wide"
    return f'<img class="{shape}" src="data:image/png;base64,{source}" alt="{alt}">'


def piece(kind: str, fragment: str, title: str) -> str:
    """What answers to the mouse, in a frame of its own: neither its keys nor its style are the deck's."""
    page = FRAME.format(kind=kind, fragment=fragment)
    name = html.escape(title, quote=True)
    source = html.escape(page, quote=True)
    return f'<iframe class="piece" title="{name}" data-piece="{kind}" srcdoc="{source}"></iframe>'


def printed(slide: Slide) -> str:
    """What a cell prints, as large as there is room for."""
    text = printed_text(slide)
    return f'<pre class="printed" style="font-size:{size_of(text)}px">{html.escape(text)}</pre>'


def printed_text(slide: Slide) -> str:
    """What a cell prints, or the lines of it that the slide names."""
    text = "".join(o.text for o in slide.cell.outputs if o.output_type == "stream").strip("\n")
    lines = text.split("\n")
    if slide.lines:
        first, _, last = slide.lines.partition("-")
        lines = lines[int(first) - 1 : int(last or first)]
    if not "".join(lines):
        raise ValueError(f"cell {slide.cell.id} prints nothing there; expected some lines")
    return wrapped("\n".join(line.rstrip() for line in lines), hanging="  ")


def squeezed(lines: list[str]) -> list[str]:
    """A table with at most two blanks between its columns: large letters leave no room for more."""
    width = max(map(len, lines))
    blank = [all(line[at : at + 1] in ("", " ") for line in lines) for at in range(width)]
    kept = [at for at in range(width) if not all(blank[max(0, at - 2) : at + 1]) or at < 2]
    return ["".join(line[at : at + 1] for at in kept) for line in lines]


def wrapped(text: str, hanging: str = "") -> str:
    """A monospaced text whose lines are short enough for large letters."""
    found, lines = [], text.split("\n")
    if hanging and max(map(len, lines)) > WIDEST:
        lines = squeezed(lines)
    while lines:
        line = lines.pop(0)
        indent = re.match(" *", line)[0]  # type: ignore[index]  # it always matches
        if len(line) <= WIDEST:
            found.append(line)
            continue
        parts = textwrap.wrap(line, WIDEST, subsequent_indent=indent + hanging)
        found += parts[:-1]
        # What is left over of a docstring's line begins the next one of its paragraph.
        if not hanging and lines and re.match(rf"{indent}[^\s\"]", lines[0]):
            lines[0] = f"{parts[-1]} {lines[0].strip()}"
        else:
            found.append(parts[-1])
    return "\n".join(found)


def size_of(text: str) -> int:
    """Pixels of a monospaced text that fills the slide; a test asks that it be large enough."""
    lines = text.split("\n")
    by_width = WIDTH / (NARROW * max(map(len, lines)))
    return int(min(LARGEST, by_width, HEIGHT / (1.4 * len(lines))))


def code(slide: Slide) -> str:
    """A cell's source, coloured."""
    text = code_text(slide)
    coloured = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<pre class="code" style="font-size:{size_of(text)}px">{coloured}</pre>'


def code_text(slide: Slide) -> str:
    """A cell's source in lines that are short enough."""
    return wrapped(re.sub(r"^#\| .*\n", "", slide.cell.source))


def question(slide: Slide) -> str:
    """One question of the quiz; all of them are there, and a style hides the others."""
    others = f".tl-quiz form:not(:nth-of-type({slide.number})), .standing {{ display: none; }}"
    page = f"<style>{others}</style>{shown(slide)[0]['text/html']}"
    return piece("quiz", page, "a question of the quiz")


def lines(formula: str) -> str:
    """Two long formulas of one line below each other."""
    if len(formula) < 100 or r"\qquad" not in formula:
        return formula
    return r"\begin{gather*}" + formula.replace(r"\qquad", r"\\[0.7em]") + r"\end{gather*}"


def block(slide: Slide) -> str:
    """The formula or the table of a Markdown cell."""
    tokens = MARKDOWN.parse(slide.cell.source)
    if slide.show == "formula":
        texts = [
            in_math(lines(t.content), {"display_mode": True})
            for t in tokens
            if t.type == "math_block"
        ]
    else:
        starts = [i for i, token in enumerate(tokens) if token.type == "table_open"]
        ends = [i for i, token in enumerate(tokens) if token.type == "table_close"]
        pairs = zip(starts, ends, strict=True)
        texts = [
            MARKDOWN.renderer.render(tokens[i : j + 1], MARKDOWN.options, {}) for i, j in pairs
        ]
    if slide.number > len(texts):
        raise ValueError(
            f"cell {slide.cell.id} has {len(texts)}; expected {slide.show} {slide.number}"
        )
    return f'<div class="{slide.show} fit">{texts[slide.number - 1]}</div>'
