"""Bilingual phrases in English and French, and the grammar rules that shape them.

`clauses`, `because` and `constructions` build sentences from them. A `Phrase` holds the English
words, the French words in French order, and for each French word the English words that it
translates. Small phrases are joined into sentences. `realise_surface` then applies the changes
that depend on neighbouring words: elision, contraction, and the choice between "a" and "an".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from transformer_lab.data.world.lexicon import Adjective, Noun

Rendered = tuple[str, tuple[int, ...]]  # a French word, and the English positions it renders


class Agreement(NamedTuple):
    """The gender, number and person of a noun or pronoun, with which other words must agree."""

    gender: str
    plural: bool
    person: int = 3


_NEUTRAL = Agreement("m", False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase in both languages, with its word alignment.

    Attributes:
        source: The English words.
        target: The French words, each with the positions in `source` that it translates.
        combinations: Pairs of a noun and an adjective or verb that describes it in the phrase, as
            English lemmas.
        marks: Named positions in `source`, such as ("pronoun", 7).
    """

    source: tuple[str, ...] = ()
    target: tuple[Rendered, ...] = ()
    combinations: tuple[tuple[str, str], ...] = ()
    marks: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class NounPhrase(Phrase):
    """A phrase that other words agree with; `nouns` holds the English lemmas of its nouns."""

    agreement: Agreement = _NEUTRAL
    nouns: tuple[str, ...] = ()


NOTHING = Phrase()


def join_phrases(*parts: Phrase) -> Phrase:
    """Concatenate phrases in the same order in both languages, and return the result."""
    source: list[str] = []
    target: list[Rendered] = []
    combinations: list[tuple[str, str]] = []
    marks: list[tuple[str, int]] = []
    for part in parts:
        start = len(source)
        source += part.source
        target += [(word, tuple([start + at for at in there])) for word, there in part.target]
        combinations += part.combinations
        marks += [(name, start + at) for name, at in part.marks]
    return Phrase(tuple(source), tuple(target), tuple(combinations), tuple(marks))


def _nominal(phrase: Phrase, agreement: Agreement, nouns: tuple[str, ...]) -> NounPhrase:
    return NounPhrase(
        phrase.source, phrase.target, phrase.combinations, phrase.marks, agreement, nouns
    )


def extend_noun_phrase(head: NounPhrase, *parts: Phrase) -> NounPhrase:
    """Return a noun phrase with more phrases appended, such as a place or a relative clause."""
    return _nominal(join_phrases(head, *parts), head.agreement, head.nouns)


@cache
def fixed_phrase(english: str, french: str) -> Phrase:
    """Return a fixed expression as a phrase, with its alignment.

    In `french`, `word:0,1` translates English words 0 and 1; a word without numbers translates all
    the English words.
    """
    source = tuple(english.split())
    target = []
    for item in french.split():
        word, _, positions = item.partition(":")
        at = tuple(map(int, positions.split(","))) if positions else tuple(range(len(source)))
        target.append((word, at))
    return Phrase(source, tuple(target))


# ---------------------------------------------------------------- nouns and their company

# English singular and plural; French masculine, feminine and plural.
DETERMINERS = {
    "the": ("the", "the", "le", "la", "les"),
    "a": ("a", "some", "un", "une", "des"),
    "any": ("a", "any", "de", "de", "de"),  # after a negation: pas de chat
    "this": ("this", "these", "ce", "cette", "ces"),
    "that": ("that", "those", "ce", "cette", "ces"),
    "my": ("my", "my", "mon", "ma", "mes"),
    "his": ("his", "his", "son", "sa", "ses"),
    "her": ("her", "her", "son", "sa", "ses"),
    "our": ("our", "our", "notre", "notre", "nos"),
    "their": ("their", "their", "leur", "leur", "leurs"),
}

NUMBERS = {
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "five": "cinq",
    "six": "six",
    "seven": "sept",
    "eight": "huit",
    "nine": "neuf",
    "ten": "dix",
}

BEFORE_VOWEL_NOUN = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}


def noun_phrase(
    determiner: str,
    noun: Noun,
    *,
    plural: bool = False,
    number: str = "",
    adjectives: Sequence[Adjective] = (),
) -> NounPhrase:
    """Build a noun phrase with a determiner, number and adjectives, in each language's word order.

    `determiner` is a key of `DETERMINERS`, and `number` a key of `NUMBERS`. Pass "" for
    either to leave it out.
    """
    agreement = Agreement(noun.gender, plural)
    before = [word for word in adjectives if word.place == "before"]
    after = [word for word in adjectives if word.place == "after"]
    french = [inflect_adjective(word, agreement) for word in before]
    french.append(noun.french_plural if plural else noun.french)
    if not plural:
        for i in range(len(before)):
            if starts_with_vowel(french[i + 1]):
                french[i] = BEFORE_VOWEL_NOUN.get(french[i], french[i])
    french += [inflect_adjective(word, agreement) for word in after]
    english = [word.english for word in (*before, *after)]
    english.append(noun.english_plural if plural else noun.english)
    if number:
        english.insert(0, number)
        french.insert(0, NUMBERS[number])
    if determiner:
        one, many, masculine, feminine, plurals = DETERMINERS[determiner]
        english.insert(0, many if plural else one)
        article = plurals if plural else feminine if noun.gender == "f" else masculine
        # De petites maisons: "des" is "de" before an adjective.
        french.insert(0, "de" if article == "des" and before else article)
    last = len(english) - 1
    lead = last - len(after)
    positions = (*range(lead), last, *range(lead, last))
    phrase = Phrase(
        tuple(english),
        tuple([(word, (at,)) for word, at in zip(french, positions, strict=True)]),
        tuple([(noun.english, word.english) for word in adjectives]),
    )
    return _nominal(phrase, agreement, (noun.english,))


def inflect_adjective(word: Adjective, agreement: Agreement) -> str:
    """Return the French form of an adjective for this gender and number."""
    return word.french[(agreement.gender == "f") + 2 * agreement.plural]


def coordinate(first: NounPhrase, second: NounPhrase) -> NounPhrase:
    """Join two noun phrases with "and".

    The result is plural. It is feminine only if both parts are.
    """
    feminine = first.agreement.gender == second.agreement.gender == "f"
    agreement = Agreement("f" if feminine else "m", True)
    whole = join_phrases(first, fixed_phrase("and", "et"), second)
    return _nominal(whole, agreement, first.nouns + second.nouns)


PRONOUNS = {
    "i": ("je", Agreement("m", False, 1)),
    "we": ("nous", Agreement("m", True, 1)),
    "he": ("il", Agreement("m", False)),
    "she": ("elle", Agreement("f", False)),
}


def personal_pronoun(english: str) -> NounPhrase:
    """Return the phrase for "i", "we", "he" or "she".

    No adjective or participle may agree with "i" or "we", because their gender is unknown.
    """
    french, agreement = PRONOUNS[english]
    return NounPhrase((english,), ((french, (0,)),), agreement=agreement)


def referring_pronoun(referent: NounPhrase) -> NounPhrase:
    """Return the pronoun that replaces a noun phrase: "it" or "they", with its French form.

    The pronoun keeps the nouns of the phrase, so a sentence with the pronoun is held out if the
    same sentence with the nouns would be.
    """
    agreement = referent.agreement
    french = ("elle" if agreement.gender == "f" else "il") + "s" * agreement.plural
    english = "they" if agreement.plural else "it"
    phrase = Phrase((english,), ((french, (0,)),), marks=(("pronoun", 0),))
    return _nominal(phrase, agreement, referent.nouns)


# ---------------------------------------------------------------- what neighbours do to each other

BEFORE_VOWEL = {
    "le": "l'",
    "la": "l'",
    "ne": "n'",
    "de": "d'",
    "je": "j'",
    "que": "qu'",
    "ce": "cet",
    "ma": "mon",
    "sa": "son",
}
CONTRACTED = {"de": {"le": "du", "les": "des"}, "à": {"le": "au", "les": "aux"}}

VOWELS = "aâeéêiîoœu"
ASPIRATED = ("haie", "haut", "hibou", "huit")  # le hibou, la haie: this h does not count as a vowel


def starts_with_vowel(word: str) -> bool:
    """Return whether a French word begins with a vowel sound.

    Words that start with a mute h are included, and so is the word "y".
    """
    if word[0] == "h":
        return not word.startswith(ASPIRATED)
    return word[0] in VOWELS or word == "y"


def realise_surface(
    phrase: Phrase,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Return the final English words, French words and alignment, after elision and contraction."""
    source = list(phrase.source)
    for i, following in enumerate(source[1:]):
        if source[i] == "a" and following[0] in "aeiou":
            source[i] = "an"
    target: list[str] = []
    rendered: list[tuple[int, ...]] = []
    followers = [word for word, _ in phrase.target[1:]] + ["."]
    for (word, positions), following in zip(phrase.target, followers, strict=True):
        if word in BEFORE_VOWEL and starts_with_vowel(following):
            word = BEFORE_VOWEL[word]
        contracted = CONTRACTED.get(target[-1], {}).get(word) if target else None
        if contracted:
            target[-1] = contracted
            rendered[-1] += positions
        else:
            target.append(word)
            rendered.append(positions)
    links = {(at, i) for i, positions in enumerate(rendered) for at in positions}
    return tuple(source), tuple(target), tuple(sorted(links))
