"""The task and the models of lesson 15's third study."""

import pytest
import torch

from transformer_lab.model.later.variants import strided_mask
from transformer_lab.studies.a_word_far_away import distance
from transformer_lab.studies.a_word_far_away.distance import (
    BEST,
    DISTANCES,
    FIRST_NOISE,
    FIRST_PAIR,
    FIRST_QUESTION,
    FIRST_VALUE,
    GRID,
    KEYS,
    KINDS,
    LENGTH,
    NAME,
    RATES,
    SMALL,
    STRIDE,
    STRIDED,
    STRIDED_BEST,
    SYMBOLS,
    VALUES,
    WINDOW,
    draw_distances,
    draw_sequences,
    make_model,
)
from transformer_lab.studies.common import store


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(NAME)
    assert [run["setting"] for run in stored["runs"]] == [*SMALL, *GRID]
    assert stored["command"] == f"python -m {distance.__name__}"


def test_the_rates_are_those_that_were_best_with_the_sixth_seed():
    stored = store.load(NAME)["runs"]
    for kind, best in {**BEST, STRIDED: STRIDED_BEST}.items():
        tried = {
            r["setting"]["rate"]: (sum(r["result"]["right"]), -r["result"]["steps"])
            for r in stored
            if r["setting"].get("kind") == kind and r["setting"]["seed"] == 5
        }
        assert set(tried) == set(RATES)
        assert best == max(tried, key=tried.get)
    assert list(BEST) == list(KINDS)


def test_the_kinds_have_as_many_parameters():
    kinds = [*KINDS, STRIDED]
    sizes = [sum(p.numel() for p in make_model(kind, 0).parameters()) for kind in kinds]
    assert max(sizes) < 1.02 * min(sizes)


def test_strided_attention_has_a_fifth_of_the_scores_and_connects_all_in_two_layers():
    mask = strided_mask(LENGTH + 1, window=STRIDE, stride=STRIDE)
    assert 0.19 < mask.double().mean() < 0.2
    assert (mask.int() @ mask.int()).ne(0).all()


@pytest.mark.parametrize("pairs", [1, 3, KEYS])
def test_the_answer_stands_where_it_is_said_to(pairs):
    distances = torch.tensor([2, 3, 31, 97, LENGTH])
    ids, answers = draw_sequences(pairs, distances, generator())
    assert ids.shape == (5, LENGTH + 1)
    for row, far, answer in zip(ids.tolist(), distances.tolist(), answers.tolist(), strict=True):
        key = row[-1] - FIRST_QUESTION
        assert 0 <= key < KEYS
        pair = row[LENGTH - far] - FIRST_PAIR
        assert divmod(pair, VALUES) == (key, answer - FIRST_VALUE)
        found = [divmod(i - FIRST_PAIR, VALUES)[0] for i in row[:-1] if i < FIRST_NOISE]
        assert len(found) == len(set(found)) == pairs
        assert all(FIRST_NOISE <= i < FIRST_QUESTION for i in row[:-1] if i >= FIRST_NOISE)


def test_keys_values_and_places_are_drawn_evenly():
    ids, answers = draw_sequences(2, torch.full((4_000,), 29), generator(1))
    assert (torch.bincount(answers - FIRST_VALUE) / 4_000 - 1 / VALUES).abs().max() < 0.03
    assert (torch.bincount(ids[:, -1] - FIRST_QUESTION) / 4_000 - 1 / KEYS).abs().max() < 0.03
    others = (ids[:, :-1] < FIRST_NOISE).float().mean(dim=0)
    assert others[LENGTH - 29] == 1
    others[LENGTH - 29] = 1 / (LENGTH - 1)
    assert others.max() < 4 / LENGTH
    assert others.min() > 0


def test_distances_are_as_many_in_each_doubling():
    far = draw_distances(20_000, generator(2))
    assert (far.min(), far.max()) == (2, LENGTH)
    counts = [((far >= low) & (far < 2 * low)).sum().item() for low in (4, 8, 16, 32, 64)]
    assert max(counts) < 1.15 * min(counts)


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_lies_beyond_the_windows_cannot_be_seen(kind):
    model = make_model(kind, 1).double().eval()
    ids, _ = draw_sequences(1, torch.tensor([7]), generator(3))
    with torch.no_grad():
        before = model(ids)
        for far in DISTANCES:
            other = ids.clone()
            other[0, LENGTH - far] = FIRST_NOISE + (other[0, LENGTH - far] + 1) % 7
            moved = (model(other) - before).abs().max().item()
            beyond = kind == "local attention" and far > 2 * WINDOW
            assert (moved == 0) == beyond, (far, moved)


@torch.no_grad()
def test_an_lstm_with_attention_whose_query_is_silent_adds_the_mean_of_its_states():
    model = make_model("LSTM with attention", 2)
    torch.nn.init.zeros_(model.query.weight)
    ids, _ = draw_sequences(2, torch.tensor([5, 11, 170]), generator(4))
    states, _ = model.lstm(model.embedding(ids) * model.embedding.embedding_dim**0.5)
    expected = model.output(states[:, -1] + states.mean(dim=1))
    torch.testing.assert_close(model(ids), expected)


def test_what_is_right_is_counted_at_one_distance():
    class Knows(torch.nn.Module):
        """Reads the value of the pair that stands 8 before the question."""

        def forward(self, ids):
            value = (ids[:, LENGTH - 8] - FIRST_PAIR) % VALUES
            return torch.nn.functional.one_hot(FIRST_VALUE + value, SYMBOLS + VALUES).float()

    assert distance.answer_accuracy(Knows(), 1, 8, seed=0) == 1
    assert distance.answer_accuracy(Knows(), 1, 9, seed=0) < 0.4
