"""The drawing of two hops: noun to decider in the encoder, decider to pronoun in cross-attention."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.config import check
from transformer_lab.data.world.grammar import Coreference, WorldPair
from transformer_lab.figures.style import COLOURS, INK, course_style
from transformer_lab.figures.titles import add_title
from transformer_lab.lab.page.drawing import Drawing

ALL_WORDS = 10**6
MOST_HEADS = 4
"""Each set of muted heads is a run of the model."""
SEEN, NAMED = 0.02, 0.1
"""The least weights that are drawn, and that are named."""


@runtime_checkable
class Reads(Protocol):
    """Anything that reads a sentence and its translation, without some heads; a `Translator` does."""

    def attend(
        self, source: str, target: str | None = None, *, mute: Iterable[Head] = (), top: int = 5
    ) -> AttentionRecord:
        """The record of this pair, with the `top` most probable next tokens of each step."""


def two_hops(translator: Reads, pairs: Sequence[WorldPair], heads: Sequence[Head]) -> Drawing:
    """Draw how a noun's gender reaches a pronoun, as arcs (§3.2.3), and what happens without heads.

        two_hops(translator, FAMOUS, [Head("encoder", 1, 2), Head("cross", 1, 1), Head("cross", 1, 2)])

    Arcs are as wide as the weights of these heads. For each set of muted heads the model reads the
    pair anew, with the true French words, and says how probable each pair's pronoun is at its step.

    Args:
        translator: Anything with `.attend(source, target, mute=…, top=…)`.
        pairs: Sentences with a pronoun, drawn side by side.
        heads: Of the encoder, whose row of the decider is drawn, and of cross-attention, whose row
            of the pronoun is.

    Raises:
        ValueError: If a pair has no pronoun, or the heads are not 2 to 4 of the two kinds.
    """
    kinds = {head.kind for head in heads}
    check("kinds of heads", sorted(kinds), "encoder and cross", kinds == {"encoder", "cross"})
    check("len(heads)", len(heads), f"2 to {MOST_HEADS}", len(heads) <= MOST_HEADS)
    check("len(pairs)", len(pairs), "2, to compare", len(pairs) == 2)
    facts = [pair.coreference for pair in pairs]
    who = [fact for fact in facts if fact is not None]
    check("pairs with a pronoun", len(who), f"all {len(pairs)}", len(who) == len(pairs))
    pronouns = [
        pair.target_tokens[fact.target_pronoun] for pair, fact in zip(pairs, who, strict=True)
    ]
    asked = list(dict.fromkeys(pronouns))
    read = [
        pair_data(translator, pair, fact, heads, asked)
        for pair, fact in zip(pairs, who, strict=True)
    ]
    data = {
        "heads": [{"name": short_name(head), "kind": head.kind} for head in heads],
        "pronouns": asked,
        "pairs": read,
    }
    paths = [
        f"{noun} → {decider} → {p['target'][p['step']]}"
        for p in read
        for noun, decider in [noun_and_decider(p)]
    ]
    alt = f"Two hops: {', and '.join(paths)}. " + "; ".join(
        sentence for pair in read for sentence in describe_pair(pair, heads, asked)
    )
    return Drawing("hops", data, draw_still(read, heads, paths), alt)


def short_name(head: Head) -> str:
    """Return a name such as "c2.3": kind, layer and head, counted from 1 as in the text."""
    return f"{head.kind[0]}{head.layer + 1}.{head.head + 1}"


def noun_and_decider(pair: dict[str, Any]) -> tuple[str, str]:
    """Return the noun, and the word that decides for it."""
    return pair["source"][pair["noun"]], pair["source"][pair["decider"]]


def pair_data(
    translator: Reads,
    pair: WorldPair,
    fact: Coreference,
    heads: Sequence[Head],
    asked: Sequence[str],
) -> dict[str, Any]:
    """Return the words of a pair, the maps of the heads, and the answer for each set of muted heads."""
    answers = []
    # The first head is the lowest bit of an answer's place.
    for bits in product((False, True), repeat=len(heads)):
        mute = [head for head, off in zip(heads, reversed(bits), strict=True) if off]
        record = translator.attend(pair.source, pair.target, mute=mute, top=ALL_WORDS)
        assert record.next_tokens is not None  # the translator keeps them
        probabilities = dict(record.next_tokens[fact.target_pronoun])
        answers.append([round(probabilities.get(word, 0.0), 4) for word in asked])
        if not mute:
            whole = record
    return {
        "source": list(whole.source_tokens),
        "target": list(whole.written_tokens),
        "noun": fact.referent,
        "other": fact.other,
        "decider": fact.decider,
        "pronoun": fact.pronoun,
        "step": fact.target_pronoun,
        "maps": [np.round(whole.weights(head).astype(float), 3).tolist() for head in heads],
        "answers": answers,
    }


def describe_pair(pair: dict[str, Any], heads: Sequence[Head], asked: Sequence[str]) -> list[str]:
    """Say in sentences what the picture of a pair shows."""
    noun, decider = noun_and_decider(pair)
    pronoun = pair["target"][pair["step"]]
    weights = [
        f"{short_name(head)} {drawn_row(pair, head, weights)[attended_word(pair, head)]:.2f}"
        for head, weights in zip(heads, pair["maps"], strict=True)
    ]
    readers = sum(1 << i for i, head in enumerate(heads) if head.kind == "cross")
    which = asked.index(pronoun)
    whole, without = pair["answers"][0][which], pair["answers"][readers][which]
    muted = " and ".join(short_name(head) for head in heads if head.kind == "cross")
    return [
        f"{decider} takes from {noun} and {pronoun} from {decider}, with {', '.join(weights)}",
        f"{pronoun} has {whole:.2f}, without {muted} {without:.2f}",
    ]


def drawn_row(
    pair: dict[str, Any], head: Head, weights: Sequence[Sequence[float]]
) -> Sequence[float]:
    """Return the row to draw: the decider's in the encoder, the pronoun's step in cross-attention."""
    return weights[pair["decider"] if head.kind == "encoder" else pair["step"]]


def attended_word(pair: dict[str, Any], head: Head) -> int:
    """Return the word that the row looks at, if the hop is there."""
    return pair["noun"] if head.kind == "encoder" else pair["decider"]


def draw_still(
    pairs: Sequence[dict[str, Any]], heads: Sequence[Head], paths: Sequence[str]
) -> Figure:
    """Draw English words on the left, French ones on the right, and the hops between them."""
    lines = max(len(pair["target"]) for pair in pairs)
    with course_style():
        figure = Figure(figsize=(7.4, 0.24 * lines + 0.9), layout="constrained")
        panels = figure.subplots(1, len(pairs), squeeze=False)[0]
        for axes, pair in zip(panels, pairs, strict=True):
            axes.set(xlim=(-0.6, 3.6), ylim=(lines - 0.5, -1))
            axes.axis("off")
            bold = {"source": (pair["noun"], pair["decider"]), "target": (pair["step"],)}
            for x, which in ((1.2, "source"), (3.1, "target")):
                over = "encoder reads" if which == "source" else "decoder writes"
                axes.text(x, -0.9, over, ha="center", va="center", fontsize=8)
                for place, token in enumerate(pair[which]):
                    weight = "bold" if place in bold[which] else "normal"
                    axes.text(x, place, token, ha="center", va="center", weight=weight)
            drawn: dict[str, list[tuple[float, str]]] = {"encoder": [], "cross": []}
            for number, (head, weights) in enumerate(zip(heads, pair["maps"], strict=True)):
                for key, share in enumerate(drawn_row(pair, head, weights)):
                    if share > SEEN:
                        middle = draw_hop(axes, pair, head, key, share, 0.22 * number - 0.33)
                        if share > NAMED:
                            drawn[head.kind].append((middle, f"{short_name(head)} {share:.2f}"))
            name_hops(axes, drawn)
        add_title(figure, f"Two hops: {', and '.join(paths)}")
    return figure


def draw_hop(
    axes: Axes, pair: dict[str, Any], head: Head, key: int, weight: float, beside: float
) -> float:
    """Draw a line as wide as the weight, from the word that is looked at to the one that looks.

    Returns the height of its middle, in lines.
    """
    if head.kind == "encoder":
        end, colour = pair["decider"], COLOURS["encoder"]
        left = max(0.1, 0.6 - 0.06 * abs(key - end))  # what is near takes a small arc
        points = [(0.75, key), (left, key), (left, end), (0.75, end)]
    else:
        end, colour = pair["step"] + beside, COLOURS["decoder"]
        points = [(1.65, key + beside), (2.2, key + beside), (2.2, end), (2.65, end)]
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    line = PathPatch(path, fill=False, edgecolor=colour, lw=max(0.5, 6 * weight), alpha=0.7)
    axes.add_patch(line)
    return (key + end) / 2


def name_hops(axes: Axes, drawn: Mapping[str, Sequence[tuple[float, str]]]) -> None:
    """Write head and weight of each strong hop where no arc crosses them."""
    lowest = -1.0
    for middle, name in sorted(drawn["encoder"]):
        lowest = max(middle, lowest + 1)  # a line of its own
        axes.text(0.15, lowest, name, ha="right", va="center", fontsize=8, color=INK)
    crossing = sorted(drawn["cross"])
    for place, (middle, name) in enumerate(crossing):
        lift = 0.8 if 2 * place >= len(crossing) else -0.8
        axes.text(2.15, middle + lift, name, ha="center", va="center", fontsize=8, color=INK)
