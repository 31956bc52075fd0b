"""Checks for the exercise of lesson 10b on left padding: the next word's position and mask."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _find_next_positions(ids: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    seen = ids != pad_id
    own = torch.ones_like(seen[:, :1])
    return seen.sum(dim=1), torch.cat([seen, own], dim=1)[:, None, None, :]


def _work_out_places(ids: Tensor, pad_id: int, at: tuple) -> Iterator[Step]:
    row = ids[at[0]]
    positions, mask = _find_next_positions(ids, pad_id)
    yield f"row {at[0]} of ids", row
    yield f"whether each is a word (True) or {pad_id}, which is padding (False)", row != pad_id
    yield "how many are words, which is the position of the next one", positions[at[0]]
    yield "the row of the mask, with True for the new word at the end", mask[at[0], 0, 0]


_edit_positions = partial(edit_reference, _find_next_positions)


def _random_ids(chance: RandomValues) -> tuple:
    batch, length = chance.sizes(2)
    pad_id = chance.between(0, 9)
    return chance.padded(batch, length, 10, pad_id, in_front=True), pad_id


next_places = Check(
    reference=_find_next_positions,
    cases=lambda: [
        (torch.tensor([[0, 0, 5], [4, 6, 7]]), 0),
        (torch.tensor([[1, 1, 0, 2, 5], [1, 1, 1, 1, 3], [0, 2, 2, 0, 4]]), 1),
        (torch.tensor([[7, 7, 7, 7, 7, 7, 2], [7, 7, 1, 9, 0, 3, 8]]), 7),
        # The padding's id is below 0, and no word of the first sentence has been read yet.
        (torch.tensor([[-1, -1], [-1, 5], [3, 0], [-1, 2], [4, 4]]), -1),
    ],
    drawn=_random_ids,
    results=("the positions", "the mask"),
    working=_work_out_places,
    verified="each sentence's own count of words, and a mask that hides the padding in front",
    mistakes=[
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "torch.full_like(ids[:, 0], ids.size(1))")),
            "you use the length of the cache as the position, but it includes the padding. A "
            "sentence's positions should not change just because a longer sentence is in the "
            "batch.",
        ),
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "seen.sum(dim=1) - 1")),
            "this is the position of the last word that was read, but the new word comes after it.",
        ),
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "seen.sum(dim=1) + 1")),
            "this position is one too high, because positions are counted from 0.",
        ),
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "(ids == pad_id).sum(dim=1)")),
            "you count the padding. Count the words instead.",
        ),
        Mistake(
            _edit_positions(("torch.cat([seen, own], dim=1)", "seen")),
            "the mask has no column for the new word, but the new word should see itself. Add a "
            "column of True on the right.",
        ),
        Mistake(
            _edit_positions(("ones_like", "zeros_like")),
            "you hide the new word from itself. The mask's last column should be True.",
        ),
        Mistake(
            _edit_positions(("[seen, own]", "[own, seen]")),
            "you put the new word's column first, but it should be last, because its key comes "
            "after the cached ones.",
        ),
        Mistake(
            _edit_positions(("[seen, own]", "[~seen, own]")),
            'the mask is True for the padding, but True means "may be seen". It should be True for '
            "the words.",
        ),
        Mistake(
            _edit_positions(("torch.cat", "~torch.cat")),
            'the mask is inverted. True means "may be seen", so the mask should be True for words.',
        ),
        Mistake(
            _edit_positions(("[seen, own]", "[torch.ones_like(seen), own]")),
            "your mask hides nothing, but the padding has keys in the cache, and no word should "
            "see them.",
        ),
        Mistake(
            _edit_positions(
                ("torch.cat([seen, own], dim=1)", "torch.cat([seen, own], dim=1).flip(1)")
            ),
            "this mask hides the last keys, as you would for padding after the words. Here the "
            "padding comes before the words.",
        ),
        Mistake(
            _edit_positions(("[seen, own]", "[seen.flip(1), ~own]")),
            "this mask hides the new word and the keys just before it, as if the padding came "
            "after the words. Here the padding comes before the words.",
        ),
        Mistake(
            _edit_positions(("!= pad_id", "!= 0")),
            "0 is hard-coded, but padding is `pad_id`, which is a different number in some models.",
        ),
        Mistake(
            _edit_positions(("!=", ">")),
            "you also hide ids smaller than `pad_id`, but those are words. Compare each id and "
            "`pad_id` with `!=`.",
        ),
        Mistake(
            _edit_positions(("[:, None, None, :]", "")),
            "the mask's shape (batch, past + 1) does not broadcast to (batch, heads, query, key). "
            "Put two dimensions of size 1 in the middle.",
        ),
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "seen.cumsum(dim=1) - 1")),
            "these are the positions of the words that were read, but you should return the "
            "position of each sentence's new word.",
        ),
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "seen.sum(dim=1).max().expand(len(ids))")),
            "you give all sentences the position of the longest one, but each sentence should "
            "have its own position.",
        ),
        Mistake(
            _edit_positions(("seen.sum(dim=1)", "seen.sum()")),
            "you count the words of the whole batch together, but you should count them "
            "separately for each sentence.",
        ),
    ],
)
