"""Train a small checkpoint in OPUS-MT's format with the Transformers library.

The tests and the evidence notebook of lesson 16 load it.
"""

import io
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece
import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from transformer_lab.data.batching import pad
from transformer_lab.data.pair import SentencePair
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer
from transformer_lab.formats.marian import quiet_transformers
from transformer_lab.model.masks import length_mask


def make_marian_checkpoint(
    folder: Path,
    pairs: Sequence[SentencePair],
    *,
    d_model: int = 64,
    num_heads: int = 4,
    d_ff: int = 128,
    num_encoder_layers: int = 2,
    num_decoder_layers: int = 2,
    vocab_size: int = 300,
    steps: int = 200,
    batch_size: int = 16,
    rate: float = 3e-3,
    seed: int = 0,
) -> Path:
    """Train a small MarianMT model, and write it to `folder` as an OPUS-MT checkpoint.

    The files include config.json, model.safetensors, source.spm, target.spm and vocab.json.

    The SentencePiece model of each language has at most `vocab_size` pieces; the checkpoint's
    vocabulary is the union of both. Like real models, this one has an output bias, which holds
    random numbers here. The state of PyTorch's global generator is restored afterwards.
    """
    folder.mkdir(parents=True, exist_ok=True)
    spm = [train_pieces((p.source for p in pairs), vocab_size)]
    spm.append(train_pieces((p.target for p in pairs), vocab_size))
    pieces = {piece: None for model in spm for piece in list_pieces(model)}
    vocabulary = {p: i for i, p in enumerate(["</s>", "<unk>", *pieces, "<pad>"])}
    for name, model in zip(("source.spm", "target.spm"), spm, strict=True):
        (folder / name).write_bytes(model)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")

    last = len(vocabulary) - 1
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=d_model,
        encoder_layers=num_encoder_layers,
        decoder_layers=num_decoder_layers,
        encoder_attention_heads=num_heads,
        decoder_attention_heads=num_heads,
        encoder_ffn_dim=d_ff,
        decoder_ffn_dim=d_ff,
        activation_function="swish",
        scale_embedding=True,
        max_position_embeddings=128,
        init_std=d_model**-0.5,
        pad_token_id=last,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=last,
        bad_words_ids=[[last]],
    )
    source, target = (SentencePieceTokenizer(model, vocabulary) for model in spm)
    examples = [([*source.encode(p.source), 0], [*target.encode(p.target), 0]) for p in pairs]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MarianMTModel(config)
        model.final_logits_bias.normal_(std=0.3)
        train(model, examples, steps, batch_size, rate, seed)
    with quiet_transformers():
        model.save_pretrained(folder)
    return folder


def train_pieces(texts: Iterable[str], vocab_size: int) -> bytes:
    """Train a SentencePiece model on these texts, and return the bytes of its file."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def list_pieces(model: bytes) -> list[str]:
    """List the pieces of a SentencePiece model without its special tokens."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    numbers = range(processor.vocab_size())
    return [
        processor.id_to_piece(i)
        for i in numbers
        if not processor.is_control(i) and not processor.is_unknown(i)
    ]


def train(
    model: MarianMTModel,
    examples: Sequence[tuple[list[int], list[int]]],
    steps: int,
    batch_size: int,
    rate: float,
    seed: int,
) -> None:
    """Train the model on random batches with Adam, at a constant learning rate."""
    draw, padding = random.Random(seed), model.config.pad_token_id
    adam = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    for _ in range(steps):
        batch = draw.sample(examples, min(batch_size, len(examples)))
        source = pad([s for s, _ in batch], padding)
        labels: Tensor = pad([t for _, t in batch], -100)
        lengths = torch.tensor([len(s) for s, _ in batch])
        seen = length_mask(lengths, source.size(1))[:, 0, 0]  # (batch, source)
        loss = model(input_ids=source, attention_mask=seen.long(), labels=labels).loss
        loss.backward()
        adam.step()
        adam.zero_grad()
    model.eval()
