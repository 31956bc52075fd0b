"""Which query may see which key: boolean masks, True = may attend (§3.2.3)."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padding_mask(ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """True at every key that is a word and not padding.

    It hides *keys*. What a padding position does as a query changes nothing
    that anybody reads.
    """
    return (ids != pad_id)[:, None, None, :]


def length_mask(lengths: Int[Tensor, " batch"], key: int) -> Bool[Tensor, "batch 1 1 key"]:
    """True at the first `lengths[b]` keys of sentence b, for ids that cannot tell.

    Some models start their decoder with the padding token itself; there only
    the length says what is padding.
    """
    steps = torch.arange(key, device=lengths.device)
    return (steps < lengths[:, None])[:, None, None, :]


def causal_mask(
    query: int, key: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "query key"]:
    """Lower-triangular, diagonal included: position i sees positions 0 to i (§3.2.3).

    With more keys than queries the queries are the last ones, as in decoding
    with a cache.
    """
    key = query if key is None else key
    seen = torch.ones(query, key, dtype=torch.bool, device=device)
    return seen.tril(diagonal=key - query)
