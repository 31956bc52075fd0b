"""The story's pictures for where no script runs: drawn from the same answers, with the same colours.

They're narrow, so that their letters are large enough on a phone.
"""

import html
from typing import Any

Answer = dict[str, Any]
WIDTH, ROW, FONT = 360, 25, 15
LEFT, RIGHT = 128, 262  # where the English words end, and where the French ones begin
TOP = 8


def escape(text: str) -> str:
    """Text as HTML."""
    return html.escape(text, quote=True)


def picture(height: float, alt: str, *parts: str) -> str:
    """An SVG of the page's width, with what is to be seen on it in words."""
    return (
        f'<svg class="picture" role="img" aria-label="{escape(alt)}" '
        f'viewBox="0 0 {WIDTH} {height:g}">{"".join(parts)}</svg>'
    )


def write(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text, whose middle is at y."""
    at = f'x="{x:g}" y="{y + 0.35 * FONT:g}" text-anchor="{anchor}"'
    return f'<text {at} class="{kind}">{escape(text)}</text>'


def middle(place: float) -> float:
    """The height of a word in its column; what stands over the column is at −1."""
    return TOP + (place + 1.5) * ROW


def height_of(rows: float) -> float:
    """The height of a picture with so many rows below its headings."""
    return middle(rows - 0.5) + TOP


def line(start: tuple[float, float], end: tuple[float, float], weight: float, kind: str) -> str:
    """A line between two words, as thick as the weight is large."""
    (x, y), (to_x, to_y) = start, end
    across = (to_x - x) / 2
    path = f"M{x:g} {y:g}C{x + across:g} {y:g} {to_x - across:g} {to_y:g} {to_x:g} {to_y:g}"
    return f'<path d="{path}" class="{kind}" stroke-width="{max(0.5, 7 * weight):g}"/>'


def bar(x: float, y: float, number: float, longest: float, kind: str) -> list[str]:
    """A bar for a number from 0 to 1, with the number behind it."""
    width = max(1, longest * number)
    rectangle = f'<rect x="{x:g}" y="{y - 8:g}" width="{width:g}" height="16" class="{kind}"/>'
    return [rectangle, write(x + width + 8, y, f"{number:.2f}")]


def wires(answer: Answer, *, is_cut: bool) -> list[str]:
    """The two columns of words, with the lines that lead from the noun to the pronoun."""
    decider = len(answer["source"]) - 1
    step, noun = answer["step"], answer["noun"]
    x, y, to_y = LEFT - 62, middle(decider), middle(noun)
    arc = f"M{x:g} {y:g}C12 {y:g} 12 {to_y:g} {x:g} {to_y:g}"
    dashes = ' pathLength="100" stroke-dasharray="42 16 42"' if is_cut else ""
    wire = f'<path d="{arc}" class="lit" stroke-width="{7 * answer["found"]:g}"{dashes}/>'
    marks = {noun: "key", decider: "decider"}
    return [
        write(LEFT, middle(-1), "encoder", "quiet", "end"),
        write((LEFT + RIGHT) / 2, middle(-1), "cross-attention", "quiet", "middle"),
        write(RIGHT, middle(-1), "decoder", "quiet"),
        wire,
        *(
            line((LEFT + 8, y + shift), (RIGHT - 8, middle(step) + shift), weight, "lit")
            for weight, shift in zip(answer["read"], (-4, 4), strict=True)
        ),
        *(
            write(LEFT, middle(place), word, marks.get(place, ""), "end")
            for place, word in enumerate(answer["source"])
        ),
        *(
            write(RIGHT, middle(place), word, "query" if place == step else "")
            for place, word in enumerate(answer["written"])
        ),
    ]


def picture_of_wires(answer: Answer) -> str:
    """Screen 3: from which word to which the lines lead."""
    source, written = answer["source"], answer["written"]
    alt = (
        f"Two columns of words. From “{written[answer['step']]}” two lines lead to “{source[-1]}”, with "
        f"weights of {answer['read'][0]:.2f} and {answer['read'][1]:.2f}, and from “{source[-1]}” one "
        f"leads to “{source[answer['noun']]}”, with a weight of {answer['found']:.2f}."
    )
    height = height_of(max(len(source), len(written)))
    return picture(height, alt, *wires(answer, is_cut=False))


def picture_of_cut(whole: Answer, cut: Answer) -> str:
    """Screen 4: the wire is cut, and the bars of both pronouns, before and after."""
    pronouns = list(whole["chances"])
    alt = f"The line from “{cut['source'][-1]}” is cut. " + " ".join(
        f"“{word}” had a probability of {whole['chances'][word]:.2f} before, and has "
        f"{cut['chances'][word]:.2f} now."
        for word in pronouns
    )
    first = len(cut["written"]) + 0.5  # the row of the first bar
    bars = []
    for number, (name, answer) in enumerate((("before", whole), ("after", cut))):
        for row, word in enumerate(pronouns):
            y = middle(first + number * (len(pronouns) + 0.5) + row)
            bars += [
                write(0, y, name if row == 0 else "", "quiet"),
                write(108, y, word, "query", "end"),
                *bar(116, y, answer["chances"][word], 190, "query"),
            ]
    height = height_of(first + 2 * len(pronouns) + 0.5)
    return picture(height, alt, *wires(cut, is_cut=True), *bars)


def picture_of_claims(answer: Answer, places: dict[str, Any], heads: int) -> str:
    """Screen 6: the picture of the textbooks, and what was measured in the encoder's heads."""
    source, noun, it = answer["source"], answer["noun"], places["pronoun"]
    parts = [
        write(0, middle(-1), "as textbooks draw it", "quiet"),
        line((68, middle(noun)), (108, middle(it)), 1, "plain"),
        *(
            write(62, middle(place), word, "key" if place == noun else "", "end")
            for place, word in enumerate(source)
        ),
        *(
            write(114, middle(place), word, "decider" if place == it else "")
            for place, word in enumerate(source)
        ),
        write(206, middle(-1), "as measured here", "quiet"),
    ]
    said: list[str] = []
    for name, row in (("pronoun", 0), ("decider", 4)):
        looking = source[places[name]]
        parts.append(write(206, middle(row), f"{looking} looks at", "decider"))
        for i, (noun_place, weight) in enumerate(
            zip(places["nouns"], answer["most"][name], strict=True)
        ):
            y = middle(row + 1 + i)
            parts += [
                write(254, y, source[noun_place], "", "end"),
                *bar(262, y, weight, 60, "value"),
            ]
            said.append(f"from “{looking}” to “{source[noun_place]}” {weight:.2f}")
    note = (
        "each bar is from the",
        "head that looks",
        "there most, out of",
        f"the encoder’s {heads}",
    )
    parts += [write(206, middle(7.6 + 0.8 * i), text, "quiet") for i, text in enumerate(note)]
    alt = (
        f"Left, the famous picture: a thick line from “it” to “{source[noun]}”. Right, the largest "
        f"weight of any of the encoder’s {heads} heads: {', '.join(said)}."
    )
    return picture(height_of(len(source)), alt, *parts)
