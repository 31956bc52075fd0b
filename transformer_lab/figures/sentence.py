"""Draw a sentence: words in boxes, arrows between them, and a cover over hidden words."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_lab.config import check, check_choice, check_count, join_with_and
from transformer_lab.figures import alt_text as words_for
from transformer_lab.figures.boxes import (
    HEAD_NAMES,
    SMALL,
    WORD,
    colour_of,
    draw_box,
    draw_cover,
    make_arrow,
    write_label,
)
from transformer_lab.figures.style import COLOURS, MASKED, QUIET, course_style
from transformer_lab.figures.titles import add_title

WIDEST = 6.4
"""The maximum width in inches; at just over half of it, as on a phone, a picture stays readable."""
NARROWEST, ROOM_FOR_TITLES = 4.4, 5.2  # inches
BOX, NOTE = 0.36, 0.3  # inches; the heights of a word's box and of the box attached to it
PAD, GAP, EDGE = 0.1, 0.22, 0.15  # inches; in a box, from box to box, and to the picture's edge
STEEP, STRAIGHT, APART = 1.05, 0.5, 0.16  # inches from row to row: slanting arrows, upright, none


@dataclass(frozen=True)
class Words:
    """One row of a drawing: words in boxes, from left to right.

    `part` sets the colour of all boxes, or of each: a name from `COLOURS`, "head 1" to "head 4", or
    "" for none. `label` is written on the left. `notes` are written in small
    boxes attached to the words, in the colour of `notes_part`. `covered` lists the positions of the
    words that are hidden. The first word is in column `start`; a fraction puts it between two
    columns.
    """

    words: Sequence[str]
    part: str | Sequence[str] = ""
    label: str = ""
    notes: Sequence[str] = ()
    notes_part: str = "value"
    covered: Collection[int] = ()
    start: int | float = 0

    def parts(self) -> list[str]:
        """Return the part of each word."""
        return [self.part] * len(self.words) if isinstance(self.part, str) else list(self.part)


@dataclass(frozen=True)
class Arrows:
    """The arrows between a row and the one above it.

    `weights` has a row for each upper word and a column for each lower one, as in attention. An
    arrow's thickness shows its weight, from 0 to 1, and 0 means no arrow. The arrows point up
    unless `down` is set. `labels` are written on the arrows: a string for each weight ("" for none)
    or True to show the weights. `lower` is the index of the lower row, counted from 0 at the
    bottom.
    """

    weights: Float[np.ndarray, "upper lower"] | Sequence[Sequence[float]]
    part: str = ""
    down: bool = False
    labels: bool | Sequence[Sequence[str]] = False
    lower: int = 0

    def drawn(self) -> Iterator[tuple[int, int, float, str]]:
        """Yield each arrow: the positions of its upper and lower word, its weight and its label."""
        for (upper, lower), weight in np.ndenumerate(np.asarray(self.weights, dtype=float)):
            if weight > 0:
                given = "" if isinstance(self.labels, bool) else self.labels[upper][lower]
                yield upper, lower, weight, f"{weight:.2f}" if self.labels is True else given


@dataclass(frozen=True)
class Panel:
    """One panel: rows from the bottom up, the arrows between them, and a name written above."""

    rows: Sequence[Words]
    arrows: Sequence[Arrows] = ()
    name: str = ""


def sentence_arrows(*panels: Panel, title: str) -> Figure:
    """Draw sentences with weighted arrows between words, for example to show attention.

        sentence_arrows(
            Panel(
                [Words(["the", "cat", "sat"], "key"), Words(["sat"], "query", start=2)],
                [Arrows([[0.11, 0.79, 0.11]], "query", down=True, labels=True)],
            ),
            title="“sat” looks at “cat”",
        )

    Panels are drawn side by side if there is room, and one below the other otherwise.

    Raises:
        ValueError: If there is no panel, or a panel is invalid; the message names the cause.
    """
    check("panels", panels, "at least one", bool(panels))
    for panel in panels:
        check_panel(panel)
    with course_style():
        figure = Figure(figsize=(WIDEST, 3))
        plans = [Plan(figure, panel) for panel in panels]
        lines = list(break_into_lines(plans))
        wide = max(sum(plan.width for plan in line) for line in lines)
        high = sum(max(plan.height for plan in line) for line in lines)
        figure.set_figwidth(max(wide, NARROWEST))
        add_title(figure, title, widest=ROOM_FOR_TITLES)
        top = sum(0.16 + text.get_window_extent().height / figure.dpi for text in figure.texts)
        figure.set_figheight(high + top)
        for heading in figure.texts:  # one, or none without a title
            heading.set_y(1 - 0.1 / (high + top))
        axes = figure.add_axes((0, 0, 1, high / (high + top)))
        axes.set_xlim(0, figure.get_figwidth())
        axes.set_ylim(0, high)
        axes.axis("off")
        bottom = high
        for line in lines:
            tall = max(plan.height for plan in line)
            bottom -= tall
            left = 0.0
            for plan in line:
                if left:  # a rule between two panels
                    axes.plot([left, left], [bottom + EDGE, bottom + tall], color=MASKED, lw=1)
                plan.draw(axes, left, bottom, bottom + tall)
                left += plan.width
        said = " ".join(describe_panel(panel) for panel in panels)
        words_for.add_alt_text(figure, title, said)
    return figure


def check_panel(panel: Panel) -> None:
    """Raise a ValueError unless a panel's colours, notes, covers and arrows fit its rows."""
    colours = ["", *COLOURS, *HEAD_NAMES]
    check_count("a panel", len(panel.rows), "row", "at least 1", len(panel.rows) > 0)
    for number, row in enumerate(panel.rows):
        count = len(row.words)
        from_the_left = math.isfinite(row.start) and row.start >= 0
        check(f"`start` of row {number}", row.start, "a finite number of at least 0", from_the_left)
        check_count(f"row {number}", count, "word", "at least 1", count > 0)
        each, parts, notes = f"{count}, one for each word", len(row.parts()), len(row.notes)
        check_count(f"`part` of row {number}", parts, "colour", each, parts == count)
        for part in row.parts():
            check_choice(f"`part` of row {number}", part, colours)
        check_choice(f"`notes_part` of row {number}", row.notes_part, colours)
        expected = f"either none or {each}"
        check_count(f"row {number}", notes, "note", expected, notes in (0, count))
        if wrong := [place for place in row.covered if not 0 <= place < count]:
            found = f"`covered` of row {number} contains {wrong[0]}"
            raise ValueError(f"{found}; expected positions from 0 to {count - 1}")
    for arrows in panel.arrows:
        last = len(panel.rows) - 2
        expected = "the index of a row that has another row above it"
        check("index of the arrows' lower row", arrows.lower, expected, 0 <= arrows.lower <= last)
        below, above = panel.rows[arrows.lower : arrows.lower + 2]
        weights = np.asarray(arrows.weights, dtype=float)
        shape = len(above.words), len(below.words)
        check("shape of weights", weights.shape, f"{shape}", weights.shape == shape)
        if len(bad := weights[~((weights >= 0) & (weights <= 1))]):  # NaN too
            raise ValueError(f"weights contains {bad[0]:.4g}; expected numbers from 0 to 1")
        check_choice("part of arrows", arrows.part, colours)
        if not isinstance(arrows.labels, bool):
            lists, expected = len(arrows.labels), f"{shape[0]}, one for each row of weights"
            check_count("labels", lists, "list", expected, lists == shape[0])
            for number, line in enumerate(arrows.labels):
                name, expected = f"labels[{number}]", f"{shape[1]}, one for each weight"
                check_count(name, len(line), "label", expected, len(line) == shape[1])
        hidden = [below.words[lower] for _, lower, _, _ in arrows.drawn() if lower in below.covered]
        if hidden:
            words = join_with_and(map(repr, dict.fromkeys(hidden)))
            raise ValueError(f"covered words cannot have arrows, but there are arrows at {words}")


def break_into_lines(plans: "Sequence[Plan]") -> "Iterator[list[Plan]]":
    """Arrange the panels in as few lines as the width allows, and yield the panels of each line."""
    for lines in range(1, len(plans) + 1):
        each = -(-len(plans) // lines)
        cut = [list(plans[n : n + each]) for n in range(0, len(plans), each)]
        if each == 1 or all(sum(plan.width for plan in line) <= WIDEST for line in cut):
            yield from cut
            return


class Plan:
    """The layout of a panel, in inches from its lower left corner."""

    def __init__(self, figure: Figure, panel: Panel):
        self.panel = panel
        self.measure = figure
        sizes = [self.box_widths(row) for row in panel.rows]
        self.sizes = sizes
        aside = max(self.text_width(row.label, SMALL) for row in panel.rows)
        self.left = EDGE + aside + (GAP if aside else 0)
        columns = 1 + math.ceil(max(row.start + len(row.words) - 1 for row in panel.rows))
        widths = [0.3] * columns
        for row, boxes in zip(panel.rows, sizes, strict=True):
            for place, wide in enumerate(boxes):
                column = int(row.start + place)
                widths[column] = max(widths[column], wide)
        ends = np.cumsum([wide + GAP for wide in widths])
        self.centres = self.left + ends - GAP - np.array(widths) / 2
        name = self.text_width(panel.name, SMALL, bold=True) + 2 * EDGE
        self.width = max(self.left + ends[-1] - GAP + EDGE, name)
        self.bottoms = []
        bottom = EDGE
        for number, row in enumerate(panel.rows):
            self.bottoms.append(bottom)
            bottom += BOX + (NOTE if row.notes else 0) + self.room_above(number)
        self.height = bottom + EDGE + (0.26 if panel.name else 0)

    def room_above(self, number: int) -> float:
        """Return the space between a row and the one above it, in inches."""
        above = [arrows for arrows in self.panel.arrows if arrows.lower == number]
        if number == len(self.panel.rows) - 1:
            return 0.0
        if not above:
            return APART
        below, upper = self.panel.rows[number : number + 2]
        slants = any(
            below.start + lower != upper.start + place
            for arrows in above
            for place, lower, _, _ in arrows.drawn()
        )
        labelled = any(label for arrows in above for *_, label in arrows.drawn())
        return STEEP if slants else STRAIGHT + 0.25 * labelled

    def text_width(self, text: str, size: float, *, bold: bool = False) -> float:
        """Return the width of a string in inches."""
        if not text:
            return 0.0
        written = self.measure.text(
            0, 0, text, fontsize=size, fontweight="bold" if bold else "normal", parse_math=False
        )
        wide = float(written.get_window_extent().width / self.measure.dpi)
        written.remove()
        return wide

    def box_widths(self, row: Words) -> list[float]:
        """Return the width of each word's box, including room for its note."""
        notes = row.notes or [""] * len(row.words)
        return [
            max(self.text_width(word, WORD), self.text_width(note, SMALL)) + 2 * PAD
            for word, note in zip(row.words, notes, strict=True)
        ]

    def centre(self, row: int, place: int) -> float:
        """Return the distance from the panel's left edge to the middle of a word's box."""
        column = self.panel.rows[row].start + place
        return float(np.interp(column, np.arange(len(self.centres)), self.centres))

    def draw(self, axes: Axes, left: float, bottom: float, top: float) -> None:
        """Draw the panel between `bottom` and `top`, starting at `left`."""
        for arrows in self.panel.arrows:
            self.draw_arrows(axes, arrows, left, bottom)
        for number, row in enumerate(self.panel.rows):
            self.draw_row(axes, number, row, left, bottom)
        if self.panel.name:
            axes.text(
                *(left + EDGE, top - EDGE / 2, self.panel.name),
                va="top",
                fontsize=SMALL,
                fontweight="bold",
                parse_math=False,
            )

    def draw_row(self, axes: Axes, number: int, row: Words, left: float, bottom: float) -> None:
        """Draw the boxes of a row, the notes attached to them, the cover and the row's label."""
        last = number == len(self.panel.rows) - 1
        low = bottom + self.bottoms[number]
        words_low = low + (NOTE if last and row.notes else 0)
        notes_low = low if last else low + BOX
        middles = [left + self.centre(number, place) for place in range(len(row.words))]
        if row.label:
            axes.text(
                *(left + self.left - GAP, words_low + BOX / 2, row.label),
                ha="right",
                va="center",
                fontsize=SMALL,
                color=QUIET,
                parse_math=False,
            )
        for place, (word, part) in enumerate(zip(row.words, row.parts(), strict=True)):
            wide, middle = self.sizes[number][place], middles[place]
            hidden = place in row.covered
            draw_box(axes, middle, words_low, wide, BOX, word, WORD, "mask" if hidden else part)
            if row.notes:
                note = row.notes[place]
                draw_box(
                    axes, middle, notes_low, wide, NOTE, note, SMALL, row.notes_part, note=True
                )
        for first, end in find_neighbours(row.covered):
            start = middles[first] - self.sizes[number][first] / 2 - 0.05
            stop = middles[end] + self.sizes[number][end] / 2 + 0.05
            draw_cover(axes, start, words_low - 0.05, stop - start, BOX + 0.1)

    def draw_arrows(self, axes: Axes, arrows: Arrows, left: float, bottom: float) -> None:
        """Draw arrows from box to box, with labels that avoid each other where possible."""
        row = arrows.lower
        notes = NOTE if self.panel.rows[row].notes else 0
        low = bottom + self.bottoms[row] + BOX + notes + 0.04
        high = bottom + self.bottoms[row + 1] - 0.04
        shown = list(arrows.drawn())
        ends = [[upper for upper, *_ in shown], [lower for _, lower, *_ in shown]]
        taken: list[tuple[float, float, float]] = []
        for upper, lower, weight, label in shown:
            here = np.array([left + self.centre(row, lower), low])
            there = np.array([left + self.centre(row + 1, upper), high])
            start, end = (there, here) if arrows.down else (here, there)
            axes.add_patch(make_arrow(tuple(start), tuple(end), weight, colour_of(arrows.part)))
            if label:
                many = ends[0].count(upper) >= ends[1].count(lower)  # they spread at the lower end
                ways = np.array([0.3, 0.46, 0.62, 0.22])
                wide = self.text_width(label, SMALL) / 2 + 0.025
                for way in ways if many else 1 - ways:
                    x, y = here + way * (there - here)
                    if all(abs(x - a) > wide + b or abs(y - c) > 0.22 for a, b, c in taken):
                        break
                taken.append((x, wide, y))
                write_label(axes, x, y, label)


def find_neighbours(places: Collection[int]) -> list[tuple[int, int]]:
    """Return the first and last position of each run of consecutive positions."""
    runs: list[tuple[int, int]] = []
    for place in sorted(places):
        joined = runs and runs[-1][1] == place - 1
        runs[-1:] = [(runs[-1][0], place)] if joined else [*runs[-1:], (place, place)]
    return runs


def describe_panel(panel: Panel) -> str:
    """Describe the rows of a panel from the bottom up, what is covered, and every arrow."""
    said = []
    for number, row in enumerate(panel.rows, start=1):
        notes = row.notes or [""] * len(row.words)
        named = [f"{w} ({n})" if n else w for w, n in zip(row.words, notes, strict=True)]
        label = f"row {number}, {row.label}" if row.label else f"row {number}"
        line = f"{label}: {', '.join(named)}"
        hidden = join_with_and([row.words[place] for place in sorted(row.covered)])
        said.append(f"{' '.join(line.split())}{f', with {hidden} covered' if hidden else ''}")
    name = f"{panel.name}: " if panel.name else ""
    text = f"{name}From the bottom up, {'; '.join(said)}."
    for arrows in panel.arrows:
        text += describe_arrows(arrows, *panel.rows[arrows.lower : arrows.lower + 2])
    return text


def describe_arrows(arrows: Arrows, below: Words, above: Words) -> str:
    """Describe where the arrows between two rows begin and end, and give their labels."""
    drawn = list(arrows.drawn())
    numbers = (
        (arrows.lower + 2, arrows.lower + 1)
        if arrows.down
        else (arrows.lower + 1, arrows.lower + 2)
    )
    if len(drawn) == len(below.words) * len(above.words) > 3 and not any(a[3] for a in drawn):
        return f" Arrows from every word of row {numbers[0]} to every word of row {numbers[1]}."
    found = []
    for upper, lower, _, label in drawn:
        ends = above.words[upper], below.words[lower]
        start, end = ends if arrows.down else ends[::-1]
        found.append(f"{start} to {end}{f' {label}' if label else ''}")
    way = f" Arrows from row {numbers[0]} to row {numbers[1]}: "
    return f"{way}{', '.join(found)}." if found else ""
