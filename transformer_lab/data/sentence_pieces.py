"""SentencePiece (Kudo and Richardson 2018) as OPUS-MT checkpoints use it: it cuts, a list numbers."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from transformer_lab.config import check, is_integer

SPACE = "▁"
"""SentencePiece's sign for the space before a word."""
SPECIAL = ("<pad>", "</s>", "<unk>")


class SentencePieceTokenizer:
    """One language of a checkpoint whose two languages share one list of pieces.

    `model` is the content of a .spm file. `vocabulary` gives each piece its id, that of vocab.json;
    the numbers that SentencePiece has of its own are not used. A piece that the vocabulary lacks is
    `<unk>`. A text may begin with a language code, as in ">>fr<< the cat".

    `added` are pieces of the vocabulary that somebody gave the model later, and that SentencePiece does
    not know: wherever such a word stands in a text, it is that piece. Those that map to True leave no
    trace in a translation.

    Raises:
        ValueError: If the `sentencepiece` package is absent, the model is none, a special token is
            absent from the vocabulary, or its ids are not 0, 1, 2 and so on, each of one piece.
    """

    def __init__(
        self, model: bytes, vocabulary: dict[str, int], added: Mapping[str, bool] | None = None
    ):
        check_vocabulary(vocabulary)
        self.model = model
        self.processor = processor_of(model)
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
        """How many ids there are, special ones included."""
        return len(self.ids)

    def cut(self, text: str) -> list[str]:
        """The pieces of a text; a language code at its beginning is one, and so is an added piece."""
        parts = filter(None, self.split.split(text)) if self.added else [text]
        return [
            piece
            for part in parts
            for piece in ([part] if part in self.added else self.cut_plain(part))
        ]

    def cut_plain(self, text: str) -> list[str]:
        """The pieces of a text in which nothing stands that was added."""
        code, mark, rest = text.partition("<<")
        if text.startswith(">>") and mark:
            return [code + mark, *self.processor.encode(rest, out_type=str)]
        return self.processor.encode(text, out_type=str)

    def encode(self, text: str) -> list[int]:
        """The ids of the pieces. "<pad>" in a text is five signs, and not the id that means padding."""
        return [self.ids.get(piece, self.ids["<unk>"]) for piece in self.cut(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text that the pieces spell; special tokens leave no trace."""
        pieces = [self.pieces[i] for i in ids]
        text = self.processor.decode_pieces([p for p in pieces if p not in self.silent])
        return text.replace(SPACE, " ").strip()

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Each piece as text; one that begins a word keeps its space."""
        return [self.pieces[i].replace(SPACE, " ") for i in ids]

    def unknown(self, text: str) -> list[str]:
        """The pieces of the text that have no id."""
        return [piece.removeprefix(SPACE) for piece in self.cut(text) if piece not in self.ids]

    def to_json(self) -> str:
        """All there is to know, for `tokenizer_from_json`."""
        model = base64.b64encode(self.model).decode()
        state = {"kind": "sentencepiece", "model": model, "vocabulary": self.ids}
        state |= {"added": self.added} if self.added else {}
        return json.dumps(state, ensure_ascii=False)

    @classmethod
    def from_state(
        cls, model: str, vocabulary: dict[str, int], added: Mapping[str, bool] | None = None
    ) -> "SentencePieceTokenizer":
        """The tokenizer of these fields of `to_json`; a ValueError if the model is none."""
        return cls(base64.b64decode(model), vocabulary, added)


def processor_of(model: bytes, extra: str = "marian") -> Any:
    """What cuts, from a .spm file's content; a ValueError if it is none, or the package is absent."""
    try:
        import sentencepiece
    except ImportError as error:
        expected = f"expected pip install 'transformer-lab[{extra}]'"
        raise ValueError(f"sentencepiece is not installed; {expected}") from error
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces = processor.get_piece_size()
    except RuntimeError as error:  # what the library raises for bytes that are no model
        raise ValueError(f"model is no SentencePiece model: {error}") from error
    check("model", "empty", "a SentencePiece model", pieces > 0)
    return processor


def check_vocabulary(vocabulary: object) -> None:
    """A ValueError unless each id from 0 on is that of one piece, and the special ones are there."""
    kind = type(vocabulary).__name__
    check("vocabulary", f"a {kind}", "a dict, from piece to id", isinstance(vocabulary, dict))
    assert isinstance(vocabulary, dict)
    lacking = [token for token in SPECIAL if token not in vocabulary]
    check("vocabulary", f"without {lacking}", f"one with {SPECIAL}", not lacking)
    wrong = sorted({piece for piece, i in vocabulary.items() if not is_integer(i)})
    check("vocabulary", f"without an id for {wrong[:3]}", "a whole number for each", not wrong)
    missing = sorted(set(range(len(vocabulary))) - set(vocabulary.values()))
    expected = f"ids from 0 to {len(vocabulary) - 1}, each of one piece"
    check("vocabulary", f"without {missing[:3]}", expected, not missing)
