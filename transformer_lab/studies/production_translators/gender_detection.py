"""The gender that a translation shows, found by rules, and the model's log-odds for it.

A model could have written the same text with a different ending: "a casa é velha" instead of "a
casa é velho". The two sentences begin in the same way, so their log-probabilities differ at only
one step. The study `gender` uses this module.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.data.batching import Example, pad
from transformer_lab.decoding import log_probabilities
from transformer_lab.studies.production_translators.gender_sentences import (
    FRENCH,
    PORTUGUESE,
    Question,
)
from transformer_lab.translator import Translator

ARTICLES = {
    PORTUGUESE: {
        "m": "o um no do ao pelo num este esse meu".split(),
        "f": "a uma na da à pela numa esta essa minha".split(),
    },
    FRENCH: {"m": "le un du au ce cet mon".split(), "f": "la une cette ma".split()},
}
PRONOUNS = {PORTUGUESE: ("ele", "ela"), FRENCH: ("il", "elle")}
BECAUSE = {
    PORTUGUESE: {"porque", "pois", "já"},
    FRENCH: {"parce", "car", "puisque"},
}

# English adjective | Portuguese, masculine in -o, feminine in -a | French m/f. A word
# with the same form for both genders shows nothing and is left out.
_FORMS = """
new | novo | nouveau/nouvelle neuf/neuve
old | velho antigo idoso | vieux/vieille ancien/ancienne
beautiful | bonito lindo belo | beau/belle
expensive | caro | cher/chère coûteux/coûteuse
cheap | barato |
small | pequeno | petit/petite
perfect | perfeito | parfait/parfaite
clean | limpo |
ready | pronto preparado | prêt/prête
wide | largo amplo |
narrow | estreito apertado | étroit/étroite
long | longo comprido demorado | long/longue
short | curto baixo pequeno | court/courte
tall | alto | haut/haute grand/grande élevé/élevée
low | baixo | bas/basse
heavy | pesado | lourd/lourde
thin | fino magro delgado | fin/fine
sour | azedo ácido | amer/amère
broken | quebrado partido danificado avariado | cassé/cassée brisé/brisée
thick | grosso espesso | épais/épaisse
flooded | inundado alagado | inondé/inondée
fast | rápido |
slow | lento demorado | lent/lente
ugly | feio | laid/laide
weak | fraco |
tired | cansado | fatigué/fatiguée
"""


def _forms() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Parse `_FORMS` into English adjective → language → (masculine, feminine) translations."""
    found = {}
    for row in _FORMS.strip().splitlines():
        english, portuguese, french = (part.strip() for part in row.split("|"))
        found[english] = {
            PORTUGUESE: [(word, word.removesuffix("o") + "a") for word in portuguese.split()],
            FRENCH: [(m, f) for m, _, f in (word.partition("/") for word in french.split())],
        }
    return found


FORMS = _forms()
"""Each English adjective's gendered translations, by language, as (masculine, feminine)."""


class GenderedWord(NamedTuple):
    """The first word in a translation that shows the gender of the noun in question."""

    before: str
    """The text before the word."""
    masculine: str
    feminine: str
    gender: str
    """The gender that was written: "m" or "f"."""


def find_gendered_word(text: str, adjective: str, language: str) -> GenderedWord | None:
    """Find the first pronoun or gendered form of the adjective in a translation.

    If the translation has a word for "because", the search begins after that word.

    Returns:
        The word, or None if the translation shows no gender or uses other words.
    """
    words = list(re.finditer(r"\w+", text))
    begin = max((i for i, w in enumerate(words) if w[0].lower() in BECAUSE[language]), default=-1)
    forms = [PRONOUNS[language], *FORMS.get(adjective, {}).get(language, [])]
    for word in words[begin + 1 :]:
        for masculine, feminine in forms:
            if word[0].lower() in (masculine, feminine):
                like = str.capitalize if word[0][0].isupper() else str.lower
                gender = "m" if word[0].lower() == masculine else "f"
                return GenderedWord(text[: word.start()], like(masculine), like(feminine), gender)
    return None


def find_article_genders(text: str, language: str) -> str:
    """Return the genders of a translation's articles in order, such as "mf".

    Elided articles are left out.
    """
    by_word = {word: gender for gender, words in ARTICLES[language].items() for word in words}
    return "".join(by_word.get(word.lower(), "") for word in re.findall(r"\w+", text))


class Reading(NamedTuple):
    """A model's translation of a question's sentence, and the gender that the translation shows."""

    question: Question
    text: str
    shown: GenderedWord | None
    nouns_as_expected: bool
    """Whether the first articles match the genders of the nouns' usual translations."""

    @property
    def usable(self) -> bool:
        """Whether the translation shows a gender, and its nouns have the expected genders."""
        return self.shown is not None and self.nouns_as_expected

    @property
    def right(self) -> bool:
        """Whether the translation shows the gender of the noun that the adjective describes."""
        return self.shown is not None and self.shown.gender == self.question.gender


def translate_questions(
    translator: Translator, questions: Sequence[Question], language: str
) -> list[Reading]:
    """Greedily translate the questions that contain only known words, and return their readings."""
    known = [q for q in questions if not translator.source_tokenizer.unknown(q.source)]
    written = translator.translate([q.source for q in known], beam_size=1) if known else []
    return [
        Reading(
            q,
            w.translation,
            find_gendered_word(w.translation, q.adjective, language),
            find_article_genders(w.translation, language).startswith("".join(q.genders)),
        )
        for q, w in zip(known, written, strict=True)
    ]


class GenderChoice(NamedTuple):
    """A step at which a model writes one gender or the other."""

    source: list[int]
    """The source ids with eos."""
    prefix: list[int]
    """The target ids before that step, starting with bos."""
    masculine: int
    feminine: int


def find_choice(translator: Translator, source: str, seen: GenderedWord) -> GenderChoice | None:
    """Return the step at which the masculine and the feminine translation differ.

    `seen` has both forms of the gendered word. The result is None unless the two translations
    differ in exactly one subword.
    """
    m, f = (
        translator.target_tokenizer.encode(seen.before + word)
        for word in (seen.masculine, seen.feminine)
    )
    apart = [i for i, (a, b) in enumerate(zip(m, f, strict=False)) if a != b]
    if len(m) != len(f) or len(apart) != 1:
        return None
    (at,) = apart
    begin = translator.model.config.bos_id
    return GenderChoice(translator.encode(source), [begin, *m[:at]], m[at], f[at])


@torch.no_grad()
def log_odds(
    translator: Translator,
    choices: Sequence[GenderChoice],
    mute: Sequence[Head] = (),
    patch: Mapping[Head, np.ndarray] | None = None,
) -> Float[Tensor, " choices"]:
    """Return the log-probability of the masculine form minus that of the feminine one, in nats.

    All choices are computed as one batch. The softmax's denominator is the same for both forms, so
    it cancels.
    """
    model = translator.model.eval()
    ids, mask = translator.batch([c.source for c in choices])
    prefixes = pad([c.prefix for c in choices], model.config.pad_id)
    if mute or patch:
        with capture_attention(model, mute=mute, patch=patch):
            features = model.features(ids, prefixes, mask)
    else:
        features = model.features(ids, prefixes, mask)
    steps = torch.tensor([len(c.prefix) - 1 for c in choices])
    last = features[torch.arange(len(choices)), steps]
    m, f = (torch.tensor([c[i] for c in choices]) for i in (2, 3))
    weight, bias = model.output.weight, model.output.bias
    return (last * (weight[m] - weight[f])).sum(dim=-1) + bias[m] - bias[f]


def text_log_odds(
    translator: Translator, readings: Sequence[Reading]
) -> Float[np.ndarray, " readings"]:
    """Return the log-odds of each reading's text up to and including its gendered word.

    They are masculine − feminine, in nats. Every reading must show a gender.
    """
    begin, texts = translator.model.eval().config.bos_id, []
    for reading in readings:
        assert reading.shown is not None
        source = translator.encode(reading.question.source)
        for word in (reading.shown.masculine, reading.shown.feminine):
            pieces = translator.target_tokenizer.encode(reading.shown.before + word)
            texts.append(Example(source, [begin, *pieces]))
    scores = np.array(log_probabilities(translator.model, texts)).reshape(-1, 2)
    return scores[:, 0] - scores[:, 1]


def find_pieces(translator: Translator, source: str, word: str) -> list[int]:
    """Return the positions of a word's subwords, at its first occurrence in a source sentence."""
    found = re.search(rf"\b{re.escape(word)}\b", source)
    assert found is not None, f"{word!r} does not occur in {source!r}"
    begin = len("".join(source[: found.start()].split()))
    end = begin + len(word)
    at, positions = 0, []
    for i, token in enumerate(translator.source_tokenizer.tokens(translator.encode(source)[:-1])):
        length = len(token.strip())
        if at < end and at + length > begin:
            positions.append(i)
        at += length
    return positions
