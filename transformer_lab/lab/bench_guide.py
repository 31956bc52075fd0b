"""Six things to try on the bench in five to ten minutes, with the two famous sentences."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from transformer_lab.data.world.grammar import FAMOUS, is_held_out, sentences
from transformer_lab.lab.bench import Example, Prompt

EXAMPLES = 100
NOUN_FINDER, READER, PARTNER = "e2.3", "c2.3", "c2.2"
"""Heads of the shipped model. In the first, the row of "tired" looks at the animal. In the other two,
the row of "il" looks at "tired"."""


def famous_guide() -> dict[str, Any]:
    """Return arguments of `bench` for the shipped model: sentences, start, prompts, examples."""
    tired, wide = FAMOUS
    who = tired.coreference
    assert who is not None  # both have a pronoun
    row, step = f"row={who.decider}", f"row={who.target_pronoun}"
    pointed = f"point={NOUN_FINDER}:{who.decider}:{who.other}"
    prompts = (
        Prompt(
            "The English sentence is at the top, and the French one is below it. Which French "
            "words will change if the last English word is “wide”? Guess, then press the button "
            "“wide”.",
            f"s={wide.source}",
            "“fatigué” became “large”, and “il” became “elle”, because it's the street that is too "
            "wide, and a French street is feminine. How can the last English word decide an "
            "earlier French one? The encoder reads the whole English sentence before the decoder "
            "writes its first French word.",
        ),
        Prompt(
            f"Where does the model look? Press “tired”. Then press {READER} in the figure of the "
            "model, and the word “il” at the left of its map. At which English word does it look?",
            f"s={tired.source}&head={READER}&{step}",
            f"At “tired”, and not at “it” or “animal”. {READER} is a head, which means one way of "
            "looking. It belongs to cross-attention, where the decoder looks at what the encoder "
            "has made of each English word. We call it a reader. But “tired” has no gender.",
        ),
        Prompt(
            f"So who knows that it's the animal that is tired? Press {NOUN_FINDER}, a head of the "
            "encoder, and “tired” at the left of its map.",
            f"head={NOUN_FINDER}&{row}",
            "“tired” looks at “animal”, because in the encoder English words look at English "
            "words. We call this head the noun-finder. So perhaps the gender goes from animal to "
            "tired (in the encoder), and from there to il (in the decoder). But that's only where "
            "they look. The next three steps test what the model uses. “How”, below, works out "
            "the weight number by number.",
        ),
        Prompt(
            "If you mute a head, what it passes on is thrown away. How probable will “il” be "
            f"without the noun-finder, {NOUN_FINDER}? Guess, then press “Mute” above its map.",
            f"s={tired.source}&mute={NOUN_FINDER}",
            "“il” falls from 1.000 to about a third, so the model writes “elle”, as if the street "
            "were tired. It isn't certain, because other heads know something too. (“fatigué” "
            "stays, so the new sentence is wrong French.) Now mute only the reader "
            f"{READER}: “il” hardly moves, because {PARTNER} reads “tired” as well.",
        ),
        Prompt(
            f"Press “undo all”. Now make {NOUN_FINDER} look at the wrong noun: in its map, press "
            "the cell in the row “tired”, under “street”. Then press “Let “tired” look only at "
            "“street””.",
            f"s={tired.source}&mute=&{pointed}",
            "The English sentence is the same, but now the French one says that the street is "
            "tired, and even the adjective agrees. All you changed was one row of one head.",
        ),
        Prompt(
            f"Was it luck? Here are {EXAMPLES} other sentences with such a pronoun. How many will "
            f"still be right to the letter without {NOUN_FINDER}? Guess, then press “undo all”, "
            f"“Mute” and “Test on {EXAMPLES} sentences”.",
            f"mute={NOUN_FINDER}&point=&tested={NOUN_FINDER}",
            "Both numbers are next to the button. Try another head, or write a sentence of your "
            "own. Lesson 12 of the course asks what such a test shows, and what it doesn't.",
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
