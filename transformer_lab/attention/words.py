"""Turn a record of subwords into a record of whole words, which is easier to read.

The weights on a word's subwords are added up, and the rows of its subwords are averaged, so rows
still sum to 1. Clark et al. (2019) do the same for BERT.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from transformer_lab.attention.record import AttentionRecord

SPACES = " \t\n▁"
"""The characters that mark the beginning of a word; SentencePiece uses ▁."""
INNER = ("'", "’", "-")
"""Characters that belong to a word if there is a letter on each side: can't, co-operative."""
SPECIAL = re.compile(r"</?\w+>|>>\w+<<")
"""The pattern of special tokens such as <pad> and </s>, and of some models' language codes."""

Groups = tuple[tuple[int, ...], ...]
"""The positions of each word's subwords, in order."""


def word_groups(tokens: Sequence[str]) -> Groups:
    """Return the positions of each word's tokens, one tuple per word.

    If no token begins with a space, each token is already a word. Otherwise, each token that begins
    with a space starts a word, with these exceptions:

    - A special token forms a separate word. So does a token without letters or digits, such as a
      full stop. The token after either of them starts a new word, even without a space.
    - An apostrophe or a hyphen between two letters does not split a word.
    - A token that consists only of spaces belongs to the same word as the next token.
    """
    if not has_pieces(tokens):
        return tuple((place,) for place in range(len(tokens)))
    groups: list[tuple[int, ...]] = []
    for place in range(len(tokens)):
        if place and not begins_word(tokens, place):
            groups[-1] += (place,)
        else:
            groups.append((place,))
    return tuple(groups)


def has_pieces(tokens: Sequence[str]) -> bool:
    """Return whether the tokens are subwords, that is, whether any of them begins with a space.

    A space marks the beginning of a word. If no token has one, the tokens are whole words.
    """
    return any(token[:1] and token[0] in SPACES for token in tokens)


def begins_word(tokens: Sequence[str], place: int) -> bool:
    """Return whether the token at position `place`, which is not the first, starts a word."""
    before, piece = tokens[place - 1], tokens[place]
    if before and not before.strip(SPACES):
        return False
    if piece[:1] and piece[0] in SPACES:
        return True
    if joins(tokens, place) or joins(tokens, place - 1):
        return False
    return stands_alone(before) or stands_alone(piece)


def joins(tokens: Sequence[str], place: int) -> bool:
    """Return whether this token is an apostrophe or hyphen between two letters or digits."""
    if tokens[place] not in INNER or not 0 < place < len(tokens) - 1:
        return False
    before, after = tokens[place - 1], tokens[place + 1]
    if SPECIAL.fullmatch(before.strip(SPACES)) or SPECIAL.fullmatch(after):
        return False
    return is_letter(before[-1:]) and is_letter(after[:1])


def stands_alone(piece: str) -> bool:
    """Return whether a token is a special token, or has neither letters nor digits."""
    bare = piece.strip(SPACES)
    return bool(SPECIAL.fullmatch(bare)) or not any(map(is_letter, bare))


def is_letter(sign: str) -> bool:
    """Return whether a character can be part of a word.

    This includes letters, accents, digits, _ and � (part of a split character).
    """
    return bool(sign) and (sign in "_\ufffd" or unicodedata.category(sign)[0] in "LMN")


def join_tokens(tokens: Sequence[str], groups: Groups) -> tuple[str, ...]:
    """Return the text of each group of tokens, without the space that marks the start of a word."""
    if not has_pieces(tokens):
        return tuple(tokens)
    return tuple("".join(tokens[place] for place in group).strip(SPACES) for group in groups)


def step_groups(record: AttentionRecord) -> tuple[Groups, Groups]:
    """Return the word groups of the decoder's inputs and of its outputs.

    The inputs are `target_tokens`; the first one (bos) forms a separate group. The outputs are
    `written_tokens`. Each output is the input of the next step, so outputs are grouped in the same
    way as inputs. The last output (eos, or the last token of a truncated translation) forms a
    separate group.
    """
    steps = len(record.target_tokens)
    if not steps:
        return (), ()
    written = word_groups(record.target_tokens[1:])
    read = tuple(tuple(place + 1 for place in group) for group in written)
    return ((0,), *read), (*written, (steps - 1,))


def by_words(record: AttentionRecord) -> AttentionRecord:
    """Return a record with subwords joined into words; a record of whole words stays unchanged.

        by_words(load_bergamot("en-pt").attend("The trophy does not fit."))

    The weight of one word on another is summed over the key's subwords, and averaged over the
    query's subwords. Subwords whose row is all zeros are left out of the average. The decoder's
    maps stay causal: no word attends to a later one. `next_tokens` are taken from the step that
    writes a word's first subword, and they are still subwords. Gold positions become word
    positions, while `muted`, `label` and `unknown` stay the same.
    """
    source = word_groups(record.source_tokens)
    read, written = step_groups(record)
    sides = (record.source_tokens, record.target_tokens, record.written_tokens)
    if not any(map(has_pieces, sides)):
        return record
    place_of = {place: word for word, group in enumerate(source) for place in group}
    step_of = {step: word for word, group in enumerate(written) for step in group}
    links = [(place_of[i], step_of[j]) for i, j in record.alignment or ()]
    referent = record.referent
    if referent is not None:
        places = {
            name: place_of[place] for name, place in referent._asdict().items() if name != "step"
        }
        referent = referent._replace(**places, step=step_of[referent.step])
    return replace(
        record,
        source_tokens=join_tokens(record.source_tokens, source),
        target_tokens=join_tokens(record.target_tokens, read),
        written_tokens=join_tokens(record.written_tokens, written),
        encoder=tuple(join_map(layer, source, source) for layer in record.encoder),
        decoder=tuple(join_map(layer, read, read) for layer in record.decoder),
        cross=tuple(join_map(layer, written, source) for layer in record.cross),
        next_tokens=record.next_tokens and tuple(record.next_tokens[group[0]] for group in written),
        alignment=record.alignment and tuple(dict.fromkeys(links)),
        referent=referent,
    )


def join_map(
    weights: Float[np.ndarray, "heads query key"], rows: Groups, columns: Groups
) -> Float[np.ndarray, "heads query_word key_word"]:
    """Return the weights between words: summed over key subwords, averaged over query subwords."""
    if len(rows) == weights.shape[1] and len(columns) == weights.shape[2]:
        return weights
    summed = weights.astype(np.float64) @ membership(columns, weights.shape[2]).T
    of_word = membership(rows, weights.shape[1])
    seeing = of_word @ summed.any(axis=2, keepdims=True)
    return (of_word @ summed / np.maximum(1, seeing)).astype(weights.dtype)


def membership(groups: Groups, size: int) -> Float[np.ndarray, "words pieces"]:
    """Return a matrix that is 1 where a subword belongs to a word, and 0 elsewhere."""
    found = np.zeros((len(groups), size))
    for word, group in enumerate(groups):
        found[word, list(group)] = 1
    return found
