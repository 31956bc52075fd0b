"""A tour of the lab: six things to try in five to ten minutes, with the two famous sentences."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from transformer_lab.attention.record import Head, Referent
from transformer_lab.data.world.grammar import FAMOUS, WorldPair, is_held_out, sentences
from transformer_lab.lab.model_data import Runnable
from transformer_lab.lab.translator_page import Example, Prompt, measure_names

EXAMPLES = 100
NOUN_FINDER, READER, PARTNER, ALIGNER = "e2.3", "c2.3", "c2.2", "c2.4"
"""Heads of the translator that comes with the package.

In `NOUN_FINDER`, the row of "tired" looks at the animal. In `READER` and `PARTNER`, the row of "il"
looks at "tired", and in `ALIGNER` it looks at "it".
"""


def famous_guide() -> dict[str, Any]:
    """Return keyword arguments for `lab` that set up a guided tour of the package's translator.

    They are `sentences`, `start`, `prompts` and `examples`.
    """
    tired, wide = FAMOUS
    who = tired.coreference
    assert who is not None  # both have a pronoun
    row, step = f"row={who.decider}", f"row={who.target_pronoun}"
    pointed = f"point={NOUN_FINDER}:{who.decider}:{who.other}"
    first = f"s={tired.source}&head={READER}&{step}&step={who.target_pronoun}"
    found = f"s={tired.source}&head={NOUN_FINDER}&{row}&step={who.target_pronoun}"
    prompts = (
        Prompt(
            "The English sentence is at the top, with its French translation below. Which French "
            "words will change if the last English word is “wide”? Guess, then press “wide”.",
            f"s={wide.source}",
            "“fatigué” became “large”, and “il” became “elle”, because it's the street that is too "
            "wide, and a French street is feminine. But how can the last English word change an "
            "earlier French one? It can because the encoder reads the whole English sentence "
            "before the decoder writes its first French word.",
            first,
        ),
        Prompt(
            "We're back at “tired”. While the model writes “il”, this head looks at “tired”. Do all "
            f"heads look there? In the list of heads, choose “translates word for word ({ALIGNER})”.",
            f"s={tired.source}&head={ALIGNER}&{step}",
            "This one looks at “it”, which is the word that “il” translates. Both heads belong to "
            "cross-attention, where the decoder looks at what the encoder has made of each English "
            "word. But “it” has no gender, and neither has “tired”. So what is there to read?",
            first,
        ),
        Prompt(
            "Somebody has to know that it's the animal that is tired. Choose the head “finds the "
            f"noun ({NOUN_FINDER})”, and press “tired” in the column on the right.",
            f"head={NOUN_FINDER}&{row}",
            "“tired” looks at “animal”. In the encoder, English words look at English words, and "
            "each line brings something from the word on the left to the word on the right. So "
            "perhaps the gender travels from “animal” to “tired”, and from there to “il”. But so "
            "far we've only seen where heads look. The next steps test what the model uses.",
            f"s={tired.source}&head={READER}&{step}",
        ),
        Prompt(
            "If you mute a head, whatever it finds is thrown away. How likely will “il” be without "
            "this head? Guess, then press “Mute it”.",
            f"s={tired.source}&mute={NOUN_FINDER}",
            "“il” falls from 1.000 to about a third, so now the model writes “elle”, as if the "
            "street were tired. It isn't sure, because other heads know something too. (It still "
            "writes “fatigué”, so the new sentence is wrong French.) If you mute only the head "
            f"{READER}, “il” hardly moves, because {PARTNER} reads “tired” as well.",
            found,
        ),
        Prompt(
            "The head is back. Now make it look at the wrong noun: press “street” in the column on "
            "the left, and then “Make “tired” look only at “street””.",
            f"s={tired.source}&mute=&{pointed}",
            "The English sentence is the same, but now the French one says that the street is "
            "tired, and even the adjective agrees. All you changed is where one word looks, in one head.",
            found,
        ),
        Prompt(
            "Now the head is muted once more. Was it luck? How many of "
            f"{EXAMPLES} other sentences will still be right to the letter? Guess, then press “Was "
            "it luck?”.",
            f"mute={NOUN_FINDER}&point=&tested={NOUN_FINDER}",
            "Now you have both counts. Try another head, or write a sentence "
            "of your own. Lesson 12 of the course asks what such a test shows, and what it doesn't.",
            f"{found}&mute={NOUN_FINDER}",
        ),
    )
    return {
        "sentences": [tired.source, wide.source],
        "start": first,  # a word, and where it comes from
        "prompts": prompts,
        "examples": unseen_pronouns(),
    }


def famous_names(translator: Runnable) -> dict[Head, str]:
    """Return names for the translator's heads, based on what they do in twenty sentences."""
    return measure_names(translator, (), unseen_pronouns())


def find_examples(translator: Runnable) -> Sequence[Example]:
    """Return `unseen_pronouns()` for a translator of the bilingual world, and () for any other."""
    if getattr(translator, "about", {}).get("corpus") != "world":
        return ()
    found = unseen_pronouns()
    unknown = translator.source_tokenizer.unknown(" ".join(example.source for example in found))
    return () if unknown else found


def unseen_pronouns() -> Sequence[Example]:
    """Return examples with a pronoun and a combination of words that was held out of training.

    The combination is a noun and the adjective or verb that describes it.
    """
    pairs = (pair for pair in sentences(seed=2017) if is_held_out(pair) and pair.coreference)
    return [
        Example(pair.source, pair.target, pair.alignment, find_referent(pair))
        for pair in islice(pairs, EXAMPLES)
    ]


def find_referent(pair: WorldPair) -> Referent:
    """Return the positions of the pronoun (in both languages), both nouns and the deciding word."""
    who = pair.coreference
    assert who is not None  # only sentences with a pronoun come here
    return Referent(who.pronoun, who.referent, who.other, who.target_pronoun, who.decider)
