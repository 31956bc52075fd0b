"""Convert text to token ids and back, with word tokenizers and subword (BPE) tokenizers.

Training, translators and checkpoints use them through the small interface `Tokenizer`. A third
kind, for SentencePiece models, is in `sentence_pieces`.
"""

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
from transformer_lab.data.text import to_nfc

SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
"""The special tokens; the id of each one is its index: pad 0, bos 1, eos 2, unk 3."""
UNK_ID = SPECIAL_TOKENS.index("<unk>")

# An elided form (l', qu'), a word with its inner apostrophes and hyphens, or a single symbol.
WORD = re.compile(r"(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=\w)|\w+(?:['-]\w+)*|[^\w\s]")


@runtime_checkable
class Tokenizer(Protocol):
    """The interface that the package expects from any tokenizer.

    `encode` does not add bos or eos, and `decode` leaves them out.
    """

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary, including special tokens."""

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a string, with `unk` for anything outside the vocabulary."""

    def decode(self, ids: Sequence[int]) -> str:
        """Convert token ids back to text, leaving out pad, bos and eos."""

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return a readable string for each id, for example to label an attention map."""

    def unknown(self, text: str) -> list[str]:
        """Return the words of the text that are not in the vocabulary."""

    def to_json(self) -> str:
        """Return the tokenizer as a JSON string that `tokenizer_from_json` can read."""


class WordTokenizer:
    """A tokenizer with one id for each word of the training text.

    It converts text to lower case, and drops any final full stops and exclamation marks.

    Args:
        words: The vocabulary without special tokens.
        joined: The tokens that `decode` writes without a preceding space, such as a comma.

    Raises:
        ValueError: If a word is not a string, occurs twice, or is the name of a special token.
    """

    def __init__(self, words: Sequence[str], joined: Iterable[str] = ()):
        self.words = [*SPECIAL_TOKENS, *words]
        self.joined = frozenset(joined)
        for word in (*self.words, *self.joined):
            check("a word of the tokenizer", word, "a string", isinstance(word, str))
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) != len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self.ids[word] != i)
            if twice in SPECIAL_TOKENS:
                raise ValueError(
                    f"words contains the special token {twice!r}, which is added automatically"
                )
            raise ValueError(f"words contains {twice!r} more than once; expected distinct words")

    @classmethod
    def train(cls, texts: Iterable[str]) -> "WordTokenizer":
        """Build a tokenizer whose vocabulary is all words in these texts, most frequent first."""
        count: Counter[str] = Counter()
        spaced = set()
        for text in texts:
            normal = normalise(text)
            for match in WORD.finditer(normal):
                word, start = match.group(), match.start()
                count[word] += 1
                if word in spaced:
                    continue
                if (
                    start == 0
                    or normal[start - 1].isspace()
                    or is_elided(normal[:start].split()[-1])
                ):
                    spaced.add(word)
        words = sorted(count, key=lambda word: (-count[word], word))
        return cls(words, (word for word in words if word not in spaced))

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary, including special tokens."""
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """Return the ids of the words in a string, with `unk` for words outside the vocabulary."""
        return [self.ids.get(word, UNK_ID) for word in WORD.findall(normalise(text))]

    def decode(self, ids: Sequence[int]) -> str:
        """Convert ids to text, with no space after an elision or before a `joined` token."""
        words = [self.words[i] for i in ids if i >= UNK_ID]
        text = ""
        for before, word in zip(["", *words], words, strict=False):
            glued = not text or word in self.joined or is_elided(before)
            text += word if glued else " " + word
        return text

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the word for each id."""
        return [self.words[i] for i in ids]

    def unknown(self, text: str) -> list[str]:
        """Return the words of the text that are not in the vocabulary."""
        return [word for word in WORD.findall(normalise(text)) if word not in self.ids]

    def to_json(self) -> str:
        """Return the tokenizer as a JSON string that `tokenizer_from_json` can read."""
        words = self.words[len(SPECIAL_TOKENS) :]
        state = {"kind": "word", "words": words, "joined": sorted(self.joined)}
        return json.dumps(state, ensure_ascii=False)


class BPETokenizer:
    """A byte-pair encoding (BPE) tokenizer (Sennrich et al. 2016) from the `tokenizers` library.

    It starts from bytes, so it can encode any text, and `decode(encode(text))` returns the text in
    NFC but otherwise unchanged. Encoding adds a space before the text, so the first word is split
    into the same subwords as it would be inside a sentence. Decoding removes the space.

    Raises:
        ValueError: If the token ids are not consecutive integers starting at 0.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer):
        self.tokenizer = tokenizer
        ids, size = set(tokenizer.get_vocab().values()), tokenizer.get_vocab_size()
        if ids != set(range(size)):
            raise ValueError(
                f"the pieces have ids up to {max(ids, default=0)}; "
                f"expected each id from 0 to {size - 1} exactly once"
            )
        # "<pad>" in a text is five characters, not the id that means padding.
        self.tokenizer.encode_special_tokens = True

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> "BPETokenizer":
        """Learn merges from texts until there are `vocab_size` tokens or no pair occurs twice.

        Raises:
            ValueError: If `vocab_size` is too small to hold the 256 bytes and the special tokens.
        """
        smallest = 256 + len(SPECIAL_TOKENS)
        if vocab_size < smallest:
            raise ValueError(
                f"vocab_size is {vocab_size}; expected at least {smallest}, "
                "because each byte and each special token needs its own id"
            )
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
        """The size of the vocabulary, including special tokens."""
        return self.tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a string."""
        return self.tokenizer.encode(" " + text, add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each string, computed in parallel on all cores."""
        spaced = [" " + text for text in texts]
        # The fast version does not record where in the text each piece was.
        encodings = self.tokenizer.encode_batch_fast(spaced, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Sequence[int]) -> str:
        """Convert token ids back to text, leaving out special tokens."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=True).removeprefix(" ")

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return each token as text.

        A token that begins a word keeps its leading space. An incomplete character is shown as �.
        """
        return [self.tokenizer.decode([i], skip_special_tokens=False) for i in ids]

    def unknown(self, text: str) -> list[str]:
        """Return an empty list, because any text can be split into known subwords."""
        return []

    def to_json(self) -> str:
        """Return the tokenizer as a JSON string that `tokenizer_from_json` can read."""
        state = {"kind": "bpe", "tokenizer": json.loads(self.tokenizer.to_str())}
        return json.dumps(state, ensure_ascii=False)


def normalise(text: str) -> str:
    """Return the text in NFC and lower case, with plain apostrophes and no final "." or "!"."""
    text = to_nfc(text).lower().replace("’", "'").strip()
    while text.endswith((".", "!")):  # as in "so . . ." too
        text = text.rstrip(".!").rstrip()
    return text


def is_elided(word: str) -> bool:
    """Return whether a word is an elided form, such as l' or qu', which takes no space after it."""
    return word.endswith("'")


def tokenizer_from_json(text: str) -> Tokenizer:
    """Build a tokenizer from the JSON that `to_json` returned.

    Raises:
        ValueError: If the JSON does not describe a tokenizer; the message says what is wrong.
    """
    try:
        state = json.loads(text)
        if state["kind"] == "word":
            return WordTokenizer(state["words"], state["joined"])
        if state["kind"] == "bpe":
            return BPETokenizer(bpe_from_json(json.dumps(state["tokenizer"])))
        if state["kind"] == "sentencepiece":
            added = state.get("added")
            return SentencePieceTokenizer.from_state(state["model"], state["vocabulary"], added)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the tokenizer's description is not valid JSON: {error}") from error
    except KeyError as error:
        raise ValueError(f"the tokenizer's description has no field {error}") from error
    except (TypeError, AttributeError) as error:
        raise ValueError(
            "a field of the tokenizer's description is missing or has the wrong type"
        ) from error
    raise ValueError(
        f"the tokenizer's kind is {state['kind']!r}; expected 'word', 'bpe' or 'sentencepiece'"
    )


def bpe_from_json(text: str) -> tokenizers.Tokenizer:
    """Build a tokenizer of the `tokenizers` library from that library's own JSON.

    Padding and truncation are refused, because they would change the lengths of texts. Regular
    expressions are refused, because matching one may take more steps than the library allows. The
    library would then panic while encoding.

    Raises:
        ValueError: If the JSON is not a valid tokenizer, or contains anything that is refused.
    """
    state = json.loads(text)
    for field in ("padding", "truncation"):
        if state.get(field):
            raise ValueError(
                f"the tokenizer uses {field}, which changes the number of tokens; set `{field}` to "
                "null in its description"
            )
    found = sorted(find_regular_expressions(state))
    if found:
        raise ValueError(
            f"the tokenizer uses the regular expression {found[0]!r}, which may take very long to "
            "match; expected none, as in a tokenizer from BPETokenizer.train"
        )
    try:
        return tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing more precise
        raise ValueError(f"the tokenizer's description cannot be read: {error}") from error


def find_regular_expressions(state: object) -> Iterator[str]:
    """Yield the first 60 characters of each regular expression in a tokenizer's parsed JSON."""
    if isinstance(state, dict):
        if isinstance(state.get("Regex"), str):
            yield state["Regex"][:60]
        state = list(state.values())
    for part in state if isinstance(state, list) else ():
        yield from find_regular_expressions(part)


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer from a JSON file.

    Raises:
        ValueError: If the file does not contain a tokenizer; the message names the file.
    """
    try:
        return tokenizer_from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
