"""Import an OPUS-MT checkpoint, a real translation model, into our own `Transformer`.

The evidence notebook of lesson 16 uses it.

Such a model (Marian) is like the paper's, with some differences: one embedding matrix for both
languages and the output (§3.4), SiLU in the feed-forward network, an output bias, and a different
order of the sinusoids. Its decoder starts with the padding token, so masks are made from lengths
and not from ids.

Its translations may differ from those of Transformers' `generate` for four reasons:

- Length penalty. `generate` divides a log-probability by length^p, whereas the paper divides it by
  ((5 + length) / 6)^α (see `length_penalty`). From one token to ten, the first divisor grows
  from 1 to 10 for p = 1, and the second from 1 to 2.5 for α = 1. With p = α = 0, both are 1.
- Width. `generate` replaces a finished hypothesis with the next best one, as `beam_search` does
  with `narrow=False`. The option `early_stopping="never"` corresponds to our stopping rule.
- Padding. `generate` forbids the padding token after the softmax, so the other probabilities no
  longer sum to 1 unless you pass `renormalize_logits=True`. Here, the token has an output bias of
  −∞, because Marian itself has no such token.
- Sentences that do not end. If the model's settings have a `forced_eos_token_id`, `generate` writes
  an end token at its maximum length, whereas our search cuts the sentence off there without one.
"""

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_lab.config import (
    Activation,
    TransformerConfig,
    check,
    check_choice,
    check_dict,
    is_integer,
)
from transformer_lab.config.device import pick_device
from transformer_lab.data.sentence_pieces import (
    SPECIAL,
    SentencePieceTokenizer,
    import_sentencepiece,
)
from transformer_lab.data.tokenizer import UNK_ID, Tokenizer, load_tokenizer
from transformer_lab.formats.marian_layers import copy_weights, match_model
from transformer_lab.model import Transformer
from transformer_lab.model.positions import sinusoids
from transformer_lab.model.size import check_memory
from transformer_lab.model.skip_init import SkipInit
from transformer_lab.storage.files import NAME, expand_path
from transformer_lab.storage.folder import FORMAT
from transformer_lab.storage.tensors import (
    check_not_git_lfs_pointer,
    describe_unusable_numbers,
    weights_of,
)
from transformer_lab.translator import Translator

FILES = ("config.json", "source.spm", "target.spm", "vocab.json")
OUR_TOKENIZERS = ("source_tokenizer.json", "target_tokenizer.json")
"""The tokenizer files that `to_transformers` writes for a translator without SentencePiece."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""The name of the weight file, and that of the pickle in older checkpoints, which is rejected."""
INDEX = "model.safetensors.index.json"
"""The index of a checkpoint with several weight files, which maps each weight to its file."""
FLOATS = ("F64", "F32", "F16", "BF16")
"""The dtypes that saved weights may have, by their names in safetensors."""
UNUSED = "<unused {}>"
"""The placeholder name for an id without a token."""
MOST_POSITIONS = 65_536
MOST_LABELS = 10_000
CONVERSION = (
    "which can run arbitrary code when it is loaded; expected model.safetensors. If you trust the "
    "pickle, convert it once: python -c "
    """"from transformers import MarianMTModel as M; M.from_pretrained('{0}').save_pretrained('{0}')\""""
)
ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "silu": "silu",
    "swish": "silu",
}
HUB_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
"""The pattern of a model's name on the hub, OWNER/MODEL; a relative path may match it too."""
EXPECTED = {
    "model_type": "marian",
    "scale_embedding": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
    "tie_word_embeddings": True,
}
"""The values that some fields of config.json must have, if they are present.

Our model gives the same results only with these values.
"""


def load_marian(name_or_folder: str | Path, device: str = "auto") -> Translator:
    """Load an OPUS-MT checkpoint from a folder, or by a name such as "Helsinki-NLP/opus-mt-en-fr".

    A checkpoint given by name is fetched from Hugging Face's hub. If you cannot reach the hub, copy
    config.json, model.safetensors, source.spm, target.spm and vocab.json from the model's page into
    a folder, and pass the folder. `Translator.save` saves the translator in our own format.

    Weights are read only from safetensors, from one file or from several with an index. No code
    from a checkpoint is run: a pickle (pytorch_model.bin) is rejected, and the error shows a
    command that converts it. Added tokens become single tokens of our tokenizers. The model never
    writes an id that has no token.

    Raises:
        ValueError: If `transformers` or `sentencepiece` is not installed, a file is missing, or the
            checkpoint describes a model that this package cannot build; the message names the
            field.
    """
    try:
        import transformers  # noqa: F401
    except ImportError as error:
        raise ValueError(
            "transformers is not installed. Install it with pip install 'transformer-lab[marian]'"
        ) from error
    name, saved = str(name_or_folder), None
    folder = expand_path(name)
    if folder.is_dir():
        check_files(folder)
        # Each number takes at least two bytes.
        name, saved = str(folder), sum(f.stat().st_size for f in weight_files(folder)) // 2
        check_floats(folder)
    else:
        # A mistyped folder is not looked for on the hub, which would take half a minute.
        on_hub = HUB_NAME.fullmatch(name) is not None and not folder.parent.is_dir()
        expected = "an existing folder, or the name of a model such as 'Helsinki-NLP/opus-mt-en-fr'"
        check("name_or_folder", name, expected, on_hub)
    found = load_marian_config(name)
    check_config(found)
    config = config_from_marian(found)
    check_memory(Transformer, config, saved)
    theirs = load_marian_model(name)
    source, target = load_marian_tokenizers(name, config)
    unk_id = source.ids["<unk>"] if isinstance(source, SentencePieceTokenizer) else UNK_ID
    model = from_marian(theirs, unk_id)
    check_numbers(model)
    forbid_unused(model, target)
    return Translator(model.to(pick_device(device)), source, target, about={"checkpoint": name})


def load_marian_config(name: str) -> Any:
    """Load a checkpoint's config.json.

    Raises:
        ValueError: If the file is damaged, or is not a Marian configuration.
    """
    import transformers

    with raise_one_error("config.json", name):
        said, _ = transformers.MarianConfig.get_config_dict(name, trust_remote_code=False)
        kind, labels = said.get("model_type"), said.get("num_labels", 0)
    if said.get("format") == FORMAT:
        raise ValueError(
            f"{name} was saved by this package; load it with Translator.load({name!r})"
        )
    check("model_type", kind, "'marian'", kind == "marian")
    few = is_integer(labels) and 0 <= labels <= MOST_LABELS
    expected = (
        f"an integer from 0 to {MOST_LABELS:,}, because Transformers creates a name for each label"
    )
    check("num_labels", labels, expected, few)
    with raise_one_error("config.json", name):
        return transformers.MarianConfig.from_dict(said)


def load_marian_model(name: str) -> Any:
    """Load a checkpoint as Transformers' own model.

    Raises:
        ValueError: If weights cannot be read, if any are missing, or if there are extra layers.
    """
    import transformers

    with raise_one_error("weights", name):
        theirs, loading = transformers.MarianMTModel.from_pretrained(
            name,
            dtype=torch.float32,
            output_loading_info=True,
            use_safetensors=True,
            trust_remote_code=False,
        )
    if lacking := sorted(loading["missing_keys"]):
        raise ValueError(f"the checkpoint lacks the weight {lacking[0]}, which the model needs")
    if left := sorted(key for key in loading["unexpected_keys"] if ".layers." in key):
        raise ValueError(
            f"the checkpoint contains the weight {left[0]}, which the model does not use"
        )
    return theirs


def load_marian_tokenizers(name: str, config: TransformerConfig) -> tuple[Tokenizer, Tokenizer]:
    """Load both tokenizers: our own if the folder contains their files, else SentencePiece."""
    from transformers import MarianTokenizer

    ours = [Path(name) / file for file in OUR_TOKENIZERS]
    if all(file.is_file() for file in ours):
        return load_tokenizer(ours[0]), load_tokenizer(ours[1])
    import_sentencepiece()  # or Transformers would say what it lacks, and not how to get it
    with raise_one_error("the tokenizer files", name):
        found = MarianTokenizer.from_pretrained(name)
        both = [spm.serialized_model_proto() for spm in (found.spm_source, found.spm_target)]
        later = list(found.added_tokens_decoder.items())
    separate = found.separate_vocabs
    check(
        "separate_vocabs",
        separate,
        "False, because both languages must share one vocabulary",
        not separate,
    )
    added = {t.content: bool(t.special) for _, t in later if t.content not in SPECIAL}
    if odd := [t.content for _, t in later if t.content in added and has_space_rules(t)]:
        raise ValueError(
            f"added token {odd[0]!r} has lstrip, rstrip or single_word set; expected all three "
            "to be False"
        )
    check_dict("the JSON value in vocab.json", found.encoder)
    vocabulary = {**found.encoder, **{t.content: i for i, t in later if t.content in added}}
    sizes = (config.source_vocab_size, config.target_vocab_size)
    source, target = (
        SentencePieceTokenizer(spm, name_unused_ids(vocabulary, size), added)
        for spm, size in zip(both, sizes, strict=True)
    )
    return source, target


def check_numbers(model: Transformer) -> None:
    """Raise a ValueError for the first weight with NaN or infinity; the output bias may have −∞."""
    for weight, tensor in weights_of(model).items():
        if message := describe_unusable_numbers(weight, tensor):
            raise ValueError(message)


def has_space_rules(token: Any) -> bool:
    """Return whether an added token has rules for the spaces around it."""
    return bool(token.lstrip or token.rstrip or token.single_word)


def name_unused_ids(vocabulary: dict[str, int], size: int) -> dict[str, int]:
    """Return the vocabulary, with a placeholder name for each id below `size` that has no token.

    For speed, the number of embeddings is often rounded up to a multiple of 8 or 64, and the extra
    rows have no tokens.
    """
    unused = set(range(size)) - set(vocabulary.values())
    return vocabulary | {UNUSED.format(i): i for i in sorted(unused)}


def forbid_unused(model: Transformer, target: Tokenizer) -> None:
    """Give each id that has no token an output bias of −∞, so that the model never writes it."""
    if isinstance(target, SentencePieceTokenizer):
        unused = [i for i, piece in target.pieces.items() if piece == UNUSED.format(i)]
        with torch.no_grad():
            model.output.bias[unused] = -torch.inf


@contextmanager
def raise_one_error(what: str, name: str) -> Iterator[None]:
    """Turn any error from Transformers inside the block into a one-line ValueError.

    The progress bars and advice of Transformers are silenced.
    """
    try:
        with quiet_transformers():
            yield
    except Exception as error:  # Transformers and its dependencies have errors of their own
        if isinstance(error, OSError) and not Path(name).is_dir():
            reason = str(error).strip().splitlines()[0]
            expected = (
                "a folder, or the name of a model with safetensors weights on the Hugging Face Hub"
            )
            raise ValueError(
                f"name_or_folder is {name!r}; expected {expected}. Transformers says: {reason}"
            ) from error
        if "ignore_mismatched_sizes" in str(error):
            expected = "the shapes that config.json describes"
            text = f"some weights of {name!r} have the wrong shape; expected {expected}"
            raise ValueError(text) from error
        reason = shorten(" ".join(str(error).split()), 300, placeholder=" …")
        raise ValueError(f"{what} of {name!r} cannot be read: {reason or repr(error)}") from error


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence Transformers' progress bars and advice inside the block."""
    from transformers.utils import logging

    had_bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # what is wrong with a checkpoint is said in one line
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if had_bars:
                logging.enable_progress_bar()


def check_files(folder: Path) -> None:
    """Raise a ValueError if a checkpoint's files are missing or are Git LFS pointers."""
    ours = all((folder / name).is_file() for name in OUR_TOKENIZERS)
    needed = FILES[:1] if ours else FILES
    lacking = [name for name in needed if not (folder / name).is_file()]
    if not weight_files(folder):
        if (folder / WEIGHTS[1]).is_file():
            raise ValueError(f"{folder / WEIGHTS[1]} is a pickle, {CONVERSION.format(folder)}")
        lacking.append(WEIGHTS[0])
    check("folder", str(folder), f"a folder that contains {', '.join(lacking)}", not lacking)
    for file in (*(folder / name for name in needed), *weight_files(folder)):
        check_not_git_lfs_pointer(file)


def weight_files(folder: Path) -> list[Path]:
    """Return the weight files: a single file, those that the index lists, or an empty list.

    Raises:
        ValueError: If the index is damaged, or lists a file that is not in this folder.
    """
    whole, index = folder / WEIGHTS[0], folder / INDEX
    if whole.is_file() or not index.is_file():
        return [whole] if whole.is_file() else []
    try:
        names = sorted(
            {str(name) for name in json.loads(index.read_bytes())["weight_map"].values()}
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        expected = "a JSON object whose 'weight_map' names the file of each weight"
        raise ValueError(f"{index} is damaged; expected {expected}") from error
    for name in names:
        there = NAME.fullmatch(name) is not None and (folder / name).is_file()
        check(f"file name in {index}", name, "the name of a file in the same folder", there)
    return [folder / name for name in names]


def check_floats(folder: Path) -> None:
    """Raise a ValueError unless all weights are floats; Transformers would misread other types."""
    import safetensors

    for path in weight_files(folder):
        with raise_one_error(path.name, str(folder)), safetensors.safe_open(path, "pt") as file:
            kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
        for name, kind in kinds.items():
            check_choice(f"dtype of {name} in {path}", kind, FLOATS)


def check_config(found: Any) -> None:
    """Raise a ValueError for the first field of config.json whose value is not supported."""
    for name, value in EXPECTED.items():
        check(name, getattr(found, name, value), repr(value), getattr(found, name, value) == value)
    for name in ("attention_heads", "ffn_dim"):
        encoder, decoder = (getattr(found, f"{side}_{name}") for side in ("encoder", "decoder"))
        expected = f"{encoder!r}, the same as encoder_{name}"
        check(f"decoder_{name}", decoder, expected, decoder == encoder)
    check_choice("activation_function", found.activation_function, ACTIVATIONS)
    for name in ("pad_token_id", "eos_token_id", "decoder_start_token_id"):
        check(name, getattr(found, name), "a single id", isinstance(getattr(found, name), int))
    longest = found.max_position_embeddings
    expected = f"at most {MOST_POSITIONS:,}, because the positions are stored in a table"
    check("max_position_embeddings", longest, expected, longest <= MOST_POSITIONS)


def config_from_marian(c: Any, unk_id: int | None = None) -> TransformerConfig:
    """Convert Transformers' configuration of a Marian model to ours.

    Transformers' configuration lacks the id of `<unk>`, which only the tokenizer knows; without
    `unk_id`, a free id is used.

    Raises:
        ValueError: If the sizes are invalid.
    """
    special = {c.pad_token_id, c.decoder_start_token_id, c.eos_token_id}
    free = next(i for i in range(4) if i not in special)
    shared = c.share_encoder_decoder_embeddings
    return TransformerConfig(
        source_vocab_size=c.vocab_size,
        target_vocab_size=c.vocab_size if shared else c.decoder_vocab_size,
        tie_source_target=shared,
        d_model=c.d_model,
        d_ff=c.encoder_ffn_dim,
        num_heads=c.encoder_attention_heads,
        num_encoder_layers=c.encoder_layers,
        num_decoder_layers=c.decoder_layers,
        dropout=c.dropout,
        attention_dropout=c.attention_dropout,
        feed_forward_dropout=c.activation_dropout,
        activation=ACTIVATIONS[c.activation_function],
        max_length=c.max_position_embeddings,
        pad_id=c.pad_token_id,
        bos_id=c.decoder_start_token_id,
        eos_id=c.eos_token_id,
        unk_id=free if unk_id is None else unk_id,
    )


@torch.no_grad()
def from_marian(theirs: Any, unk_id: int) -> Transformer:
    """Build our model with a Marian model's weights, in evaluation mode.

    All logits equal those of the Marian model, with one exception: if the padding token starts the
    decoder, our model never writes that token.

    Feature j of our residual stream is feature `interleave(d_model)[j]` of theirs. Weights that
    read the stream have their columns reordered, and weights that write to it have their rows
    reordered. Inside a head or the feed-forward network, the order stays the same. LayerNorm treats
    all features alike, so the new order does not change its result.
    """
    config = config_from_marian(theirs.config, unk_id)
    with SkipInit():
        model, order = Transformer(config).eval(), interleave(config.d_model)
    for stack in (theirs.model.encoder, theirs.model.decoder):
        table = stack.embed_positions.weight[:, order]
        if not torch.allclose(table, sinusoids(*table.shape), atol=1e-3):
            raise ValueError(
                "embed_positions has the wrong values; expected sinusoids, with the sines first"
            )
    for ours, other, reads in match_model(model, theirs):
        copy_weights(ours, other, order, reads=reads)
    model.output.bias.copy_(theirs.final_logits_bias[0])
    if config.bos_id == config.pad_id:  # Marian has no such token; models from to_transformers may
        model.output.bias[config.pad_id] = -torch.inf
    return model


def interleave(d_model: int) -> Int[Tensor, " d_model"]:
    """Return, for each of our features, the index of the same feature in Marian's order.

    Marian's table of sinusoids is [all sines | all cosines], while ours follows the paper: sine,
    cosine, sine, cosine, … (§3.5). So `table[:, interleave(d_model)]` of Marian's table equals
    `sinusoids(length, d_model)`. For d_model = 6, the result is 0, 3, 1, 4, 2, 5.
    """
    order = torch.empty(d_model, dtype=torch.int64)
    sines = (d_model + 1) // 2
    order[0::2] = torch.arange(sines)
    order[1::2] = torch.arange(sines, d_model)
    return order
