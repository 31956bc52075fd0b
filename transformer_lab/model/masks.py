"""Boolean attention masks, in which True means that a query may attend to a key (§3.2.3)."""

from typing import Any

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from transformer_lab.config import check, check_boolean, describe_type


def padding_mask(ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Return a mask that is True for words and False for padding.

    It hides padding as *keys* only. Padding positions still act as queries, but nothing reads their
    output vectors.
    """
    return (ids != pad_id)[:, None, None, :]


def length_mask(lengths: Int[Tensor, " batch"], key: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Return a mask that is True for the first `lengths[b]` keys of sentence b.

    Use it if the ids alone do not show which positions are padding. Some models, for example, start
    the decoder with the padding token itself.
    """
    steps = torch.arange(key, device=lengths.device)
    return (steps < lengths[:, None])[:, None, None, :]


def causal_mask(
    query: int, key: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "query key"]:
    """Return a lower-triangular mask, diagonal included: position i sees positions 0 to i (§3.2.3).

    If there are more keys than queries, the queries are the last positions, as in decoding with a
    cache.
    """
    key = query if key is None else key
    seen = torch.ones(query, key, dtype=torch.bool, device=device)
    return seen.tril(diagonal=key - query)


def mask_of_source(
    source: Int[Tensor, "batch source"], mask: Tensor | None, pad_id: int
) -> Bool[Tensor, "batch 1 1 source"]:
    """Return `mask` expanded to the batch size, or the source's padding mask if `mask` is None.

    Raises:
        ValueError: If `source` or `mask` has the wrong shape or dtype (see `check_source_mask`).
    """
    check_ids("source", source)
    if mask is None:
        return padding_mask(source, pad_id)
    check_source_mask(mask, source)
    return mask.expand(len(source), -1, -1, -1)


def check_ids(name: str, ids: Any) -> None:
    """Raise a ValueError unless `ids` is an int64 or int32 tensor of shape (batch, length)."""
    fits = isinstance(ids, Tensor) and ids.ndim == 2 and ids.dtype in (torch.int64, torch.int32)
    if not fits:
        found = describe_type(ids)
        if isinstance(ids, Tensor):
            found = f"a {ids.dtype} tensor of shape {tuple(ids.shape)}"
        expected = "an int64 or int32 tensor of shape (batch, length) with the ids of each sentence"
        raise ValueError(f"{name} is {found}; expected {expected}")


def check_source_mask(mask: Tensor | None, source: Int[Tensor, "batch source"]) -> None:
    """Raise a ValueError unless `mask` is None, or boolean with an allowed shape.

    The allowed shapes are (batch, 1, 1, source) and (1, 1, 1, source). A mask of shape (batch,
    source) is refused, because attention would treat it as (query, key) whenever the sizes happen
    to agree. `source` is checked by `check_ids`.
    """
    check_ids("source", source)
    if mask is None:
        return
    check_boolean(mask)
    shape, fits = tuple(mask.shape), (len(source), 1, 1, source.size(1))
    expected = f"(batch, 1, 1, source) = {fits}, as returned by padding_mask"
    check("source_mask.shape", shape, expected, shape in (fits, (1, *fits[1:])))


def padding_in_front(
    ids: Int[Tensor, "batch length"], mask: Bool[Tensor, "#batch 1 1 length"] | None, pad_id: int
) -> Int[Tensor, " batch"]:
    """Return the number of padding tokens before the first word of each sentence.

    A position counts as padding if its id is `pad_id` and the mask, if given, hides it.
    """
    padding = ids == pad_id
    if mask is not None:
        padding = padding & ~mask[:, 0, 0]
    return padding.cumprod(dim=1).sum(dim=1)


def roll_rows(
    x: Shaped[Tensor, "batch length ..."], steps: Int[Tensor, " batch"]
) -> Shaped[Tensor, "batch length ..."]:
    """Roll row i left by `steps[i]` positions; its first entries wrap around to the end."""
    batch, length = x.shape[:2]
    row, place = (torch.arange(n, device=x.device) for n in (batch, length))
    places = row[:, None] * length + (place + steps[:, None]) % max(length, 1)
    # Takes half as long as x[row, places], in the backward pass too, and every pass needs it.
    return x.flatten(0, 1).index_select(0, places.flatten()).view_as(x)
