"""A deck of slides for each lesson, into build/slides: `python -m tools.slides`.

Nothing is run: the slides show what the notebooks hold. A deck opens from disk in any browser and
loads nothing from other machines; reveal.js and MathJax are in the folder beside it.
"""

import argparse
import html
import importlib.util
import json
import re
import shutil
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments.formatters import HtmlFormatter

from tools.build_notebooks import ROOT, lessons
from tools.slides import guide
from tools.slides.body import body, inline, paragraphs
from tools.slides.deck import Deck, deck
from transformer_lab.course.keys import lesson_key
from transformer_lab.lab.page.policy import policy_meta

HERE = Path(__file__).resolve().parent
SHARED = "shared"
"""The folder beside the decks with what all of them use."""
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


CHARSET = '<meta charset="utf-8">'
MORE = {
    # MathJax and reveal.js write styles while they work, so a hash cannot name these.
    "style-src-elem": "'self' 'unsafe-inline'",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "data: blob:",
    "font-src": "'self' data:",
    "frame-src": "'self'",
}
"""What a deck may load besides its contents; the speaker's window shows the deck in two frames."""


def main() -> None:
    """Build the decks of all lessons, or of those whose numbers are given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("lessons", nargs="*", help="keys of lessons, such as 01 (default: all)")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "slides")
    options = parser.parse_args()
    wanted = [p for p in lessons() if not options.lessons or lesson_key(p) in options.lessons]
    build(wanted, options.into)
    print(f"open {options.into / 'index.html'}")


def build(notebooks: list[Path], into: Path) -> None:
    """Write the decks of some notebooks, a page that lists all lessons, and what they share."""
    (into / SHARED).mkdir(parents=True, exist_ok=True)
    text = guide.GUIDE.read_text(encoding="utf-8")
    for path in notebooks:
        one = deck(path)
        (into / f"{one.name}.html").write_text(page(one, text), encoding="utf-8")
    write_shared(into / SHARED)
    titles = [
        (path.stem, deck(path).title) for path in lessons() if (into / f"{path.stem}.html").exists()
    ]
    index = TEMPLATES.get_template("index.html.j2").render(decks=titles)
    (into / "index.html").write_text(guarded(index), encoding="utf-8")


def page(one: Deck, text: str) -> str:
    """Return the HTML of a deck; `text` is the guide's."""
    notes = guide.notes(one.lesson, text)
    if len(notes) != len(one.slides):
        raise ValueError(
            f"lesson {one.lesson} has {len(one.slides)} slides, but its guide names {len(notes)}"
        )
    filled = [
        {
            "title": Markup(inline(slide.title)),  # noqa: S704 - the notebook's own Markdown
            "text": Markup(inline(slide.text)),  # noqa: S704
            "show": slide.show,
            "body": Markup(body(slide)),  # noqa: S704
            "notes": Markup(paragraphs(said)),  # noqa: S704
        }
        for slide, said in zip(one.slides, notes, strict=True)
    ]
    text = TEMPLATES.get_template("deck.html.j2").render(deck=one, slides=filled, shared=SHARED)
    return guarded(text)


def guarded(text: str) -> str:
    """Add the policy that names what runs in a page, in its frames and in the speaker's window."""
    frames = [html.unescape(frame) for frame in re.findall(r'srcdoc="([^"]*)"', text)]
    rule = policy_meta("\n".join([text, *frames, speaker_window()]), MORE, scripts=["'self'"])
    return text.replace(CHARSET, f"{CHARSET}\n{rule}", 1)


def speaker_window() -> str:
    """Return the page that the notes plugin writes into a window of its own, from its script."""
    script = (HERE / "reveal" / "notes.js").read_text(encoding="utf-8")
    (literal,) = re.findall(r'document\.write\(("(?:[^"\\]|\\.)*")\)', script)
    page: str = json.loads(literal.replace(r"\x3c", "<").replace(r"\x3e", ">"))
    return page


def write_shared(folder: Path) -> None:
    """Write reveal.js, MathJax, and the style and script of the decks."""
    for name in ("reveal.js", "reveal.css", "notes.js", "LICENSE"):
        shutil.copyfile(HERE / "reveal" / name, folder / name)
    colours = HtmlFormatter().get_style_defs(".code")
    style = (HERE / "slides.css").read_text(encoding="utf-8")
    (folder / "slides.css").write_text(f"{style}\n{colours}\n", encoding="utf-8")
    for name in ("slides.js", "piece.css"):
        shutil.copyfile(HERE / name, folder / name)
    shutil.copyfile(mathjax(), folder / "mathjax.js")


def mathjax() -> Path:
    """Return the MathJax of the website, one file that draws formulas as SVG."""
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("sphinx-mathjax-offline is missing: pip install -e '.[site]'")
    return Path(found.origin).parent / "static" / "mathjax" / "tex-svg.js"


if __name__ == "__main__":
    main()
