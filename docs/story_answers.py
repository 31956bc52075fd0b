"""What the translator does with the two sentences of the story, wire whole and cut, for the first paint.

`page/story/answers.js` computes the same from the engine, once it's there; a test compares the two.
"""

from typing import Any

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.data.world.grammar import FAMOUS, WorldPair
from transformer_lab.lab.guide import NOUN_FINDER, PARTNER, READER
from transformer_lab.translator import Translator

PRONOUNS = ("il", "elle")
MOST = 0.5
"""A head looks at a word if it gives it more than this."""


FINDER, *READERS = map(Head.from_code, (NOUN_FINDER, PARTNER, READER))


def decider_of(pair: WorldPair) -> str:
    """The English word that decides what the pronoun stands for."""
    assert pair.coreference is not None
    return pair.source_tokens[pair.coreference.decider]


def place_words() -> dict[str, Any]:
    """Where the pronoun, the word that decides, and both nouns stand, the same in both sentences."""
    (places,) = {
        (who.pronoun, who.decider, *sorted((who.referent, who.other)))
        for pair in FAMOUS
        if (who := pair.coreference)
    }
    pronoun, decider, *nouns = places
    return {"pronoun": pronoun, "decider": decider, "nouns": nouns}


def stored_answers(translator: Translator) -> dict[str, Any]:
    """Word and, behind it, " cut" → what the page shows."""
    return {
        decider_of(pair) + " cut" * is_cut: stored_answer(translator, pair, is_cut=is_cut)
        for pair in FAMOUS
        for is_cut in (False, True)
    }


def stored_answer(translator: Translator, pair: WorldPair, *, is_cut: bool) -> dict[str, Any]:
    """What the page shows of one sentence; weights are those of words, so the end mark has none."""
    who = pair.coreference
    assert who is not None
    every = translator.target_tokenizer.vocab_size
    record = translator.attend(pair.source, mute=[FINDER] if is_cut else [], top=every)
    written = record.written_tokens[:-1]
    step = next(place for place, word in enumerate(written) if word in PRONOUNS)
    layer = READERS[0].layer
    rows = enumerate(record.cross[layer][:, step, who.pronoun])
    others = [Head("cross", layer, head) for head, weight in rows if weight > MOST]

    def left_without(heads: list[Head]) -> float:
        """What the pronoun's probability is, after the same French words, if these heads are muted."""
        muted = translator.attend(pair.source, pair.target, mute=heads, top=every)
        return chance_of(muted, step, written[step])

    finder = record.encoder[FINDER.layer][FINDER.head, who.decider, :-1]
    every_head = np.concatenate(record.encoder)  # (head, query, key)
    places = place_words()
    return {
        "source": list(record.source_tokens[:-1]),
        "written": list(written),
        "step": step,
        "noun": int(finder.argmax()),
        "found": rounded(finder.max()),
        "read": [rounded(record.cross[layer][head.head, step, who.decider]) for head in READERS],
        "others": [rounded(record.cross[layer][head.head, step, who.pronoun]) for head in others],
        "chances": {word: chance_of(record, step, word) for word in PRONOUNS},
        "left": {}
        if is_cut
        else {"others": left_without(others), "readers": left_without(READERS)},
        "looks": [list(map(rounded, row)) for row in record.cross[layer].max(axis=0)[:-1, :-1]],
        "most": {
            name: [rounded(every_head[:, places[name], noun].max()) for noun in places["nouns"]]
            for name in ("pronoun", "decider")
        },
    }


def chance_of(record: AttentionRecord, step: int, word: str) -> float:
    """The probability of a word at a step."""
    assert record.next_tokens is not None
    return rounded(dict(record.next_tokens[step]).get(word, 0.0))


def rounded(number: float) -> float:
    """A number as the page's data have it."""
    return round(float(number), 4)
