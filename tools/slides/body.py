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
"""The width and height in pixels that printed text may fill."""
LARGEST, SMALLEST = 48, 24
"""The largest and the smallest font size of printed text, in pixels."""
LETTER = 15
"""The width of a letter in a picture's title, in pixels; a title wider than the picture is wrapped."""
NARROW = 0.575
"""The width of a monospaced letter as a share of its size; the style sets letters a little closer."""
WIDEST = 84
"""The most letters in a line of monospaced text."""


def in_math(content: str, options: dict[str, bool]) -> str:
    """Return a formula in the form that MathJax looks for."""
    opened, closed = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return f"{opened}{html.escape(content)}{closed}"


MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=in_math)


FORMULA = re.compile(r'(<span class="math inline">[^<]*</span>[.,:;?!)]?)')


def inline(text: str) -> str:
    """Return a line of Markdown as HTML; no line begins with the full stop after a formula."""
    return FORMULA.sub(r'<span class="together">\1</span>', MARKDOWN.renderInline(text))


def paragraphs(texts: list[str]) -> str:
    """Return lines of Markdown as HTML paragraphs, with links as mere words."""
    plain = (LINK.sub(r"\1", text) for text in texts)
    return "".join(f"<p>{inline(text)}</p>" for text in plain)


def body(slide: Slide) -> str:
    """Return what fills a slide, which may be nothing.

    Raises:
        ValueError: If the cell lacks what the slide should show; the message names the cell.
    """
    makers = {"output": output, "printed": printed, "code": code, "question": question}
    if slide.show == "words":
        return ""
    if slide.show in makers:
        return makers[slide.show](slide)
    return block(slide)


def shown(slide: Slide) -> list[dict[str, str]]:
    """Return what a cell displays, picture by picture."""
    found = [dict(o.data) for o in slide.cell.outputs if "text/html" in o.get("data", {})]
    if not found:
        raise ValueError(f"cell {slide.cell.id} displays nothing; expected a picture or a piece")
    return found


def output(slide: Slide) -> str:
    """Return a picture without its title, which the slide has, or an interactive piece."""
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
    """Return an interactive piece in a frame with keys and style of its own."""
    page = FRAME.format(kind=kind, fragment=fragment)
    name = html.escape(title, quote=True)
    source = html.escape(page, quote=True)
    return f'<iframe class="piece" title="{name}" data-piece="{kind}" srcdoc="{source}"></iframe>'


def printed(slide: Slide) -> str:
    """Return what a cell prints, as large as there is room for."""
    text = printed_text(slide)
    return f'<pre class="printed" style="font-size:{size_of(text)}px">{html.escape(text)}</pre>'


def printed_text(slide: Slide) -> str:
    """Return what a cell prints, or the lines of it that the slide names."""
    text = "".join(o.text for o in slide.cell.outputs if o.output_type == "stream").strip("\n")
    lines = text.split("\n")
    if slide.lines:
        first, _, last = slide.lines.partition("-")
        lines = lines[int(first) - 1 : int(last or first)]
    if not "".join(lines):
        raise ValueError(f"cell {slide.cell.id} prints nothing there; expected some text")
    return wrapped("\n".join(line.rstrip() for line in lines), hanging="  ")


def squeezed(lines: list[str]) -> list[str]:
    """Return a table with at most two spaces between columns, because large letters need the room."""
    width = max(map(len, lines))
    blank = [all(line[at : at + 1] in ("", " ") for line in lines) for at in range(width)]
    kept = [at for at in range(width) if not all(blank[max(0, at - 2) : at + 1]) or at < 2]
    return ["".join(line[at : at + 1] for at in kept) for line in lines]


def wrapped(text: str, hanging: str = "") -> str:
    """Wrap a monospaced text so that its lines are short enough for large letters."""
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
        # The rest of a docstring's line goes to the beginning of the next one in its paragraph.
        if not hanging and lines and re.match(rf"{indent}[^\s\"]", lines[0]):
            lines[0] = f"{parts[-1]} {lines[0].strip()}"
        else:
            found.append(parts[-1])
    return "\n".join(found)


def size_of(text: str) -> int:
    """Return the font size in pixels at which a text fills the slide; a test checks that it is enough."""
    lines = text.split("\n")
    by_width = WIDTH / (NARROW * max(map(len, lines)))
    return int(min(LARGEST, by_width, HEIGHT / (1.4 * len(lines))))


def code(slide: Slide) -> str:
    """Return a cell's source with syntax colours."""
    text = code_text(slide)
    coloured = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<pre class="code" style="font-size:{size_of(text)}px">{coloured}</pre>'


def code_text(slide: Slide) -> str:
    """Return a cell's source in lines that are short enough."""
    return wrapped(re.sub(r"^#\| .*\n", "", slide.cell.source))


def question(slide: Slide) -> str:
    """Return one question of the quiz: all are there, and a style hides the others."""
    others = f".tl-quiz form:not(:nth-of-type({slide.number})), .standing {{ display: none; }}"
    page = f"<style>{others}</style>{shown(slide)[0]['text/html']}"
    return piece("quiz", page, "a question of the quiz")


def lines(formula: str) -> str:
    """Put two long formulas of one line below each other."""
    if len(formula) < 100 or r"\qquad" not in formula:
        return formula
    return r"\begin{gather*}" + formula.replace(r"\qquad", r"\\[0.7em]") + r"\end{gather*}"


def block(slide: Slide) -> str:
    """Return the formula or the table of a Markdown cell."""
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
