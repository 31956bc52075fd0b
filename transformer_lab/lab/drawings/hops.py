"""A drawing of two attention hops: from a noun to the deciding word, and on to the pronoun."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.config import check, check_count, join_with_and
from transformer_lab.data.world.grammar import Coreference, WorldPair
from transformer_lab.lab.page.drawing import Drawing

ALL_WORDS = 10**6
MOST_HEADS = 4
"""The maximum number of heads; the model runs once for every subset of them."""


@runtime_checkable
class Reads(Protocol):
    """The interface that `two_hops` needs, with the method `attend`; `Translator` implements it."""

    def attend(
        self, source: str, target: str | None = None, *, mute: Iterable[Head] = (), top: int = 5
    ) -> AttentionRecord:
        """Return the record of this pair with some heads muted.

        It contains the `top` likeliest next tokens at each step.
        """


def two_hops(
    translator: Reads,
    pairs: Sequence[WorldPair],
    heads: Sequence[Head],
    called: Sequence[str] = (),
) -> Drawing:
    """Draw how a noun's gender reaches a pronoun (§3.2.3), and what happens if heads are muted.

        heads = [Head("encoder", 1, 2), Head("cross", 1, 1), Head("cross", 1, 2)]
        two_hops(translator, FAMOUS, heads)

    The width of an arc shows a head's weight. For every subset of the heads, the model reads each
    pair again with that subset muted. The decoder's input is the correct French sentence. The
    drawing shows how probable each pronoun is at the step where the pronoun is written.

    Args:
        translator: Anything with `.attend(source, target, mute=…, top=…)`.
        pairs: Two sentence pairs with a pronoun, drawn side by side.
        heads: Encoder heads, for which the deciding word's row is drawn, and cross-attention heads,
            for which the pronoun's row is drawn.
        called: A name for each head, such as "the noun-finder"; by default, heads have short names
            such as "e2.3".

    Raises:
        ValueError: If there are not exactly two pairs, if a pair has no pronoun, if there are more
            than 4 heads, if one of the two kinds is missing, or if `called` has the wrong length.
    """
    kinds = {head.kind for head in heads}
    if kinds != {"encoder", "cross"}:
        found = f"heads are of kind {join_with_and(sorted(map(repr, kinds)))}"
        raise ValueError(
            f"{found if kinds else 'heads is empty'}; expected at least one 'encoder' head, "
            "at least one 'cross' head, and no others"
        )
    check("len(heads)", len(heads), f"2 to {MOST_HEADS}", len(heads) <= MOST_HEADS)
    names, expected = len(called), f"either none or {len(heads)}, one for each head"
    check_count("`called`", names, "name", expected, names in (0, len(heads)))
    check("len(pairs)", len(pairs), "2, because the drawing compares two pairs", len(pairs) == 2)
    facts = [pair.coreference for pair in pairs]
    who = [fact for fact in facts if fact is not None]
    check(
        "number of pairs with a pronoun",
        len(who),
        "2, because both pairs need a pronoun",
        len(who) == len(pairs),
    )
    pronouns = [
        pair.target_tokens[fact.target_pronoun] for pair, fact in zip(pairs, who, strict=True)
    ]
    asked = list(dict.fromkeys(pronouns))
    read = [
        pair_data(translator, pair, fact, heads, asked)
        for pair, fact in zip(pairs, who, strict=True)
    ]
    data = {
        "heads": [
            {"name": short_name(head), "kind": head.kind, "called": name}
            for head, name in zip(heads, called or [""] * len(heads), strict=True)
        ],
        "pronouns": asked,
        "pairs": read,
    }
    paths = [
        f"{noun} → {decider} → {p['target'][p['step']]}"
        for p in read
        for noun, decider in [noun_and_decider(p)]
    ]
    alt = f"Two hops: {', and '.join(paths)}. " + "; ".join(
        sentence for pair in read for sentence in describe_pair(pair, heads, asked, called)
    )
    return Drawing("hops", data, alt, step=2)


def short_name(head: Head) -> str:
    """Return a short name such as "c2.3": the kind, and the layer and head counted from 1."""
    return f"{head.kind[0]}{head.layer + 1}.{head.head + 1}"


def noun_and_decider(pair: dict[str, Any]) -> tuple[str, str]:
    """Return two words of a pair's source: the pronoun's referent, and the deciding word."""
    return pair["source"][pair["noun"]], pair["source"][pair["decider"]]


def pair_data(
    translator: Reads,
    pair: WorldPair,
    fact: Coreference,
    heads: Sequence[Head],
    asked: Sequence[str],
) -> dict[str, Any]:
    """Return a pair's words, the heads' maps, and the probabilities for each set of muted heads."""
    answers = []
    # The first head is the lowest bit of an answer's index.
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


def describe_pair(
    pair: dict[str, Any], heads: Sequence[Head], asked: Sequence[str], called: Sequence[str] = ()
) -> list[str]:
    """Return sentences that describe the drawing of a pair."""
    names = [short_name(head) for head in heads]
    if called:
        names = [f"{name} ({short})" for name, short in zip(called, names, strict=True)]
    noun, decider = noun_and_decider(pair)
    pronoun = pair["target"][pair["step"]]
    weights = [
        f"{drawn_row(pair, head, weights)[attended_word(pair, head)]:.2f} in {name}"
        for name, head, weights in zip(names, heads, pair["maps"], strict=True)
    ]
    readers = sum(1 << i for i, head in enumerate(heads) if head.kind == "cross")
    which = asked.index(pronoun)
    whole, without = pair["answers"][0][which], pair["answers"][readers][which]
    crossing = [name for name, head in zip(names, heads, strict=True) if head.kind == "cross"]
    muted = " and ".join(crossing)
    return [
        f"{decider} takes from {noun} and {pronoun} from {decider}, with weights of {', '.join(weights)}",
        f"{pronoun} has a probability of {whole:.2f}, and of {without:.2f} without {muted}",
    ]


def drawn_row(
    pair: dict[str, Any], head: Head, weights: Sequence[Sequence[float]]
) -> Sequence[float]:
    """Return the row of weights to draw for a head.

    It is the deciding word's row in the encoder, and the row of the pronoun's step in
    cross-attention.
    """
    return weights[pair["decider"] if head.kind == "encoder" else pair["step"]]


def attended_word(pair: dict[str, Any], head: Head) -> int:
    """Return the source position that a head's row should look at.

    It is the noun for an encoder head, and the deciding word for a cross-attention head.
    """
    return pair["noun"] if head.kind == "encoder" else pair["decider"]
