"""Figure titles that fit the width of the page, with formulas typeset."""

import re
import textwrap

from matplotlib.figure import Figure

from transformer_lab.figures.style import PAGE


def add_title(figure: Figure, title: str, *, widest: float = PAGE) -> None:
    """Write the title at the top left of the figure, with its formulas typeset.

    If the title would be cut off, the figure is widened, up to `widest` inches. A title that is
    still too wide is wrapped.
    """
    if not title:
        return
    limit = max(widest, figure.get_figwidth())
    needed = write_title(figure, title)
    if needed > limit:
        count = len(title)
        while needed > limit and count > 8:
            count -= 2
            needed = write_title(figure, wrap_title(title, count))
        lines = wrap_title(title, count).count("\n")
        while count > 8 and wrap_title(title, count - 1).count("\n") == lines:
            count -= 1  # lines of about the same length
        needed = write_title(figure, wrap_title(title, count))
    figure.set_figwidth(max(figure.get_figwidth(), needed))


def write_title(figure: Figure, title: str) -> float:
    """Write a title, and return the width that the figure needs for it, in inches."""
    lines = "\n".join(format_formulas(line, bold=True) for line in title.split("\n"))
    text = figure.suptitle(lines, x=0.02, ha="left", fontsize=11, fontweight="bold")
    return float(text.get_window_extent().width / figure.dpi / 0.96)  # as much room on the right


def wrap_title(title: str, letters: int) -> str:
    """Wrap a title between words, into lines of at most `letters` characters."""
    lines = textwrap.wrap(title, letters, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def format_formulas(text: str, *, bold: bool = False) -> str:
    """Typeset d_k, √d_k and the like as formulas, and use true minus signs in negative numbers."""
    text = re.sub(r"(?<!\S)-(?=\d)", "−", text)
    if "$" in text:
        return text
    letter = r"\mathbfit{d}" if bold else "d"

    def formula(found: re.Match[str]) -> str:
        index = found[2] if len(found[2]) == 1 else rf"\mathrm{{{found[2]}}}"
        symbol = rf"{letter}_{{{index}}}"
        return rf"$\sqrt{{{symbol}}}$" if found[1] else f"${symbol}$"

    return re.sub(r"(√)?\bd_(k|v|ff|model)\b", formula, text)
