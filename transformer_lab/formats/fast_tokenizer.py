"""Convert our tokenizers to the `tokenizers` format, which Transformers and other libraries read.

The exports use it. The rules of our tokenizers (a space before the text, eos after it, lower case,
elided words) become part of the file, so it can be used without our code.
"""

import json
import re
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors

from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import SPECIAL_TOKENS, WORD, BPETokenizer, WordTokenizer

SOURCE, TARGET = "tokenizer.json", "target.tokenizer.json"
"""The tokenizers' file names; Transformers looks for the source's tokenizer in tokenizer.json."""


def build_fast_tokenizer(tokenizer: WordTokenizer | BPETokenizer) -> tokenizers.Tokenizer:
    """Build a `tokenizers.Tokenizer` with the same ids; encoding adds <eos>, and decoding drops it.

    A saved file does not store `encode_special_tokens`. Set it to True again after loading;
    otherwise, a word such as "<pad>" in the input is read as the special token.
    """
    fast = (
        convert_bpe(tokenizer) if isinstance(tokenizer, BPETokenizer) else convert_words(tokenizer)
    )
    fast.add_special_tokens([name for name in SPECIAL_TOKENS if name != "<unk>"])
    end = "<eos>"
    fast.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, SPECIAL_TOKENS.index(end))]
    )
    fast.encode_special_tokens = True
    return fast


def convert_bpe(tokenizer: BPETokenizer) -> tokenizers.Tokenizer:
    """Convert a byte-pair tokenizer.

    The result also puts a space before the first word, and strips it in decoding.
    """
    fast = tokenizers.Tokenizer.from_str(tokenizer.tokenizer.to_str())
    fast.normalizer = normalizers.Sequence([normalizers.Prepend(" "), normalizers.NFC()])
    fast.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    return fast


def convert_words(tokenizer: WordTokenizer) -> tokenizers.Tokenizer:
    """Convert a word tokenizer; the library's components replace `normalise`, `WORD` and `decode`.

    One difference remains: a combining accent counts as part of a word in the library, but not in
    Python's `re`.
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


def build_tokenizer_files(
    source: WordTokenizer | BPETokenizer, target: WordTokenizer | BPETokenizer, c: TransformerConfig
) -> dict[str, bytes]:
    """Return three files by name: both tokenizers, and tokenizer_config.json.

    The last file lets `AutoTokenizer` load the source's tokenizer.
    """
    names: dict[str, Any] = {f"{name[1:-1]}_token": name for name in SPECIAL_TOKENS}
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": c.max_length,
        "split_special_tokens": True,
        **names,
    }
    return {
        SOURCE: build_fast_tokenizer(source).to_str().encode(),
        TARGET: build_fast_tokenizer(target).to_str().encode(),
        "tokenizer_config.json": json.dumps(config, indent=1).encode(),
    }
