"""A SentencePiece tokenizer (Kudo and Richardson 2018) for OPUS-MT and Bergamot checkpoints.

`formats` builds it from such a checkpoint, and `tokenizer` restores it from JSON. SentencePiece
splits text into subwords, and the checkpoint's own vocabulary gives each subword an id.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from transformer_lab.config import check, check_count, describe_type, is_integer, join_with_and

SPACE = "▁"
"""SentencePiece's character for the space before a word."""
SPECIAL = ("<pad>", "</s>", "<unk>")


class SentencePieceTokenizer:
    """A tokenizer for one language of a checkpoint whose languages share a vocabulary.

    The input may begin with a language code, as in ">>fr<< the cat".

    Args:
        model: The content of a .spm file.
        vocabulary: The id of each token, as in vocab.json. SentencePiece's own ids are ignored. A
            subword that is not in the vocabulary becomes `<unk>`.
        added: Tokens that were added to the vocabulary later, so SentencePiece does not know them.
            Wherever an added token occurs in a text, it stays a single token. Added tokens that are
            mapped to True are left out when ids are decoded.

    Raises:
        ValueError: If the `sentencepiece` package is missing, `model` is not a SentencePiece model,
            the vocabulary lacks a special token, or its ids are not consecutive integers starting
            at 0.
    """

    def __init__(
        self, model: bytes, vocabulary: dict[str, int], added: Mapping[str, bool] | None = None
    ):
        check_vocabulary(vocabulary)
        self.model = model
        self.processor = load_processor(model)
        self.ids = vocabulary
        self.pieces = {i: piece for piece, i in vocabulary.items()}
        self.added = dict(added or {})
        known = all(name and name in vocabulary for name in self.added)
        check("added", list(self.added), "pieces of the vocabulary", known)
        self.silent = {*SPECIAL, *(name for name, is_silent in self.added.items() if is_silent)}
        longest_first = sorted(self.added, key=len, reverse=True)
        self.split = re.compile(f"({'|'.join(map(re.escape, longest_first))})")

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary, including special tokens."""
        return len(self.ids)

    def tokenize(self, text: str) -> list[str]:
        """Split text into tokens, which are subwords or added tokens.

        A language code at the beginning is a single token.
        """
        parts = filter(None, self.split.split(text)) if self.added else [text]
        return [
            piece
            for part in parts
            for piece in ([part] if part in self.added else self.tokenize_plain(part))
        ]

    def tokenize_plain(self, text: str) -> list[str]:
        """Return the tokens of text that contains no added tokens."""
        code, mark, rest = text.partition("<<")
        if text.startswith(">>") and mark:
            return [code + mark, *self.processor.encode(rest, out_type=str)]
        return self.processor.encode(text, out_type=str)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a string.

        A "<pad>" in the string is encoded as ordinary text, not as padding.
        """
        return [self.ids.get(piece, self.ids["<unk>"]) for piece in self.tokenize(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """Convert token ids back to text, leaving out special tokens."""
        pieces = [self.pieces[i] for i in ids]
        text = self.processor.decode_pieces([p for p in pieces if p not in self.silent])
        return text.replace(SPACE, " ").strip()

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return each token as text; a token that begins a word keeps its leading space."""
        return [self.pieces[i].replace(SPACE, " ") for i in ids]

    def unknown(self, text: str) -> list[str]:
        """Return the tokens of the text that are not in the vocabulary."""
        return [piece.removeprefix(SPACE) for piece in self.tokenize(text) if piece not in self.ids]

    def to_json(self) -> str:
        """Return the tokenizer as a JSON string that `tokenizer_from_json` can read."""
        model = base64.b64encode(self.model).decode()
        state = {"kind": "sentencepiece", "model": model, "vocabulary": self.ids}
        state |= {"added": self.added} if self.added else {}
        return json.dumps(state, ensure_ascii=False)

    @classmethod
    def from_state(
        cls, model: str, vocabulary: dict[str, int], added: Mapping[str, bool] | None = None
    ) -> "SentencePieceTokenizer":
        """Build a tokenizer from the fields that `to_json` wrote, with `model` in base64."""
        return cls(base64.b64decode(model), vocabulary, added)


def import_sentencepiece(extra: str = "marian") -> Any:
    """Import and return the package `sentencepiece`.

    Raises:
        ValueError: If it is not installed. The message names the `extra` of this package that
            installs it.
    """
    try:
        import sentencepiece
    except ImportError as error:
        install = f"pip install 'transformer-lab[{extra}]'"
        raise ValueError(f"sentencepiece is not installed. Install it with {install}") from error
    return sentencepiece


def load_processor(model: bytes, extra: str = "marian") -> Any:
    """Return the `sentencepiece` processor for the content of a .spm file.

    Raises:
        ValueError: If the content is not a model, or the package is missing.
    """
    sentencepiece = import_sentencepiece(extra)
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces = processor.get_piece_size()
    except RuntimeError as error:  # what the library raises for bytes that are not a model
        raise ValueError("the data is not a SentencePiece model") from error
    check_count("the model", pieces, "piece", "at least 1", pieces > 0)
    return processor


def check_vocabulary(vocabulary: object) -> None:
    """Raise a ValueError unless all special tokens exist and the ids are consecutive from 0."""
    if not isinstance(vocabulary, dict):
        found = describe_type(vocabulary)
        raise ValueError(f"vocabulary is {found}; expected a dict from pieces to ids")
    if lacking := [token for token in SPECIAL if token not in vocabulary]:
        expected = join_with_and(map(repr, SPECIAL))
        raise ValueError(f"vocabulary lacks {lacking[0]!r}; expected it to contain {expected}")
    if wrong := sorted(piece for piece, i in vocabulary.items() if not is_integer(i)):
        raise ValueError(
            f"vocabulary has no integer id for {wrong[0]!r}; expected one for each piece"
        )
    if missing := sorted(set(range(len(vocabulary))) - set(vocabulary.values())):
        expected = f"each id from 0 to {len(vocabulary) - 1} exactly once"
        raise ValueError(f"vocabulary lacks the id {missing[0]}; expected {expected}")
