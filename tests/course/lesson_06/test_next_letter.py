"""The text and the training of lesson 06's famous bug."""

import torch

from transformer_lab.course.lessons.lesson_06.next_letter import (
    LETTERS,
    NextLetter,
    text,
    trained_with,
)
from transformer_lab.model.masks import causal_mask


def test_every_second_letter_continues_from_two_places_back():
    torch.manual_seed(0)
    letters = text(997, 13)
    assert letters.shape == (997, 13)
    assert letters.min() == 0
    assert letters.max() == LETTERS - 1
    follows = (letters[:, 2:] == (letters[:, :-2] + 1) % LETTERS).double().mean().item()
    assert abs(follows - (0.5 + 0.5 / LETTERS)) < 0.02


def test_the_mask_says_who_sees_whom():
    torch.manual_seed(0)
    model, letters = NextLetter().eval(), text(3, 7)
    changed = letters.clone()
    changed[:, 5] = (letters[:, 5] + 1) % LETTERS
    mask = causal_mask(7)
    with torch.no_grad():
        moved = (model(letters, mask) - model(changed, mask)).abs().amax(dim=(0, 2)) > 1e-6
    assert moved.tolist() == [False] * 5 + [True] * 2


def test_training_moves_the_weights_and_is_the_same_each_time():
    (one, share), (other, again) = (trained_with(causal_mask(5), steps=3) for _ in range(2))
    assert share == again
    assert 0 <= share <= 1
    pairs = list(zip(one.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in pairs)
    torch.manual_seed(0)
    fresh = NextLetter()
    assert not torch.equal(fresh.output.weight, one.output.weight)
