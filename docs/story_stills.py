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


def middle(place: int) -> float:
    """The height of a word in its column."""
    return TOP + (place + 0.5) * ROW


def line(start: tuple[float, float], end: tuple[float, float], weight: float, kind: str) -> str:
    """A line between two words, as thick as the weight is large."""
    (x, y), (to_x, to_y) = start, end
    across = (to_x - x) / 2
    path = f"M{x:g} {y:g}C{x + across:g} {y:g} {to_x - across:g} {to_y:g} {to_x:g} {to_y:g}"
    return f'<path d="{path}" class="{kind}" stroke-width="{max(0.5, 7 * weight):g}"/>'


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
    height = 2 * TOP + ROW * max(len(source), len(written))
    return picture(height, alt, *wires(answer, is_cut=False))


def picture_of_cut(whole: Answer, cut: Answer) -> str:
    """Screen 4: the wire is cut, and the bars of both pronouns, before and after."""
    pronouns = list(whole["chances"])
    alt = f"The line from “{cut['source'][-1]}” is cut. " + " ".join(
        f"“{word}” had a probability of {whole['chances'][word]:.2f} before, and has "
        f"{cut['chances'][word]:.2f} now."
        for word in pronouns
    )
    base = 2 * TOP + ROW * len(cut["written"])
    bars = []
    for number, (name, answer) in enumerate((("before", whole), ("after", cut))):
        for row, word in enumerate(pronouns):
            y = base + (number * (len(pronouns) + 0.5) + row + 0.5) * ROW
            chance = answer["chances"][word]
            label = name if row == 0 else ""
            bars += [
                write(0, y, label, "quiet"),
                write(108, y, word, "query", "end"),
                f'<rect x="116" y="{y - 8:g}" width="{max(1, 190 * chance):g}" height="16"/>',
                write(124 + 190 * chance, y, f"{chance:.2f}"),
            ]
    height = base + (2 * len(pronouns) + 1) * ROW
    return picture(height, alt, *wires(cut, is_cut=True), *bars)


def picture_of_claims(answer: Answer) -> str:
    """Screen 6: the picture of the textbooks, and what was measured."""
    source, noun, it = answer["source"], answer["noun"], answer["source"].index("it")
    last = len(source) - 1
    alt = (
        f"Left, the famous picture: a thick line from “it” to “{source[noun]}”. Right, the largest "
        f"weight of any head: from “it” to “{source[noun]}” {answer['it'][noun]:.2f}, "
        f"and from “{source[last]}” to “{source[noun]}” {answer['decider'][noun]:.2f}."
    )
    parts = [write(0, 12, "The famous picture", "quiet"), write(186, 12, "Measured", "quiet")]
    shift = 20

    def columns(start: float, rows: dict[int, list[float]]) -> None:
        """The sentence twice, and lines from some words of the left column to those of the right."""
        for query, weights in rows.items():
            kind = "plain" if query == it else "lit"
            for key, weight in enumerate(weights):
                if weight >= 0.01:
                    ends = (start + 66, shift + middle(query)), (start + 108, shift + middle(key))
                    parts.append(line(*ends, weight, kind))
        for place, word in enumerate(source):
            marked = "decider" if place in rows else ""
            parts.append(write(start + 62, shift + middle(place), word, marked, "end"))
            marked = "key" if place == noun else ""
            parts.append(write(start + 112, shift + middle(place), word, marked))

    columns(0, {it: [float(place == noun) for place in range(len(source))]})
    columns(186, {it: answer["it"], last: answer["decider"]})
    return picture(shift + 2 * TOP + ROW * len(source), alt, *parts)
