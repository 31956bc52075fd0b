"""Export a translator as a checkpoint for Hugging Face Transformers.

The command `export` uses it.

MarianMT has the paper's architecture, so a post-norm translator is exported weight for weight; this
is the inverse of `load_marian`. A pre-norm translator, with a norm before each sub-layer and after
each stack, becomes a Pegasus model, which has the same parts under the same names. Anything else
(other positions, shared keys, a recurrence) is rejected.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TransformerConfig, check
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.formats.fast_tokenizer import build_tokenizer_files
from transformer_lab.formats.marian import (
    MOST_POSITIONS,
    OUR_TOKENIZERS,
    WEIGHTS,
    interleave,
    quiet_transformers,
)
from transformer_lab.formats.marian_layers import copy_weights, match_model
from transformer_lab.model import Transformer
from transformer_lab.model.weights import check_plain
from transformer_lab.storage.files import expand_path, write_files_atomically
from transformer_lab.storage.lock import lock_folder
from transformer_lab.translator import Translator

EXPECTED = {
    "positions": "sinusoidal",
    "num_key_value_heads": None,
    "recurrent_decoder": False,
    "tie_target_output": True,
}
"""The values that our configuration must have; MarianMT and Pegasus support no others."""
USAGE = """\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedTokenizerFast

model = AutoModelForSeq2SeqLM.from_pretrained("{folder}")
source = AutoTokenizer.from_pretrained("{folder}")
target = PreTrainedTokenizerFast(tokenizer_file="{folder}/target.tokenizer.json")
ids = model.generate(**source({sentence}, return_tensors="pt", return_token_type_ids=False))
target.batch_decode(ids, skip_special_tokens=True)
"""
SENTENCE_PIECE_USAGE = """\
from transformers import MarianMTModel, MarianTokenizer

model = MarianMTModel.from_pretrained("{folder}")
tokenizer = MarianTokenizer.from_pretrained("{folder}")
ids = model.generate(**tokenizer([{sentence}], return_tensors="pt"))
tokenizer.batch_decode(ids, skip_special_tokens=True)
"""


def to_transformers(translator: Translator, folder: str | Path, card: str | None = None) -> None:
    """Write a folder that `transformers.AutoModelForSeq2SeqLM.from_pretrained` can load.

    With norm="post", the model is a MarianMTModel, which `load_marian` can load too; with "pre", it
    is a PegasusForConditionalGeneration. Ids stay the same, and two vocabularies stay separate in
    MarianMT (`share_encoder_decoder_embeddings` is false in config.json). A translator with
    SentencePiece gets source.spm, target.spm and vocab.json, which `MarianTokenizer` reads. Word
    and byte-pair tokenizers have no SentencePiece files: `AutoTokenizer` reads the source's
    tokenizer, and `PreTrainedTokenizerFast(tokenizer_file="…/target.tokenizer.json")` the target's.
    The files source_tokenizer.json and target_tokenizer.json are for `load_marian`.

    `generate(ids, num_beams=1)` gives the same result as our greedy search, except that it may
    continue up to the model's `max_length`, whereas our search stops at source length + 50. For
    beam search, see `formats/marian.py`.

    Args:
        translator: The translator to export.
        folder: The folder to write.
        card: The text of a model card, written as README.md, which hubs display.

    Raises:
        ValueError: If `transformers` is not installed, if the folder holds a model or a file that
            would be overwritten, or if neither MarianMT nor Pegasus can represent the model; in
            that case, the message names the field.
    """
    folder = expand_path(folder)
    theirs = build_transformers_model(translator.model)
    with tempfile.TemporaryDirectory(prefix="to_transformers.") as beside, quiet_transformers():
        theirs.save_pretrained(beside)
        files = {file.name: file.read_bytes() for file in Path(beside).iterdir()}
    files |= tokenizer_files(translator)
    if card is not None:
        files["README.md"] = card.encode()
    with lock_folder(folder):
        taken = [name for name in {*WEIGHTS, *files} if (folder / name).exists()]
        check("folder", str(folder), f"a folder without {', '.join(sorted(taken))}", not taken)
        write_files_atomically(folder, files)


def transformers_example(translator: Translator, folder: str | Path) -> str:
    """Return Python code that translates with an exported model, without this package."""
    return fill_usage(USAGE, SENTENCE_PIECE_USAGE, translator, folder)


def fill_usage(usage: str, with_pieces: str, translator: Translator, folder: str | Path) -> str:
    """Return usage code with the folder and an example sentence filled in.

    The sentence is the training run's own example or, if it has none, "the cat sleeps". The code
    is `with_pieces` for a translator with SentencePiece, and `usage` for any other.
    """
    has_pieces = isinstance(translator.source_tokenizer, SentencePieceTokenizer)
    kept = translator.about.get("example")
    sentence = json.dumps(kept if isinstance(kept, str) else "the cat sleeps", ensure_ascii=False)
    return (with_pieces if has_pieces else usage).format(folder=folder, sentence=sentence).strip()


@torch.no_grad()
def build_transformers_model(model: Transformer) -> Any:
    """Build Transformers' model with our weights, on the CPU and in evaluation mode.

    Raises:
        ValueError: If `transformers` is not installed, or if neither MarianMT nor Pegasus can
            represent the model.
    """
    try:
        from transformers import (
            GenerationConfig,
            MarianMTModel,
            PegasusForConditionalGeneration,
        )
    except ImportError as error:
        raise ValueError(
            "transformers is not installed. Install it with pip install 'transformer-lab[export]'"
        ) from error
    check_plain(model)
    c = model.config
    kind = MarianMTModel if c.norm == "post" else PegasusForConditionalGeneration
    with torch.random.fork_rng():  # it draws weights that are overwritten at once
        theirs = kind(build_transformers_config(c)).eval()
    back = interleave(c.d_model).argsort()
    for ours, other, reads in match_model(model, theirs):
        copy_weights(other, ours, back, reads=reads)
    theirs.final_logits_bias.copy_(model.output.bias[None])
    theirs.generation_config = GenerationConfig(
        bos_token_id=c.bos_id,
        decoder_start_token_id=c.bos_id,
        eos_token_id=c.eos_id,
        pad_token_id=c.pad_id,
        max_length=c.max_length,
        # If padding starts the decoder, it must never be written.
        bad_words_ids=[[c.pad_id]] if c.bos_id == c.pad_id else None,
    )
    return theirs


def build_transformers_config(c: TransformerConfig) -> Any:
    """Convert our configuration to one for MarianMT or Pegasus.

    Raises:
        ValueError: If a field has an unsupported value; the message names the first such field.
    """
    from transformers import MarianConfig, PegasusConfig

    to_pegasus = "as in Pegasus, to which models with norm='pre' are converted"
    why = "as in MarianMT" if c.norm == "post" else to_pegasus
    for field, value in EXPECTED.items():
        check(field, getattr(c, field), f"{value!r}, {why}", getattr(c, field) == value)
    width = c.d_model / c.num_heads
    for field, size in (("d_k", c.key_size), ("d_v", c.value_size)):
        check(field, size, f"{width:g} (d_model / num_heads), {why}", size == width)
    expected = f"at most {MOST_POSITIONS:,}, because the positions are stored in a table"
    check("max_length", c.max_length, expected, c.max_length <= MOST_POSITIONS)
    said = {
        "vocab_size": c.source_vocab_size,
        "tie_word_embeddings": True,
        "d_model": c.d_model,
        "encoder_layers": c.num_encoder_layers,
        "decoder_layers": c.num_decoder_layers,
        "encoder_attention_heads": c.num_heads,
        "decoder_attention_heads": c.num_heads,
        "encoder_ffn_dim": c.d_ff,
        "decoder_ffn_dim": c.d_ff,
        "activation_function": c.activation,
        "dropout": c.dropout,
        "attention_dropout": c.attention_dropout,
        "activation_dropout": c.feed_forward_dropout,
        "max_position_embeddings": c.max_length,
        "scale_embedding": True,
        "bos_token_id": c.bos_id,
        "decoder_start_token_id": c.bos_id,
        "pad_token_id": c.pad_id,
        "eos_token_id": c.eos_id,
        "forced_eos_token_id": None,  # a sentence that is cut off gets no end token
    }
    if c.norm == "pre":
        one = c.tie_source_target
        why = "because models with norm='pre' are converted to Pegasus"
        check("tie_source_target", one, f"True, {why}, which has one shared vocabulary", one)
        return PegasusConfig(**said)
    return MarianConfig(
        **said,
        decoder_vocab_size=c.target_vocab_size,
        share_encoder_decoder_embeddings=c.tie_source_target,
    )


def tokenizer_files(translator: Translator) -> dict[str, bytes]:
    """Return the files of both tokenizers by name.

    For SentencePiece, these are its model files and JSON files with the ids; for other tokenizers,
    our own JSON files and those of the `tokenizers` library.

    Raises:
        ValueError: If there are two SentencePiece tokenizers with different ids.
    """
    both = (translator.source_tokenizer, translator.target_tokenizer)
    source, target = both
    if isinstance(source, SentencePieceTokenizer) and isinstance(target, SentencePieceTokenizer):
        if source.ids != target.ids:
            raise ValueError(
                "the tokenizers have different pieces or ids; expected one list of pieces for both"
            )
        pieces = json.dumps(source.ids).encode()
        files = {"source.spm": source.model, "target.spm": target.model, "vocab.json": pieces}
        later = {name: source.ids[name] for name in source.added}
        return files | ({"added_tokens.json": json.dumps(later).encode()} if later else {})
    known = (BPETokenizer, WordTokenizer)
    assert isinstance(source, known)
    assert isinstance(target, known)
    ours = {name: t.to_json().encode() for name, t in zip(OUR_TOKENIZERS, both, strict=True)}
    return ours | build_tokenizer_files(source, target, translator.model.config)
