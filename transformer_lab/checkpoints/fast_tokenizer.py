"""Our tokenizers in the form of the `tokenizers` library, which Transformers and others read.

The rules that ours have around it (a space before the text, the end behind it, lower case, elided
words) become parts of the description, so that whoever loads it needs none of our code.
"""

import json
import re
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors

from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import SPECIAL_TOKENS, WORD, BPETokenizer, WordTokenizer

SOURCE, TARGET = "tokenizer.json", "target.tokenizer.json"
"""Of the source, by the name that Transformers looks for, and of the target."""


def fast_tokenizer(tokenizer: WordTokenizer | BPETokenizer) -> tokenizers.Tokenizer:
    """A tokenizer with the same ids, which adds <eos> to what it encodes and drops it when it decodes.

    Words of a text that have the name of a special token are the token's id here, unless
    `encode_special_tokens` is set; that is not part of the description.
    """
    fast = of_pieces(tokenizer) if isinstance(tokenizer, BPETokenizer) else of_words(tokenizer)
    fast.add_special_tokens([name for name in SPECIAL_TOKENS if name != "<unk>"])
    end = "<eos>"
    fast.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, SPECIAL_TOKENS.index(end))]
    )
    fast.encode_special_tokens = True
    return fast


def of_pieces(tokenizer: BPETokenizer) -> tokenizers.Tokenizer:
    """Byte pairs: the space before a text is put there, and taken away again."""
    fast = tokenizers.Tokenizer.from_str(tokenizer.tokenizer.to_str())
    fast.normalizer = normalizers.Sequence([normalizers.Prepend(" "), normalizers.NFC()])
    fast.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    return fast


def of_words(tokenizer: WordTokenizer) -> tokenizers.Tokenizer:
    """Whole words: `normalise` and WORD as the library's parts, and the rules of `decode`.

    An accent that stands behind its letter as a sign of its own is part of the word there, and not
    in Python.
    """
    fast = tokenizers.Tokenizer(models.WordLevel(tokenizer.ids, unk_token="<unk>"))  # noqa: S106
    fast.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Lowercase(),
            normalizers.Replace("’", "'"),
            normalizers.Replace(Regex(r"[.!\s]+\z"), ""),
        ]
    )
    fast.pre_tokenizer = pre_tokenizers.Split(Regex(WORD.pattern), "removed", invert=True)
    joined = (
        decoders.Replace(Regex(f" {re.escape(word)}(?= |\\z)"), word)
        for word in sorted(tokenizer.joined)
    )
    fast.decoder = decoders.Sequence(
        [
            decoders.WordPiece(prefix="##", cleanup=False),  # a space before each but the first
            decoders.Fuse(),
            decoders.Replace("' ", "'"),
            *joined,
        ]
    )
    return fast


def fast_files(
    source: WordTokenizer | BPETokenizer, target: WordTokenizer | BPETokenizer, c: TransformerConfig
) -> dict[str, bytes]:
    """The files of both, and the one by which `AutoTokenizer` knows that of the source."""
    names: dict[str, Any] = {f"{name[1:-1]}_token": name for name in SPECIAL_TOKENS}
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": c.max_length,
        "split_special_tokens": True,
        **names,
    }
    return {
        SOURCE: fast_tokenizer(source).to_str().encode(),
        TARGET: fast_tokenizer(target).to_str().encode(),
        "tokenizer_config.json": json.dumps(config, indent=1).encode(),
    }
