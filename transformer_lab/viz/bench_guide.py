"""Six things to try on the bench: two minutes with the two sentences that many texts quote."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from transformer_lab.data.world.grammar import FAMOUS, held_out, sentences
from transformer_lab.viz.bench import Prompt

EXAMPLES = 100
NOUN_FINDER = "e2.3"
"""The head of the shipped model whose row of "tired" finds the animal."""


def famous_guide() -> dict[str, Any]:
    """What `bench` is given beside the shipped model: sentences, start, prompts and examples."""
    tired, wide = FAMOUS
    who = tired.coreference
    assert who is not None  # both have a pronoun
    row, step = f"row={who.decider}", f"step={who.target_pronoun}"
    pointed = f"point={NOUN_FINDER}:{who.decider}:{who.other}"
    prompts = (
        Prompt(
            "The English sentence stands on top, the French one below it. Which French words "
            "will change if the last word is “wide”? Guess, then press the button “wide”.",
            f"s={wide.source}",
            "“il” became “elle”: now it is the street, a feminine word. The encoder reads the"
            " whole English sentence before the decoder writes its first French word; so the "
            "last English word can decide a French word before its end.",
        ),
        Prompt(
            "Press “tired” again, then press “il” in the translation: that opens the step "
            "that writes it.",
            f"s={tired.source}&{step}",
            "Beside the map stands how sure the model is of “il”. At each step the decoder has "
            "the words written so far, and reads the English ones by cross-attention: the "
            "heads with c in the figure.",
        ),
        Prompt(
            f"Open the encoder's head {NOUN_FINDER} in the figure, and press the row “tired” "
            "of its map. At which word does it look?",
            f"head={NOUN_FINDER}&{row}",
            "At “animal”: the word that can be tired has found the noun that can be. “How” "
            "shows the numbers: each q · k is divided by √d_k, and softmax makes weights of "
            "them, which sum to 1.",
        ),
        Prompt(
            "What is lost without this head? Guess the probability of “il”, then mute "
            f"{NOUN_FINDER}: the button, or the key M.",
            f"s={tired.source}&mute={NOUN_FINDER}",
            "The line with the coloured edge has before and after. The pronoun now stands for"
            " the other noun. “elle” and “il” are both still possible: other heads know "
            "something too.",
        ),
        Prompt(
            f"Undo it. Then let “tired” look at the street: in {NOUN_FINDER}, row “tired”, "
            "press the cell of “street” and then “Look only at”.",
            f"s={tired.source}&mute=&{pointed}",
            "The same English sentence, and French now says that the street is tired, "
            "adjective and all. Nothing was changed but one row of one head.",
        ),
        Prompt(
            f"Was it luck? Undo, mute {NOUN_FINDER} again, and press “Test on {EXAMPLES} "
            "sentences”. Guess first: how many of them will still be right?",
            f"mute={NOUN_FINDER}&point=&tested={NOUN_FINDER}",
            "Now try it with another head, or with a sentence of your own. Lesson 12 asks "
            "what such a test shows, and what it does not.",
        ),
    )
    return {
        "sentences": [tired.source, wide.source],
        "start": "head=c2.4",  # a map with a diagonal
        "prompts": prompts,
        "examples": unseen_pronouns(),
    }


def unseen_pronouns() -> Sequence[tuple[str, str]]:
    """Sentences with a pronoun and a pair of words kept out of training, and their translations."""
    pairs = (pair for pair in sentences(seed=2017) if held_out(pair) and pair.coreference)
    return [(pair.source, pair.target) for pair in islice(pairs, EXAMPLES)]
