"""Text to ids and back: whole words, or pieces of words, behind one small interface."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from transformer_lab.config import check
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer
from transformer_lab.data.text import composed

SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
"""Their ids are their places: pad 0, bos 1, eos 2, unk 3."""
UNK_ID = SPECIAL_TOKENS.index("<unk>")

# An elided form (l', qu'), a word with its inner apostrophes and hyphens, or one sign.
WORD = re.compile(r"(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=\w)|\w+(?:['-]\w+)*|[^\w\s]")


@runtime_checkable
class Tokenizer(Protocol):
    """What the rest of the package asks of a tokenizer; ids here are without bos and eos."""

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special ones included."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text; what is unknown becomes `unk`."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these ids; pad, bos and eos leave no trace."""

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """One readable string for each id, for the axes of a map."""

    def unknown(self, text: str) -> list[str]:
        """The words of the text that have no id."""

    def to_json(self) -> str:
        """All there is to know, for `tokenizer_from_json`."""


class WordTokenizer:
    """One id for each word that the training text holds. Lower case; no full stops.

    `joined` are the tokens that stand without a space before them.
    """

    def __init__(self, words: Sequence[str], joined: Iterable[str] = ()):
        self.words = [*SPECIAL_TOKENS, *words]
        self.joined = frozenset(joined)
        for word in (*self.words, *self.joined):
            check("word", word, "a text", isinstance(word, str))
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) != len(self.words):
            raise ValueError("words holds a word twice or the name of a special token")

    @classmethod
    def train(cls, texts: Iterable[str]) -> "WordTokenizer":
        """Learn the words of these texts, the most frequent first."""
        count: Counter[str] = Counter()
        spaced = set()
        for text in texts:
            normal = normalise(text)
            for match in WORD.finditer(normal):
                count[match.group()] += 1
                before = normal[: match.start()]
                if not before or before[-1].isspace() or is_elided(before.split()[-1]):
                    spaced.add(match.group())
        words = sorted(count, key=lambda word: (-count[word], word))
        return cls(words, (word for word in words if word not in spaced))

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special ones included."""
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """The ids of the words; a word that was not in the training text is `unk`."""
        return [self.ids.get(word, UNK_ID) for word in WORD.findall(normalise(text))]

    def decode(self, ids: Sequence[int]) -> str:
        """The words with spaces between them; none after l' and its like."""
        words = [self.words[i] for i in ids if i >= UNK_ID]
        text = ""
        for before, word in zip(["", *words], words, strict=False):
            glued = not text or word in self.joined or is_elided(before)
            text += word if glued else " " + word
        return text

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The words themselves."""
        return [self.words[i] for i in ids]

    def unknown(self, text: str) -> list[str]:
        """The words of the text that have no id."""
        return [word for word in WORD.findall(normalise(text)) if word not in self.ids]

    def to_json(self) -> str:
        """All there is to know, for `tokenizer_from_json`."""
        words = self.words[len(SPECIAL_TOKENS) :]
        state = {"kind": "word", "words": words, "joined": sorted(self.joined)}
        return json.dumps(state, ensure_ascii=False)


class BPETokenizer:
    """Byte-pair pieces (Sennrich et al. 2016) by the `tokenizers` library; no text is unknown.

    Pieces start from bytes, so that any string comes back as it was, but for
    Unicode's canonical composition. A space goes before each text, so that its
    first word has the same piece as inside a sentence; decoding takes it away.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer):
        self.tokenizer = tokenizer
        ids, size = set(tokenizer.get_vocab().values()), tokenizer.get_vocab_size()
        expected = f"0 to {size - 1}, each of one piece"
        check(
            "ids of the pieces", f"up to {max(ids, default=0)}", expected, ids == set(range(size))
        )
        # "<pad>" in a text is five signs, and not the id that means padding.
        self.tokenizer.encode_special_tokens = True

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> "BPETokenizer":
        """Learn merges until there are `vocab_size` pieces, or no pair is left to merge."""
        smallest = 256 + len(SPECIAL_TOKENS)
        if vocab_size < smallest:
            raise ValueError(f"vocab_size is {vocab_size}; expected at least {smallest}, all bytes")
        tokenizer = tokenizers.Tokenizer(models.BPE())
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=2,
            special_tokens=list(SPECIAL_TOKENS),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator((" " + text for text in texts), trainer)
        return cls(tokenizer)

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special ones included."""
        return self.tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The ids of the pieces."""
        return self.tokenizer.encode(" " + text, add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` for many texts, on all cores."""
        spaced = [" " + text for text in texts]
        # "Fast" leaves out where in the text each piece stood.
        encodings = self.tokenizer.encode_batch_fast(spaced, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Sequence[int]) -> str:
        """The text that the pieces spell."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=True).removeprefix(" ")

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Each piece as text; one that begins a word keeps its space, half a letter is �."""
        return [self.tokenizer.decode([i], skip_special_tokens=False) for i in ids]

    def unknown(self, text: str) -> list[str]:
        """Nothing: every text has pieces."""
        return []

    def to_json(self) -> str:
        """All there is to know, for `tokenizer_from_json`."""
        state = {"kind": "bpe", "tokenizer": json.loads(self.tokenizer.to_str())}
        return json.dumps(state, ensure_ascii=False)


def normalise(text: str) -> str:
    """NFC, lower case, plain apostrophes, and no full stop or exclamation mark at the end."""
    text = composed(text).lower().replace("’", "'").strip()
    while text.endswith((".", "!")):  # as in "so . . ." too
        text = text.rstrip(".!").rstrip()
    return text


def is_elided(word: str) -> bool:
    """Is this l', qu' or another form that is written onto the next word?"""
    return word.endswith("'")


def tokenizer_from_json(text: str) -> Tokenizer:
    """The tokenizer that `to_json` described; a ValueError says what does not fit."""
    try:
        state = json.loads(text)
        if state["kind"] == "word":
            return WordTokenizer(state["words"], state["joined"])
        if state["kind"] == "bpe":
            return BPETokenizer(bpe_from_json(json.dumps(state["tokenizer"])))
        if state["kind"] == "sentencepiece":
            added = state.get("added")
            return SentencePieceTokenizer.from_state(state["model"], state["vocabulary"], added)
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a tokenizer's description: {error!r}") from error
    raise ValueError(f"kind is {state['kind']!r}; expected 'word', 'bpe' or 'sentencepiece'")


def bpe_from_json(text: str) -> tokenizers.Tokenizer:
    """The library's tokenizer from its own JSON; a ValueError if it is not that.

    One that pads would lengthen each text, to any length. A regular expression may need more steps
    than the library allows it, and then the library ends in the middle of a text with a page of Rust.
    """
    state = json.loads(text)
    for field in ("padding", "truncation"):
        check(field, state.get(field), "null: texts stay as long as they are", not state.get(field))
    found = sorted(expressions(state))
    expected = "none: nobody can tell how long one takes. BPETokenizer.train needs none"
    check("a regular expression in a tokenizer", found[:1], expected, not found)
    try:
        return tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing more precise
        raise ValueError(f"not a tokenizer's description: {error}") from error


def expressions(state: object) -> Iterator[str]:
    """The regular expressions in a description of the `tokenizers` library."""
    if isinstance(state, dict):
        if isinstance(state.get("Regex"), str):
            yield state["Regex"][:60]
        state = list(state.values())
    for part in state if isinstance(state, list) else ():
        yield from expressions(part)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer from a JSON file; a ValueError names the file."""
    try:
        return tokenizer_from_json(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
