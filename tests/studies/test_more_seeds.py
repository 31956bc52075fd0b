"""The small training runs of lessons 03 and 05 with more seeds: what is stored, and what is removed."""

import torch

from transformer_lab.studies.common import store
from transformer_lab.studies.more_seeds.more_seeds import (
    GRID,
    NAME,
    SEEDS,
    SMALL,
    WANTED,
    Nothing,
    build_without,
    draw_queries,
)


def test_what_is_stored_is_the_whole_grid_and_no_seed_7():
    stored = store.load(NAME)["runs"]
    assert [run["setting"] for run in stored] == [*SMALL, *GRID]
    assert all(run["setting"]["seed"] != 7 for run in stored)
    assert len(SEEDS) == 30


def test_a_part_is_missing_where_it_was_taken_away():
    layers = {part: build_without(part).encoder.layers[0] for part in ("nothing", "attention")}
    assert not any(isinstance(part, Nothing) for part in layers["nothing"].modules())
    assert isinstance(layers["attention"].self_attention, Nothing)
    x = torch.randn(2, 3, 4)
    assert torch.equal(Nothing()(x, x), torch.zeros_like(x))


def test_a_query_asks_for_the_numbers_of_the_words_that_it_names():
    question, words, answer = draw_queries(torch.Generator().manual_seed(0), size=3)
    asked = question[0].reshape(4, 16)
    found = asked @ words[0, :, :16].T @ words[0, :, 16:]
    assert torch.allclose(found.flatten(), answer[0])


def test_what_is_wanted_is_a_digit_again():
    before, own = torch.tensor([4, 13, 9]), torch.tensor([5, 13, 9])
    assert WANTED["sum"](before, own).tolist() == [5, 12, 4]
    assert WANTED["letter before"](before, own).tolist() == [4, 13, 9]
