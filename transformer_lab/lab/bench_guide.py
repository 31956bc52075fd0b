"""Six things to try on the bench in five to ten minutes, with two sentences that many texts quote."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from transformer_lab.data.world.grammar import FAMOUS, is_held_out, sentences
from transformer_lab.lab.bench import Example, Prompt

EXAMPLES = 100
NOUN_FINDER, READER, PARTNER = "e2.3", "c2.3", "c2.2"
"""Heads of the shipped model: in the one the row of "tired" finds the animal, in the other that of "il"
finds "tired"; the third does so too."""


def famous_guide() -> dict[str, Any]:
    """Return arguments of `bench` for the shipped model: sentences, start, prompts, examples."""
    tired, wide = FAMOUS
    who = tired.coreference
    assert who is not None  # both have a pronoun
    row, step = f"row={who.decider}", f"row={who.target_pronoun}"
    pointed = f"point={NOUN_FINDER}:{who.decider}:{who.other}"
    prompts = (
        Prompt(
            "The English sentence is at the top, the French one below it. Which French words "
            "will change if the last English word is “wide”? Guess, then press the button “wide”.",
            f"s={wide.source}",
            "“fatigué” became “large”, and “il” became “elle”: in French a street is feminine, "
            "and it is the street that is too wide. The encoder reads the whole English sentence "
            "before the decoder writes its first French word. So the last English word can decide "
            "an earlier French one.",
        ),
        Prompt(
            f"How does it know? Press “tired”. Press {READER} in the figure of the model, and in "
            "its map the word “il” at the left. At which English word does it look?",
            f"s={tired.source}&head={READER}&{step}",
            f"At “tired”, not at “it” and not at “animal”. {READER} is a head: one way of looking. "
            "It belongs to cross-attention, where the decoder looks at what the encoder has made "
            "of each English word. But “tired” has no gender.",
        ),
        Prompt(
            f"So who knows that it is the animal that is tired? Press {NOUN_FINDER}, a head of the "
            "encoder, and in its map “tired” at the left.",
            f"head={NOUN_FINDER}&{row}",
            "“tired” looks at “animal”: in the encoder English words look at English words. So one "
            "may think: animal → tired (encoder) → il (decoder). That is where they look. What is "
            "used has to be tried, and the next three do so. “How”, below, has the weight number by "
            "number.",
        ),
        Prompt(
            f"To mute a head is to throw away what it passes on. Guess how probable “il” is "
            f"without {NOUN_FINDER}. Then press “Mute” above its map.",
            f"s={tired.source}&mute={NOUN_FINDER}",
            "“il” falls from 1.000 to about a third, and “elle” is written: the other noun. It is "
            "not certain: other heads know something too. (“fatigué” stays, so the new sentence is "
            f"wrong French.) Now {READER} alone, which looked at “tired”: “il” hardly moves. "
            f"{PARTNER} looks there too, and one can do without the other.",
        ),
        Prompt(
            f"Press “undo all”. Now let {NOUN_FINDER} look at the wrong noun: in its map press "
            "the cell in the row “tired”, under “street”. Then press “Let “tired” look only at "
            "“street””.",
            f"s={tired.source}&mute=&{pointed}",
            "The same English sentence, and the French one now says that the street is tired, "
            "adjective and all. Nothing was changed but one row of one head.",
        ),
        Prompt(
            f"Was it luck? {EXAMPLES} other sentences have such a pronoun; guess how many are "
            f"still right to the letter without {NOUN_FINDER}. Press “undo all”, “Mute”, “Test on "
            f"{EXAMPLES} sentences”.",
            f"mute={NOUN_FINDER}&point=&tested={NOUN_FINDER}",
            "Both numbers stand beside the button. Try it with another head, or write a sentence "
            "of your own. The course's lesson 12 asks what such a test shows, and what it does not.",
        ),
    )
    return {
        "sentences": [tired.source, wide.source],
        "start": "head=c2.4",  # a map with a diagonal
        "prompts": prompts,
        "examples": unseen_pronouns(),
    }


def unseen_pronouns() -> Sequence[Example]:
    """Return examples whose pronoun stands for a combination that training never showed."""
    pairs = (pair for pair in sentences(seed=2017) if is_held_out(pair) and pair.coreference)
    return [Example(pair.source, pair.target, pair.alignment) for pair in islice(pairs, EXAMPLES)]
