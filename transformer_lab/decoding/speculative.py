"""Speculative greedy decoding: a small draft model guesses ahead, and a large model checks.

This is the method of Leviathan et al. 2023 and Chen et al. 2023, applied to greedy decoding. A
guess is accepted if the large model would have written the same word. One pass checks all guesses
of a round. The result is always the large model's own greedy translation; a good draft merely
reduces the number of passes.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab import config
from transformer_lab.config import check_positive_integer
from transformer_lab.decoding.hypothesis import Hypothesis, length_limits
from transformer_lab.model import Transformer
from transformer_lab.model.masks import mask_of_source


def accept(proposed: list[int], best: list[int]) -> list[int]:
    """Return the draft's words up to the first disagreement, plus one word of the large model.

    `best` holds the large model's word at each position of the draft and at the next position. The
    word that is added replaces the first wrong word of the draft, or follows the draft if none is
    wrong.
    """
    agreed = 0
    while agreed < len(proposed) and proposed[agreed] == best[agreed]:
        agreed += 1
    return [*proposed[:agreed], best[agreed]]


@torch.inference_mode()
def speculative_greedy(
    model: Transformer,
    draft: Transformer,
    source: Int[Tensor, "1 source"],
    source_mask: Bool[Tensor, "1 1 1 source"] | None = None,
    *,
    ahead: int = 4,
    max_length: int | None = None,
) -> tuple[Hypothesis, int]:
    """Return the greedy translation of one sentence, and how many passes the large decoder needed.

    In each round, `draft` proposes up to `ahead` words, and `model` checks them in one pass. Both
    run over all words so far without a cache, because the point is to count passes, not to be
    fast. The caller must make sure that equal ids mean equal words, because the models know only
    ids. Two words whose logits differ only by rounding may be ranked differently than in `greedy`,
    which adds its numbers in a different order.

    Raises:
        ValueError: If `ahead` is not an integer of at least 1, if `source` is not one sentence, or
            if the models have different vocabulary sizes, bos ids or eos ids.
    """
    ahead = check_positive_integer("ahead", ahead)
    source_mask = mask_of_source(source, source_mask, model.config.pad_id)
    config.check("source.shape", tuple(source.shape), "(1, length)", len(source) == 1)
    for name in ("source_vocab_size", "target_vocab_size", "bos_id", "eos_id"):
        both = [getattr(m.config, name) for m in (model, draft)]
        config.check(f"{name} of model and draft", both, "two equal values", both[0] == both[1])
    bos, eos = model.config.bos_id, model.config.eos_id
    limit = min(length_limits(m, source_mask, max_length)[0] for m in (model, draft))
    memory, draft_memory = model.encode(source, source_mask), draft.encode(source, source_mask)
    ids: list[int] = []
    total, passes = 0.0, 0
    while len(ids) < limit and eos not in ids:
        proposed: list[int] = []
        # One word of each round is the large model's own: the draft need not reach the limit.
        while len(proposed) < min(ahead, limit - len(ids) - 1) and eos not in proposed:
            logits = logits_after(draft, [bos, *ids, *proposed], draft_memory, source_mask)
            proposed.append(int(logits[-1].argmax()))
        logits = logits_after(model, [bos, *ids, *proposed], memory, source_mask)
        passes += 1
        values, best = logits[len(ids) :].log_softmax(dim=-1).max(dim=-1)  # (proposed + 1)
        written = accept(proposed, best.tolist())
        if eos in written:
            written = written[: written.index(eos) + 1]
        ids += written
        total += values[: len(written)].sum().item()
    return Hypothesis(tuple(ids), total, total), passes


def logits_after(
    model: Transformer,
    read: list[int],
    memory: Float[Tensor, "1 source d_model"],
    source_mask: Bool[Tensor, "1 1 1 source"],
) -> Float[Tensor, "read vocabulary"]:
    """Return the model's logits after each word in `read`, from one pass without a cache."""
    target = torch.tensor([read], device=memory.device)
    return model.output(model.decode(target, memory, source_mask))[0].float()
