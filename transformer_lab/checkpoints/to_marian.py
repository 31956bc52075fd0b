"""Our translators as a checkpoint of Hugging Face Transformers: the inverse of `load_marian`.

MarianMT is the paper's model, so a translator of the paper's shape fits into it weight for weight.
What is not the paper's (norm first, other positions, shared keys, a recurrence) is refused.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from transformer_lab.checkpoints.fast_tokenizer import fast_files
from transformer_lab.checkpoints.marian import OUR_TOKENIZERS, WEIGHTS, interleave, quiet
from transformer_lab.checkpoints.marian_layers import copy_weights, matches
from transformer_lab.config import TransformerConfig, check
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.files import write_together
from transformer_lab.lock import locked
from transformer_lab.model import Transformer
from transformer_lab.translator import Translator

EXPECTED = {
    "norm": "post",
    "positions": "sinusoidal",
    "num_key_value_heads": None,
    "recurrent_decoder": False,
    "tie_target_output": True,
}
"""What a configuration says, if MarianMT can be what it describes."""


def to_marian(translator: Translator, folder: str | Path) -> None:
    """Write a folder that `transformers.MarianMTModel.from_pretrained` and `load_marian` read.

    Ids stay what they are; two vocabularies stay two (`share_encoder_decoder_embeddings` false in
    config.json). A translator with SentencePiece gets source.spm, target.spm and vocab.json,
    which `MarianTokenizer` reads. Words and byte pairs are no SentencePiece: `AutoTokenizer` reads
    that of the source, `PreTrainedTokenizerFast(tokenizer_file="…/target.tokenizer.json")` that of
    the target, and source_tokenizer.json and target_tokenizer.json are for `load_marian`.

    `generate(ids, num_beams=1)` writes what our greedy search writes, up to `max_length`; for
    beams see `checkpoints/marian.py`.

    Raises:
        ValueError: If `transformers` is not installed, the folder holds a model or a file that would
            be replaced, or the model is none that MarianMT can be; the message names the field.
    """
    folder = Path(folder)
    theirs = marian_of(translator.model)
    with tempfile.TemporaryDirectory(prefix="to_marian.") as beside, quiet():
        theirs.save_pretrained(beside)
        files = {file.name: file.read_bytes() for file in Path(beside).iterdir()}
    files |= tokenizer_files(translator)
    with locked(folder):
        taken = [name for name in {*WEIGHTS, *files} if (folder / name).exists()]
        check("folder", str(folder), f"one without {', '.join(sorted(taken))}", not taken)
        write_together(folder, files)


@torch.no_grad()
def marian_of(model: Transformer) -> Any:
    """A `MarianMTModel` on the CPU with the weights of ours, in evaluation mode; equal logits."""
    try:
        from transformers import GenerationConfig, MarianMTModel
    except ImportError as error:
        raise ValueError(
            "transformers is not installed; expected pip install 'transformer-lab[serve]'"
        ) from error
    c = model.config
    with torch.random.fork_rng():  # it draws weights that are overwritten at once
        theirs = MarianMTModel(marian_config(c)).eval()
    back = interleave(c.d_model).argsort()
    for ours, other, reads in matches(model, theirs):
        copy_weights(other, ours, back, reads=reads)
    theirs.final_logits_bias.copy_(model.output.bias[None])
    theirs.generation_config = GenerationConfig(
        bos_token_id=c.bos_id,
        decoder_start_token_id=c.bos_id,
        eos_token_id=c.eos_id,
        pad_token_id=c.pad_id,
        max_length=c.max_length,
        # Where padding starts the decoder, it is no word that could be written.
        bad_words_ids=[[c.pad_id]] if c.bos_id == c.pad_id else None,
    )
    return theirs


def marian_config(c: TransformerConfig) -> Any:
    """The same shape as a `MarianConfig`; a ValueError names the first field that it cannot have."""
    from transformers import MarianConfig

    for name, value in EXPECTED.items():
        check(name, getattr(c, name), f"{value!r}, as in MarianMT", getattr(c, name) == value)
    width = c.d_model / c.num_heads
    for name, size in (("d_k", c.key_size), ("d_v", c.value_size)):
        expected = f"d_model / num_heads = {width:g}, as in MarianMT"
        check(name, size, expected, size == width)
    return MarianConfig(
        vocab_size=c.source_vocab_size,
        decoder_vocab_size=c.target_vocab_size,
        share_encoder_decoder_embeddings=c.tie_source_target,
        tie_word_embeddings=True,
        d_model=c.d_model,
        encoder_layers=c.num_encoder_layers,
        decoder_layers=c.num_decoder_layers,
        encoder_attention_heads=c.num_heads,
        decoder_attention_heads=c.num_heads,
        encoder_ffn_dim=c.d_ff,
        decoder_ffn_dim=c.d_ff,
        activation_function=c.activation,
        dropout=c.dropout,
        attention_dropout=c.attention_dropout,
        activation_dropout=c.feed_forward_dropout,
        max_position_embeddings=c.max_length,
        scale_embedding=True,
        bos_token_id=c.bos_id,
        decoder_start_token_id=c.bos_id,
        pad_token_id=c.pad_id,
        eos_token_id=c.eos_id,
        forced_eos_token_id=None,  # a sentence that is cut has no end
    )


def tokenizer_files(translator: Translator) -> dict[str, bytes]:
    """The .spm files and vocab.json, or the two JSON files of tokenizers of our own."""
    both = (translator.source_tokenizer, translator.target_tokenizer)
    source, target = both
    if isinstance(source, SentencePieceTokenizer) and isinstance(target, SentencePieceTokenizer):
        check("vocabulary", "two lists", "one list of pieces", source.ids == target.ids)
        pieces = json.dumps(source.ids).encode()
        return {"source.spm": source.model, "target.spm": target.model, "vocab.json": pieces}
    known = (BPETokenizer, WordTokenizer)
    assert isinstance(source, known)
    assert isinstance(target, known)
    ours = {name: t.to_json().encode() for name, t in zip(OUR_TOKENIZERS, both, strict=True)}
    return ours | fast_files(source, target, translator.model.config)
