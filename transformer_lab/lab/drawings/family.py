"""A drawing of three architectures: what BERT and GPT drop from Figure 1, and their masks."""

from collections.abc import Sequence

import numpy as np

from transformer_lab.config import check, check_count
from transformer_lab.figures.architecture import DECODER, ENCODER
from transformer_lab.lab.page.drawing import Drawing

HEAD = ("output", "softmax")
WITHOUT_HEAD = {name: text for name, text in DECODER.items() if name not in HEAD}
DROPPED = {
    "encoder-decoder": (),
    "encoder only: BERT": tuple(WITHOUT_HEAD),
    "decoder only: GPT": (*ENCODER, "decoder.cross_attention", "decoder.add_norm_2"),
}
"""The boxes of Figure 1 that each family leaves out."""


def three_architectures(
    source: Sequence[str], target: Sequence[str], *, pad: str = "<pad>", row: int = 1
) -> Drawing:
    """Draw the paper's model (§3.1), BERT and GPT with their masks; missing boxes are crossed out.

        three_architectures(["the", "cat", "sat", "<pad>"], ["<bos>", "le", "chat"])

    Args:
        source: The words that the encoder reads; BERT reads the same ones.
        target: The words that the decoder has read. GPT reads `source` instead, and continues it.
        pad: The padding token, which nothing may attend to.
        row: The index of the word that is highlighted at first.

    Raises:
        ValueError: If a side does not have 1 to 8 words, or the row does not exist.
    """
    for name, given in (("source", source), ("target", target)):
        check_count(name, len(given), "word", "1 to 8", 1 <= len(given) <= 8)
    expected = f"at least 0 and below {len(source)}, the number of source words"
    check("row", row, expected, 0 <= row < len(source))
    all_seen = padding_mask(source, source, pad)
    # GPT needs no mask for padding, which stands at the end, where no word sees it.
    causal = np.tril(np.ones_like(all_seen))
    masks = {
        "encoder-decoder": [
            mask_data("encoder", source, source, all_seen),
            mask_data("decoder", target, target, np.tril(padding_mask(target, target, pad))),
            mask_data("cross-attention", target, source, padding_mask(target, source, pad)),
        ],
        "encoder only: BERT": [mask_data("self-attention", source, source, all_seen)],
        "decoder only: GPT": [mask_data("self-attention", source, source, causal)],
    }
    inputs = {
        "encoder-decoder": {"encoder": "source words", "decoder": "target words, shifted right"},
        "encoder only: BERT": {"encoder": "words, some of them hidden"},
        "decoder only: GPT": {"decoder": "the words so far"},
    }
    data = {
        "boxes": {"encoder": list(ENCODER.items()), "decoder": list(WITHOUT_HEAD.items())},
        "head": [(name, DECODER[name]) for name in HEAD],
        "families": [
            {
                "name": name,
                "dropped": gone,
                "inputs": inputs[name],
                "masks": masks[name],
                "head": head_column(gone),
            }
            for name, gone in DROPPED.items()
        ],
        "row": row,
    }
    kept = {name: len(ENCODER) + len(DECODER) - len(gone) for name, gone in DROPPED.items()}
    alt = (
        f"Figure 1 three times: the paper's model with {kept['encoder-decoder']} boxes; BERT, which "
        f"drops the decoder and keeps {kept['encoder only: BERT']}; GPT, which drops the encoder and "
        f"cross-attention and keeps {kept['decoder only: GPT']}. In BERT each word sees all words "
        f"but padding, in GPT itself and those before it."
    )
    return Drawing("family", data, alt, step=0)


def head_column(gone: Sequence[str]) -> str:
    """Return the column in which Linear and Softmax are drawn, "decoder" or "encoder".

    It is "encoder" only if `gone` includes all boxes of the decoder.
    """
    return "encoder" if set(WITHOUT_HEAD) <= set(gone) else "decoder"


def padding_mask(queries: Sequence[str], keys: Sequence[str], pad: str) -> np.ndarray:
    """Return a mask (query, key) that is False where the key is padding."""
    return np.tile([key != pad for key in keys], (len(queries), 1))


def mask_data(name: str, rows: Sequence[str], columns: Sequence[str], may: np.ndarray) -> dict:
    """Return a mask as the page reads it: True means "may attend"."""
    return {"name": name, "rows": list(rows), "columns": list(columns), "seen": may.tolist()}
