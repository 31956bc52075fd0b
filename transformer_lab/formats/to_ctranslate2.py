"""Export a translator to CTranslate2, a C++ engine, by way of a Transformers model.

The command `export` uses it.

The usual command, `ct2-transformers-converter --model FOLDER --output_dir OUT`, makes assumptions
that hold for OPUS-MT: padding is the last word of a single vocabulary, and the decoder starts from
a vector of zeros. A translator trained here starts with <bos>, whose vector is not zero. Its
padding token has id 0, and it often has two vocabularies. Its weights therefore go through the
converter's loader for BART, which makes no such assumptions. This module then sets the vocabularies
and the start token.
"""

import tempfile
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer
from transformer_lab.data.tokenizer import BPETokenizer, Tokenizer, WordTokenizer
from transformer_lab.formats.to_transformers import (
    build_transformers_model,
    fill_usage,
    tokenizer_files,
)
from transformer_lab.model import Transformer
from transformer_lab.storage.files import expand_path
from transformer_lab.translator import Translator

USAGE = """\
import ctranslate2
import tokenizers

engine = ctranslate2.Translator("{folder}")
source = tokenizers.Tokenizer.from_file("{folder}/tokenizer.json")
target = tokenizers.Tokenizer.from_file("{folder}/target.tokenizer.json")
words = [text.tokens for text in source.encode_batch([{sentence}])]
found = engine.translate_batch(words, max_batch_size=1024, batch_type="tokens")
target.decode_batch([[target.token_to_id(word) for word in one.hypotheses[0]] for one in found])
"""
"""The code that translates sentences with the exported model and its tokenizers.

Without `max_batch_size` and `batch_type`, `translate_batch` would put all sentences in one batch.
"""
SENTENCE_PIECE_USAGE = """\
import ctranslate2

engine = ctranslate2.Translator("{folder}")
# Pass each text as tokens: tokenizer.tokenize(text) + ["</s>"], with the model's MarianTokenizer.
"""


def to_ctranslate2(
    translator: Translator,
    folder: str | Path,
    quantization: str | None = None,
    card: str | None = None,
) -> None:
    """Write a translator to a folder that `ctranslate2.Translator` can load.

    The engine's `translate_batch` takes tokens as strings: `token_strings(source_tokenizer)[i]` for
    each id i in `translator.encode(text)`, including eos. Word and byte-pair tokenizers are written
    next to the model, as tokenizer.json and target.tokenizer.json, for the `tokenizers` library
    (see `ctranslate2_example`).

    Args:
        translator: The translator to export.
        folder: The folder to write; it must not exist yet.
        quantization: One of CTranslate2's types, such as "int8"; None keeps float32.
        card: The text of a model card, which is written as README.md.

    Raises:
        ValueError: If `ctranslate2` or `transformers` is not installed, if the folder exists, or if
            neither MarianMT nor Pegasus can represent the model.
    """
    folder = expand_path(folder)
    check("folder", str(folder), "a folder that does not exist yet", not folder.exists())
    source, target = (
        token_strings(translator.source_tokenizer),
        token_strings(translator.target_tokenizer),
    )
    spec = build_spec(translator.model, source, target, quantization)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".to_ctranslate2.") as beside:
        whole = Path(beside) / folder.name
        whole.mkdir()
        spec.save(str(whole))
        for name, content in tokenizer_files(translator).items():
            (whole / name).write_bytes(content)
        if card is not None:
            (whole / "README.md").write_text(card, encoding="utf-8")
        whole.rename(folder)


def ctranslate2_example(translator: Translator, folder: str | Path) -> str:
    """Return Python code that translates with an exported model, without this package or PyTorch.

    For a translator with SentencePiece, the code only loads the engine and does not tokenize,
    because the export does not include a tokenizer.json.
    """
    return fill_usage(USAGE, SENTENCE_PIECE_USAGE, translator, folder)


def build_spec(
    model: Transformer, source: list[str], target: list[str], quantization: str | None = None
) -> Any:
    """Build CTranslate2's specification of a model; `source` and `target` list the words by id.

    Raises:
        ValueError: If `ctranslate2` or `transformers` is not installed, or if neither MarianMT nor
            Pegasus can represent the model.
    """
    try:
        from ctranslate2.converters.transformers import BartLoader
    except ImportError as error:
        install = "Install it with pip install 'transformer-lab[export]'"
        raise ValueError(f"ctranslate2 is not installed. {install}") from error
    theirs, c = build_transformers_model(model), model.config
    theirs.config.normalize_before = c.norm == "pre"
    theirs.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(theirs)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.bos_token = spec.config.decoder_start_token = target[c.bos_id]
    spec.config.eos_token = target[c.eos_id]
    spec.config.unk_token = target[c.unk_id]
    spec.validate()
    spec.optimize(quantization=quantization)
    return spec


def token_strings(tokenizer: Tokenizer) -> list[str]:
    """Return a unique string for each id, unlike `Tokenizer.tokens`, which may repeat strings."""
    if isinstance(tokenizer, WordTokenizer):
        return list(tokenizer.words)
    ids = range(tokenizer.vocab_size)
    if isinstance(tokenizer, SentencePieceTokenizer):
        return [tokenizer.pieces[i] for i in ids]
    assert isinstance(tokenizer, BPETokenizer)
    return [str(tokenizer.tokenizer.id_to_token(i)) for i in ids]
