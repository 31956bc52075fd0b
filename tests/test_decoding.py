"""Search and sampling against brute force, greedy against beam 1 and against drafts."""

import collections
import itertools
import math
import re
import sys

import numpy as np
import pytest
import torch

from tests.conftest import make_model
from tests.thorough import thorough_from
from transformer_lab.config.device import total_memory
from transformer_lab.data.batching import Example
from transformer_lab.decoding import (
    accept,
    beam_search,
    greedy,
    keep_top_k,
    keep_top_p,
    length_penalty,
    log_probabilities,
    sample,
    speculative_greedy,
)
from transformer_lab.decoding.beam import (
    bytes_per_hypothesis,
    order_in_place,
    split_keeping_width,
    split_narrowing,
)
from transformer_lab.decoding.sampling import next_word
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.masks import padding_mask
from transformer_lab.translator import PRETRAINED, Translator

WORDS, EOS = 5, 2


@pytest.fixture
def tiny():
    """A model over five words, with sharp opinions, and two sources of unequal length."""
    model = make_model(seed=3, target_vocab_size=WORDS, d_model=12, tie_target_output=False)
    with torch.no_grad():
        model.output.weight *= 3
    source = torch.tensor([[5, 9, 11, 7, 13, 6, 2], [8, 21, 4, 2, 0, 0, 0]])
    return model, source


def log_probability(model, source, ids):
    """One parallel pass over a whole hypothesis, without any cache."""
    target = torch.tensor([[1, *ids]])
    logits = model(source, target[:, :-1])[0].log_softmax(-1)
    return logits[range(len(ids)), list(ids)].sum().item()


def all_hypotheses(limit):
    """Every sentence that ends with eos within the limit, and every one cut there."""
    others = [w for w in range(WORDS) if w != EOS]
    for length in range(1, limit + 1):
        for words in itertools.product(others, repeat=length - 1):
            yield (*words, EOS)
    yield from itertools.product(others, repeat=limit)


@pytest.mark.slow
@pytest.mark.parametrize("limit", thorough_from(1, [3, 4]))
def test_a_wide_beam_finds_the_best_of_all_sentences(tiny, limit):
    model, source = tiny
    for row in source:
        row = row[row != 0][None]
        all_of_them = {ids: log_probability(model, row, ids) for ids in all_hypotheses(limit)}
        for alpha in (0.0, 0.6, 1.7):
            scored = {ids: p / length_penalty(len(ids), alpha) for ids, p in all_of_them.items()}
            best = max(scored, key=scored.__getitem__)
            beam = beam_search(model, row, beam_size=WORDS**limit, alpha=alpha, max_length=limit)[0]
            assert beam[0].ids == best
            assert beam[0].score == pytest.approx(scored[best], abs=1e-6)


def test_a_word_that_is_never_written_is_in_no_hypothesis(tiny):
    """Its bias is −∞, as that of Marian's padding; a wide beam has room for it, and leaves it out."""
    model, source = tiny
    with torch.no_grad():
        model.output.bias[3] = -math.inf
    limit = 3
    wanted = {ids for ids in all_hypotheses(limit) if 3 not in ids}
    size = WORDS**limit
    for found in beam_search(model, source, beam_size=size, n_best=size, max_length=limit):
        assert {one.ids for one in found} == wanted
        assert len(found) == len(wanted)


def test_a_decoder_of_one_layer_writes_word_by_word(tiny):
    _, source = tiny
    model = make_model(seed=1, num_decoder_layers=1, num_encoder_layers=1)
    for row, found in zip(source, greedy(model, source, max_length=5), strict=True):
        wanted = log_probability(model, row[row != 0][None], found.ids)
        assert found.log_probability == pytest.approx(wanted, abs=1e-5)


def test_beam_of_one_is_greedy(tiny):
    model, source = tiny
    for seed in range(5):
        model = make_model(seed=seed)
        one = beam_search(model, source, beam_size=1, max_length=11)
        for beam, hypothesis in zip(one, greedy(model, source, max_length=11), strict=True):
            assert beam[0].ids == hypothesis.ids
            assert beam[0].log_probability == pytest.approx(hypothesis.log_probability, abs=1e-5)


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_scores_are_the_models_own(tiny, alpha, narrow):
    model, source = tiny
    beams = beam_search(model, source, beam_size=4, alpha=alpha, max_length=7, narrow=narrow)
    for row, beam in zip(source, beams, strict=True):
        assert 1 <= len(beam) <= 4
        assert [h.score for h in beam] == sorted((h.score for h in beam), reverse=True)
        for h in beam:
            assert h.log_probability == pytest.approx(
                log_probability(model, row[None], h.ids), abs=1e-5
            )
            assert h.score == pytest.approx(h.log_probability / length_penalty(len(h.ids), alpha))


def test_a_place_that_ends_is_lost_to_one_beam_and_passed_on_in_the_other():
    ends = torch.tensor([[False, True, False, False, True], [True, False, False, True, False]])
    places = torch.tensor([[3], [1]])
    first, second = [0, 1, 0, 0, 0], [1, 0, 0, 0, 0]
    ended, on = split_narrowing(ends, places)
    assert ended.int().tolist() == [first, second]
    assert on.int().tolist() == [[1, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    ended, on = split_keeping_width(ends, places)
    assert ended.int().tolist() == [first, second]
    assert on.int().tolist() == [[1, 0, 1, 1, 0], [0, 1, 0, 0, 0]]


def test_who_goes_on_from_a_place_stays_there_where_it_can():
    for parents in itertools.product(range(5), repeat=5):
        parent = torch.tensor([parents])
        order = order_in_place(parent)[0].tolist()
        assert sorted(order) == [0, 1, 2, 3, 4]  # nobody is lost
        for place, candidate in enumerate(order):
            if place in parents:  # the best of those that go on from here
                assert candidate == parents.index(place)


def test_a_beam_that_keeps_its_width_may_find_what_a_narrowing_one_has_let_go(tiny):
    _, source = tiny
    model = make_model(seed=49, target_vocab_size=WORDS, tie_target_output=False)
    with torch.no_grad():
        model.output.weight *= 3
    found = [
        beam_search(model, source, beam_size=3, alpha=0.0, max_length=9, narrow=narrow)
        for narrow in (True, False)
    ]
    for slim, wide in zip(*found, strict=True):
        assert wide[0].score > slim[0].score + 0.1


@pytest.mark.parametrize("narrow", [True, False])
def test_the_n_best_of_a_wide_beam_are_the_n_best_of_all_sentences(tiny, narrow):
    model, source = tiny
    limit, width = 3, WORDS**3
    row = source[:1]
    scored = {
        ids: log_probability(model, row, ids) / length_penalty(len(ids), 0.6)
        for ids in all_hypotheses(limit)
    }
    ranked = sorted(scored, key=scored.__getitem__, reverse=True)
    for n in (1, 2, 8):
        found = beam_search(model, row, beam_size=width, n_best=n, max_length=limit, narrow=narrow)[
            0
        ]
        assert [h.ids for h in found[:n]] == ranked[:n]


@pytest.mark.parametrize("narrow", [True, False])
def test_all_of_a_beam_can_be_had(tiny, narrow):
    """Without `n_best` the search stops as soon as the first of them is sure."""
    model, source = tiny
    with torch.no_grad():
        model.output.bias[EOS] += 15
    for k in (2, 5, 8):
        for beam in beam_search(model, source, beam_size=k, n_best=k, max_length=11, narrow=narrow):
            assert len({h.ids for h in beam}) == k
    one = beam_search(model, source, beam_size=8, max_length=11, narrow=narrow)
    assert min(map(len, one)) < 8


def test_a_sentence_decodes_the_same_alone_and_in_a_batch(tiny):
    model, source = tiny
    beams = beam_search(model, source, beam_size=3, max_length=7)
    words = greedy(model, source, max_length=7)
    for number, row in enumerate(source):
        alone = row[row != 0][None]
        assert (
            beam_search(model, alone, beam_size=3, max_length=7)[0][0].ids == beams[number][0].ids
        )
        assert greedy(model, alone, max_length=7)[0].ids == words[number].ids


def test_greedy_takes_the_most_probable_word_of_an_uncached_pass(tiny):
    model, source = tiny
    ids = [1]
    for word in greedy(model, source[:1], max_length=7)[0].ids:
        logits = model(source[:1], torch.tensor([ids]))[0, -1]
        assert word == int(logits.argmax())
        ids.append(word)


def test_finished_sentences_leave_the_batch(tiny, monkeypatch):
    model, source = tiny
    rows = []

    def counting(model, last, cache):
        rows.append(len(last))
        return decode_step(model, last, cache)

    monkeypatch.setattr("transformer_lab.decoding.generate.decode_step", counting)
    lengths = [len(h.ids) for h in greedy(model, source.repeat(3, 1), max_length=9)]
    expected = [sum(n >= step for n in lengths) for step in range(1, max(lengths) + 1)]
    assert rows == expected


def search_to_the_end(model, source, beam_size, alpha, limit):
    """Beam search by uncached passes that never stops early: (finished, steps until it could)."""
    alive, finished, enough = [(0.0, ())], [], limit
    for length in range(1, limit + 1):
        target = torch.tensor([[1, *ids] for _, ids in alive])
        words = model(source.expand(len(alive), -1), target)[:, -1].log_softmax(-1)
        every = [
            (total + value, (*ids, word))
            for (total, ids), row in zip(alive, words.tolist(), strict=True)
            for word, value in enumerate(row)
        ]
        best = sorted(every, reverse=True)[: beam_size - len(finished)]
        ended = [c for c in best if c[1][-1] == EOS or length == limit]
        finished += [(value / length_penalty(length, alpha), ids) for value, ids in ended]
        alive = [c for c in best if c not in ended]
        # The most that a beginning can hope for: not one nat more lost, and the longest sentence.
        hope = max((value / length_penalty(limit, alpha) for value, _ in alive), default=-math.inf)
        if finished and max(finished)[0] >= hope:
            enough = min(enough, length)
        if not alive:
            break
    return finished, enough


@pytest.mark.slow
@pytest.mark.parametrize("alpha", thorough_from(1, [0.6, 2.0]))
def test_stopping_early_loses_nothing_and_saves_steps(alpha, monkeypatch):
    """As good as a search to the end, and no step more than it takes to be sure of that."""
    steps = []

    def counting(*arguments):
        steps.append(len(arguments[1]))
        return decode_step(*arguments)

    monkeypatch.setattr(sys.modules[beam_search.__module__], "decode_step", counting)
    source, limit, saved = torch.tensor([[5, 9, 11, 2]]), 13, 0
    for seed in range(12):
        model = make_model(seed=seed, target_vocab_size=WORDS, tie_target_output=False)
        with torch.no_grad():
            model.output.bias[EOS] += 1.5  # so that some sentences end soon
        finished, enough = search_to_the_end(model, source, 3, alpha, limit)
        steps.clear()
        (found,) = beam_search(model, source, beam_size=3, alpha=alpha, max_length=limit)
        assert found[0].ids == max(finished)[1]
        assert found[0].score == pytest.approx(max(finished)[0], abs=1e-5)
        assert len(steps) == enough
        saved += max(len(ids) for _, ids in finished) - enough
    assert saved > 0


def test_length_penalty_is_the_papers():
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(13, 0.6) == pytest.approx(3**0.6)
    assert length_penalty(13, 0.0) == 1


def test_a_larger_alpha_never_shortens_the_best_sentence():
    for seed in range(4):
        model = make_model(seed=seed, target_vocab_size=WORDS, tie_target_output=False)
        source = torch.tensor([[5, 9, 11, 2]])
        lengths = [
            len(beam_search(model, source, beam_size=WORDS**4, alpha=a, max_length=4)[0][0].ids)
            for a in (0.0, 0.6, 2.0)
        ]
        assert lengths == sorted(lengths)


def test_the_limit_cuts_and_the_default_is_fifty_more_than_the_source():
    model = make_model(target_vocab_size=WORDS, tie_target_output=False)
    with torch.no_grad():
        model.output.bias[EOS] = -1e4
    source = torch.tensor([[5, 9, 2]])
    assert len(greedy(model, source)[0].ids) == 53
    assert len(greedy(model, source, max_length=7)[0].ids) == 7
    assert len(beam_search(model, source, beam_size=2, max_length=7)[0][0].ids) == 7


def test_a_sentence_ends_where_the_table_of_learned_positions_does():
    changes = {"target_vocab_size": WORDS, "tie_target_output": False, "positions": "learned"}
    model, draft = (make_model(seed=s, max_length=n, **changes) for s, n in ((0, 11), (1, 7)))
    with torch.no_grad():
        model.output.bias[EOS] = -1e4
    source = torch.tensor([[5, 9, 2]])
    assert len(greedy(model, source)[0].ids) == 11
    assert len(greedy(model, source, max_length=23)[0].ids) == 11
    assert len(beam_search(model, source, beam_size=2)[0][0].ids) == 11
    found, _ = speculative_greedy(model, draft, source)
    assert found.ids == greedy(model, source, max_length=7)[0].ids


@pytest.mark.slow
@pytest.mark.parametrize(
    "search",
    [
        greedy,
        lambda model, source: [h[0] for h in beam_search(model, source, beam_size=2)],
        lambda model, source: sample(model, source, generator=seeded()),
    ],
    ids=["greedy", "beam", "sample"],
)
def test_each_sentence_has_its_own_limit(tiny, search):
    model, source = tiny
    with torch.no_grad():
        model.output.bias[EOS] = -1e4
    assert [len(h.ids) for h in search(model, source)] == [7 + 50, 4 + 50]
    assert [len(h.ids) for h in search(model, source.flip(0))] == [4 + 50, 7 + 50]


def test_a_mask_of_its_own_replaces_the_one_from_ids(tiny):
    model, source = tiny
    seen = padding_mask(source, 0)
    assert greedy(model, source, seen, max_length=7) == greedy(model, source, max_length=7)
    hidden = seen.clone()
    hidden[..., 1:] = False
    assert greedy(model, source, hidden, max_length=7) != greedy(model, source, max_length=7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beam_size": 0}, "beam_size is 0"),
        ({"beam_size": 2.5}, "beam_size is 2.5; expected an integer of at least 1"),
        ({"alpha": -0.5}, "alpha is -0.5"),
        ({"max_length": 7.5}, "max_length is 7.5; expected an integer of at least 1"),
        ({"max_length": True}, "max_length is True; expected an integer of at least 1"),
        ({"max_length": "7"}, "max_length is '7'; expected an integer of at least 1"),
        ({"beam_size": 3, "n_best": 4}, "n_best is 4; expected at most 3, because"),
        ({"n_best": 0}, "n_best is 0; expected an integer of at least 1"),
        (
            {"beam_size": 10**29},
            "beam_size is 1[0]*; expected at most .*, because no more fit into memory",
        ),
        ({"beam_size": True}, "beam_size is True; expected an integer of at least 1"),
        ({"beam_size": "4"}, "beam_size is '4'; expected an integer of at least 1"),
        ({"alpha": math.inf}, "alpha is inf; expected a finite number of at least 0"),
        (
            {"alpha": 400.0},
            r"alpha is 400.0; expected a smaller number, because the length penalty for \d+ words",
        ),
        ({"alpha": "0.6"}, "alpha is '0.6'; expected a finite number of at least 0"),
    ],
)
def test_bad_arguments_are_named(tiny, as_users_run_it, arguments, message):
    with pytest.raises(ValueError, match=message):
        beam_search(*tiny, **arguments)


def test_the_least_memory_of_a_beginning_is_that_of_its_first_words(tiny):
    model, source = tiny
    one = source[:1]
    cache = prefill(model, one, padding_mask(one, model.config.pad_id))
    for _ in range(2):  # the room for more words is made with the second
        logits, cache = decode_step(model, torch.tensor([3]), cache)
    pasts = [layer.words for layer in cache.layers]
    kept = sum(w.buffer.tensor.numel() for cache in pasts for w in (cache.key, cache.value))
    least = 4 * (2 * logits.numel() + kept)
    assert bytes_per_hypothesis(model.config) == least
    most = int(total_memory() // (len(source) * least))
    with pytest.raises(
        ValueError, match=f"expected at most {most:,}, because no more fit into memory"
    ):
        beam_search(model, source, beam_size=most + 1)


def test_numpys_integers_are_integers(tiny, as_users_run_it):
    model, source = tiny
    three, seven = np.int64(3), np.int32(7)
    assert beam_search(model, source, beam_size=three, max_length=seven) == beam_search(
        model, source, beam_size=3, max_length=7
    )
    assert greedy(model, source, max_length=seven) == greedy(model, source, max_length=7)
    drawn = [
        sample(model, source, generator=seeded(), top_k=k, max_length=seven) for k in (three, 3)
    ]
    assert drawn[0] == drawn[1]
    assert speculative_greedy(model, model, source[:1], ahead=three, max_length=seven)[1] > 0


@pytest.mark.parametrize("special", [{}, {"pad_id": 6, "bos_id": 6, "eos_id": 0}])
def test_a_given_translation_has_the_probability_of_an_uncached_pass_alone(special):
    """Also where the decoder starts with the padding token and 0 ends a sentence."""
    model = make_model(seed=3, **special)
    c = model.config
    with torch.no_grad():
        model.output.bias[c.pad_id] = -math.inf  # nobody writes it; its logarithm must not be seen
    pairs = [([5, 9, 11, 7], [8, 4]), ([21], [7, 9, 13, 5, 3]), ([8, 4, 22], [])]
    examples = [
        Example([*source, c.eos_id], [c.bos_id, *target, c.eos_id]) for source, target in pairs
    ]
    for example, found in zip(examples, log_probabilities(model, examples), strict=True):
        target = torch.tensor([example.target])
        mask = torch.ones(1, 1, 1, len(example.source), dtype=torch.bool)
        logits = model(torch.tensor([example.source]), target[:, :-1], mask)[0].log_softmax(-1)
        wanted = logits[range(len(example.target) - 1), example.target[1:]].sum()
        assert found == pytest.approx(wanted.item(), abs=1e-5)


def test_no_hypothesis_scores_above_zero(tiny):
    model, source = tiny
    scores = [h.score for beam in beam_search(model, source, max_length=7) for h in beam]
    assert all(-math.inf < s <= 0 for s in scores)


# ---------------------------------------------------------------- sampling


def logits_of(*probabilities):
    return torch.tensor(probabilities, dtype=torch.float64).log()


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("k", [1, 2, 5, 29, 37])
def test_top_k_keeps_the_k_largest_as_they_were(k):
    logits = torch.randn(3, 29, generator=seeded())
    kept = keep_top_k(logits, k)
    for row, given in zip(kept, logits, strict=True):
        stays = row.isfinite()
        assert stays.sum() == min(k, 29)
        assert torch.equal(row[stays], given[stays])
        assert k >= 29 or given[stays].min() > given[~stays].max()


@pytest.mark.parametrize("p", [0.05, 0.3, 0.61, 0.9, 0.999])
def test_top_p_keeps_the_smallest_set_that_reaches_p(p):
    logits = 2 * torch.randn(5, 7, generator=seeded(1), dtype=torch.float64)
    for row, given in zip(keep_top_p(logits, p), logits, strict=True):
        probabilities = given.softmax(-1)
        stays = row.isfinite()
        assert torch.equal(row[stays], given[stays])
        # Brute force: no smaller set reaches p, and of its size it is the most probable.
        size = next(
            size
            for size in range(1, 8)
            if max(probabilities[list(s)].sum() for s in itertools.combinations(range(7), size))
            >= p
        )
        assert stays.sum() == size
        assert probabilities[stays].sum() == pytest.approx(probabilities.topk(size).values.sum())


def test_top_p_of_one_changes_nothing():
    logits = 9 * torch.randn(3, 997, generator=seeded())
    assert logits.softmax(-1).cumsum(-1).max() >= 1  # so that rounding could cut the last words
    assert torch.equal(keep_top_p(logits, 1.0), logits)


def test_of_equal_words_top_p_keeps_as_many_as_it_needs():
    logits = logits_of([0.25, 0.25, 0.25, 0.25])
    assert keep_top_p(logits, 0.5).isfinite().sum() == 2
    assert keep_top_p(logits, 0.51).isfinite().sum() == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_sum_of_exactly_p_reaches_p_in_single_and_in_double_precision(dtype):
    """0.5 + 0.3 from a softmax is 0.8 in float32 and 0.7999999999999999 in float64."""
    logits = logits_of([0.3, 0.05, 0.5, 0.15]).to(dtype)
    assert keep_top_p(logits, 0.8).isfinite().tolist() == [[True, False, True, False]]
    assert keep_top_p(logits, 0.8001).isfinite().tolist() == [[True, False, True, True]]


def exact(model, source, limit, change=lambda logits: logits):
    """Every sentence up to the limit → its probability, word by word from uncached passes."""
    found = {}
    for ids in all_hypotheses(limit):
        logits = change(model(source, torch.tensor([[1, *ids]])[:, :-1])[0])
        found[ids] = logits.log_softmax(-1)[range(len(ids)), list(ids)].sum().exp().item()
    return found


@pytest.mark.parametrize(
    ("settings", "change"),
    thorough_from(
        2,
        [
            ({}, lambda logits: logits),
            (
                {"temperature": 0.6, "top_k": 4, "top_p": 0.8},
                lambda logits: keep_top_p(keep_top_k(logits / 0.6, 4), 0.8),
            ),
            ({"temperature": 1.7}, lambda logits: logits / 1.7),
            ({"top_k": 2}, lambda logits: keep_top_k(logits, 2)),
            ({"top_p": 0.7}, lambda logits: keep_top_p(logits, 0.7)),
        ],
    ),
    ids=["plain", "all three, in this order", "temperature", "top-k", "top-p"],
)
def test_sentences_are_drawn_as_often_as_they_are_probable(tiny, settings, change):
    model, source = tiny
    source, draws = source[:1], 4_000
    drawn = sample(model, source.expand(draws, -1), generator=seeded(5), max_length=2, **settings)
    counts = collections.Counter(h.ids for h in drawn)
    probabilities = exact(model, source, 2, change)
    assert sum(probabilities.values()) == pytest.approx(1)
    for ids, probability in probabilities.items():
        deviation = math.sqrt(probability * (1 - probability) / draws)
        assert abs(counts[ids] / draws - probability) <= 4.5 * deviation
    assert all(probabilities[ids] > 0 for ids in counts)


@pytest.mark.parametrize(
    "settings", thorough_from(1, [{"top_k": 1}, {"temperature": 1e-4}, {"top_p": 1e-9}])
)
def test_with_one_word_to_choose_from_sampling_is_greedy(settings):
    for seed in range(3):
        model = make_model(seed=seed)
        source = torch.tensor([[5, 9, 11, 7, 13, 6, 2], [8, 21, 4, 2, 0, 0, 0]])
        drawn = sample(model, source, generator=seeded(seed), max_length=11, **settings)
        for one, other in zip(drawn, greedy(model, source, max_length=11), strict=True):
            assert one.ids == other.ids
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-5)


def test_a_sample_has_the_models_own_probability_whatever_was_cut(tiny):
    model, source = tiny
    settings = {"temperature": 0.5, "top_k": 3, "top_p": 0.9, "max_length": 7}
    for row, h in zip(source, sample(model, source, generator=seeded(), **settings), strict=True):
        assert h.log_probability == pytest.approx(
            log_probability(model, row[None], h.ids), abs=1e-5
        )
        assert h.ids[-1] == EOS or len(h.ids) == 7
        assert EOS not in h.ids[:-1]


def test_equal_seeds_draw_equal_words(tiny):
    model, source = tiny
    many = source.repeat(11, 1)
    first, again, other = (
        sample(model, many, generator=seeded(seed), max_length=7) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_however_small_p_is_the_best_word_stays(dtype):
    logits = torch.tensor([[0.0, 2.0, 1.0], [5.0, 5.0, 5.0]], dtype=dtype)
    assert keep_top_p(logits, 3e-297).isfinite().sum(dim=-1).tolist() == [1, 1]
    assert torch.equal(keep_top_p(logits, 5e-324), keep_top_p(logits, 1e-3))


def test_a_temperature_may_be_a_large_integer_and_not_a_larger_one(as_users_run_it):
    logits = torch.tensor([[0.0, 2.0, 1.0]])
    assert 0 <= int(next_word(logits, seeded(), 2**64)) < 3
    with pytest.raises(ValueError, match="expected a finite number above 0"):
        next_word(logits, seeded(), 10**400)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-39, 1e-9])
def test_however_small_the_temperature_the_best_word_is_drawn(temperature, dtype):
    logits = 40 * torch.randn(31, 7, generator=seeded(), dtype=dtype)
    assert torch.equal(next_word(logits, seeded(), temperature), logits.argmax(dim=-1))
    equal = torch.tensor([[3.0, 90.0, 90.0]], dtype=dtype).expand(97, -1)
    assert set(next_word(equal, seeded(), temperature).tolist()) == {1, 2}


def test_an_endless_temperature_is_named_and_a_high_one_draws_all_words_alike():
    logits = torch.tensor([[0.0, 50.0, -50.0]]).expand(3_000, -1)
    counts = next_word(logits, seeded(), 1e30).bincount(minlength=3)
    assert (counts - 1_000).abs().max() < 4.5 * math.sqrt(3_000 * 2 / 9)
    for temperature in (math.inf, math.nan, -1.0, 0.0):
        with pytest.raises(ValueError, match="expected a finite number above 0"):
            next_word(logits, seeded(), temperature)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": 0.0}, "temperature is 0.0; expected a finite number above 0"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": "0.5"}, "temperature is '0.5'; expected a finite number above 0"),
        ({"top_k": 0}, "k is 0; expected an integer of at least 1"),
        ({"top_k": 2.5}, "k is 2.5; expected an integer of at least 1"),
        ({"top_p": 0.0}, "p is 0.0; expected a number above 0 and at most 1"),
        ({"top_p": 1.1}, "p is 1.1"),
        ({"top_p": "0.5"}, "p is '0.5'; expected a number above 0 and at most 1"),
    ],
)
def test_settings_that_leave_no_word_are_named(tiny, as_users_run_it, arguments, message):
    with pytest.raises(ValueError, match=message):
        sample(*tiny, generator=seeded(), max_length=3, **arguments)


# ---------------------------------------------------------------- speculative decoding


@pytest.mark.slow
@pytest.mark.parametrize("ahead", thorough_from(2, [1, 2, 3, 7]))
@pytest.mark.parametrize("limit", thorough_from(2, [5, 1, 11]))
def test_the_draft_never_changes_what_is_written(ahead, limit):
    """A stranger, the model itself, and the model with shaken weights: the same words from all."""
    source = torch.tensor([[5, 9, 11, 7, 13, 6, 2]])
    for seed in range(3):
        model = make_model(seed=seed)
        near = make_model(seed=seed)
        with torch.no_grad():
            for parameter in near.parameters():
                parameter += 0.02 * torch.randn_like(parameter)
        expected = greedy(model, source, max_length=limit)[0]
        for draft in (model, near, make_model(seed=99, d_model=18, num_decoder_layers=1)):
            found, passes = speculative_greedy(model, draft, source, ahead=ahead, max_length=limit)
            assert found.ids == expected.ids
            assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-5)
            assert math.ceil(len(found.ids) / (ahead + 1)) <= passes <= len(found.ids)


@pytest.mark.parametrize("limit", thorough_from(1, [7, 11]))
def test_padding_of_the_source_changes_nothing(limit):
    alone = torch.tensor([[8, 21, 4, 2]])
    padded = torch.tensor([[8, 21, 4, 2, 0, 0, 0]])
    for seed in range(3):
        model, draft = make_model(seed=seed), make_model(seed=99)
        expected = speculative_greedy(model, draft, alone, max_length=limit)
        found = speculative_greedy(model, draft, padded, max_length=limit)
        assert found[0].ids == expected[0].ids == greedy(model, alone, max_length=limit)[0].ids
        assert found[0].log_probability == pytest.approx(expected[0].log_probability, abs=1e-5)
        assert found[1] == expected[1]


@pytest.mark.parametrize("ahead", thorough_from(2, [2, 7, 1, 3]))
def test_a_model_that_drafts_for_itself_needs_the_fewest_passes(ahead):
    source = torch.tensor([[5, 9, 11, 2]])
    for seed in range(5):
        model = make_model(seed=seed, target_vocab_size=WORDS, tie_target_output=False)
        found, passes = speculative_greedy(model, model, source, ahead=ahead, max_length=13)
        assert passes == math.ceil(len(found.ids) / (ahead + 1))


def test_a_draft_that_is_always_wrong_costs_one_pass_a_word():
    model = make_model(seed=1)
    wrong = make_model(seed=1)
    wrong.output.weight = torch.nn.Parameter(-wrong.output.weight)  # was tied to the embedding
    with torch.no_grad():
        wrong.output.bias.neg_()
    source = torch.tensor([[5, 9, 11, 2]])
    found, passes = speculative_greedy(model, wrong, source, ahead=3, max_length=11)
    assert passes == len(found.ids)


def test_a_snapshot_drafts_for_the_finished_model():
    model = Translator.load(device="cpu").model.double()
    draft = Translator.load(weights="step_00500", device="cpu").model.double()
    translator = Translator.load_untrained(PRETRAINED)
    for text in ("the street was too wide", "the small cats sleep", "i see a red house"):
        source = torch.tensor([translator.encode(text)])
        found, passes = speculative_greedy(model, draft, source)
        assert found.ids == greedy(model, source)[0].ids
        assert passes < len(found.ids)


@pytest.mark.parametrize(
    ("proposed", "best", "written"),
    [
        ([5, 7, 9], [5, 7, 9, 4], [5, 7, 9, 4]),
        ([5, 7, 9], [5, 8, 9, 4], [5, 8]),
        ([5, 7, 9], [6, 7, 9, 4], [6]),
        ([], [6], [6]),
    ],
)
def test_what_agrees_is_written_and_one_word_more(proposed, best, written):
    assert accept(proposed, best) == written


def test_speculative_decoding_names_what_does_not_fit(as_users_run_it):
    model, source = make_model(), torch.tensor([[5, 9, 2]])
    for ahead in (0, 1.5):
        with pytest.raises(ValueError, match=f"ahead is {ahead}; expected an integer"):
            speculative_greedy(model, model, source, ahead=ahead)
    with pytest.raises(ValueError, match=r"source.shape is \(2, 3\); expected \(1, length\)"):
        speculative_greedy(model, model, source.expand(2, -1))


@pytest.mark.parametrize(
    ("name", "other", "ours"),
    [
        ("source_vocab_size", 31, 23),
        ("target_vocab_size", 31, 29),
        ("bos_id", 4, 1),
        ("eos_id", 5, 2),
    ],
)
def test_a_draft_of_other_words_is_named(name, other, ours):
    both = [ours, other]
    expected = re.escape(f"{name} of model and draft is {both}; expected two equal values")
    with pytest.raises(ValueError, match=expected):
        speculative_greedy(make_model(), make_model(**{name: other}), torch.tensor([[5, 9, 2]]))


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_a_batch_of_no_sentence_has_no_translation(search):
    assert search(make_model(), torch.zeros(0, 5, dtype=torch.int64)) == []
    assert log_probabilities(make_model(), []) == []
