"""SentencePiece (Kudo and Richardson 2018) as OPUS-MT checkpoints use it: it cuts, a list numbers."""

import base64
import json
from collections.abc import Sequence

from transformer_lab.config import check

SPACE = "▁"
"""SentencePiece's sign for the space before a word."""
SPECIAL = ("<pad>", "</s>", "<unk>")


class SentencePieceTokenizer:
    """One language of a checkpoint whose two languages share one list of pieces.

    `model` is the content of a .spm file. `vocabulary` gives each piece its id, that of vocab.json;
    the numbers that SentencePiece has of its own are not used. A piece that the vocabulary lacks is
    `<unk>`. A text may begin with a language code, as in ">>fr<< the cat".

    Raises:
        ValueError: If the `sentencepiece` package is absent, or a special token from the vocabulary.
    """

    def __init__(self, model: bytes, vocabulary: dict[str, int]):
        try:
            import sentencepiece
        except ImportError as error:
            raise ValueError(
                "sentencepiece is not installed; expected pip install 'transformer-lab[marian]'"
            ) from error
        lacking = [token for token in SPECIAL if token not in vocabulary]
        check("vocabulary", f"without {lacking}", f"one with {SPECIAL}", not lacking)
        self.model = model
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.ids = vocabulary
        self.pieces = {i: piece for piece, i in vocabulary.items()}

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special ones included."""
        return len(self.ids)

    def cut(self, text: str) -> list[str]:
        """The pieces of a text; a language code at its beginning is one."""
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
        text = self.processor.decode_pieces([p for p in pieces if p not in SPECIAL])
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
        return json.dumps(state, ensure_ascii=False)

    @classmethod
    def from_state(cls, model: str, vocabulary: dict[str, int]) -> "SentencePieceTokenizer":
        """The tokenizer of these fields of `to_json`; a ValueError if the model is none."""
        try:
            return cls(base64.b64decode(model), vocabulary)
        except RuntimeError as error:  # what the library raises for bytes that are no model
            raise ValueError(f"model is no SentencePiece model: {error}") from error
