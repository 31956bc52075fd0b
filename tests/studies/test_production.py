"""Lesson 18's studies: each measure against a plain loop, and what is stored against its grid."""

import numpy as np
import pytest
import torch

from transformer_lab.attention.capture import attention_cores, capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.config import TransformerConfig
from transformer_lab.data.world.grammar import world
from transformer_lab.evaluation.alignments import align_words, split_words
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model.build import build_model
from transformer_lab.model.masks import length_mask
from transformer_lab.studies.common import store
from transformer_lab.studies.common.intervals import clustered_mean_interval
from transformer_lab.studies.finding_the_noun import relation_scores
from transformer_lab.studies.production_translators import (
    carry,
    gender,
    head_replacement,
    heads,
    map_properties,
    muting,
)
from transformer_lab.studies.production_translators.hand_marked import HAND_MARKED
from transformer_lab.studies.production_translators.texts import (
    find_word_numbers,
    merge_pieces,
    shuffle_words,
)
from transformer_lab.translator import Translator


@pytest.mark.parametrize("study", [heads, muting, carry, gender])
def test_what_is_stored_is_the_whole_grid(study):
    stored = store.load(study.NAME)
    assert [run["setting"] for run in stored["runs"]] == study.GRID
    assert stored["command"] == f"python -m {study.__name__}"


# ---------------------------------------------------------------- words, pieces, alignments


def test_words_keep_their_apostrophe_and_signs_stand_alone():
    text = "It doesn't fit, l’homme said (no)."
    assert split_words(text) == [
        "It",
        "doesn't",
        "fit",
        ",",
        "l’homme",
        "said",
        "(",
        "no",
        ")",
        ".",
    ]


def test_pieces_find_their_words_and_the_end_has_none():
    pieces = (" The", " tro", "phy", " doesn", "'", "t", " fit", ".", "</s>")
    words = ("The", "trophy", "doesn't", "fit", ".")
    assert find_word_numbers(pieces, words).tolist() == [0, 1, 1, 2, 2, 2, 3, 4, -1]
    assert find_word_numbers((" The", " other"), ("The", "trophy")) is None


def test_between_words_columns_are_added_and_rows_averaged():
    rng = np.random.default_rng(0)
    queries, keys = np.array([0, 0, 1, 2, -1]), np.array([0, 1, 1, 1, 2, 3, -1])
    weights = rng.dirichlet(np.ones(7), size=(3, 5))  # (head, query, key)
    found = merge_pieces(weights, (queries, 3), (keys, 4))
    for head in range(3):
        for row, query in enumerate((0, 1, 2, -1)):
            for column, key in enumerate((0, 1, 2, 3, -1)):
                pieces = [
                    weights[head, i, keys == key].sum() for i in np.flatnonzero(queries == query)
                ]
                assert found[head, row, column] == pytest.approx(np.mean(pieces))
    np.testing.assert_allclose(found.sum(axis=-1), 1)


def test_shuffling_keeps_the_words_and_the_last_sign():
    text = "The old program on my machine prints strange numbers."
    mixed = shuffle_words(text, 3)
    assert mixed != text
    assert mixed.split()[-1] == "."
    assert sorted(split_words(mixed)) == sorted(split_words(text))


def test_the_aligner_finds_a_dictionary_in_another_order():
    rng = np.random.default_rng(0)
    sentences = [[f"s{word}" for word in rng.choice(13, 5, replace=False)] for _ in range(211)]
    turned = [[f"t{word[1:]}" for word in (b, a, *rest)] for a, b, *rest in sentences]
    for links in align_words(list(zip(sentences, turned, strict=True))):
        assert links == ((0, 1), (1, 0), (2, 2), (3, 3), (4, 4))


@pytest.mark.slow
def test_nearly_all_its_links_are_right_where_the_truth_is_known():
    pairs = world(4_000, seed=2).train
    found = align_words([(pair.source_tokens, pair.target_tokens) for pair in pairs])
    right = sum(len({*f} & {*p.alignment}) for f, p in zip(found, pairs, strict=True))
    assert right / sum(map(len, found)) > 0.95


def test_sentences_marked_by_hand_name_words_that_they_have():
    assert len(HAND_MARKED) == 52
    for sentence in HAND_MARKED:
        assert list(sentence.words) == split_words(sentence.text)
        places = {place for links in sentence.links.values() for link in links for place in link}
        assert places <= set(range(len(sentence.words)))


# ---------------------------------------------------------------- heads against offsets


def test_head_and_offset_are_chosen_on_one_half_and_measured_on_the_other():
    sentence = np.repeat(np.arange(20), 3)
    right = np.zeros((60, 2, 5), dtype=bool)
    right[sentence % 2 == 0, 1, 3] = (
        True  # the best by far on the even sentences, of no use on the odd
    )
    right[sentence % 2 == 1, 0, 2] = True
    offsets = np.zeros((60, len(relation_scores.OFFSETS)), dtype=bool)
    offsets[::3, 7] = True
    found = relation_scores.compare_with_offset(sentence, right, offsets)
    assert (found["head"], found["right"]) == ([1, 3], 0.0)
    assert (found["offset"], found["by offset"]) == (1, pytest.approx(1 / 3, abs=1e-3))
    assert found["better"] == [pytest.approx(-1 / 3, abs=1e-3)] * 2
    assert found["all"][0][2] == 0.5


def test_links_of_a_sentence_are_drawn_together():
    values, sentence = np.array([1.0] * 50 + [0.0] * 50), np.repeat([0, 1], 50)
    assert clustered_mean_interval(values, sentence) == (0.0, 1.0)


# ---------------------------------------------------------------- muting


@pytest.fixture
def model():
    torch.manual_seed(0)
    sizes = {"d_model": 30, "d_ff": 11, "num_heads": 3, "tie_source_target": False}
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 1}
    return build_model(
        TransformerConfig(source_vocab_size=17, target_vocab_size=19, **sizes, **layers)
    ).eval()


def read(model):
    source, target = torch.randint(4, 17, (2, 7)), torch.randint(4, 19, (2, 5))
    mask = length_mask(torch.tensor([7, 5]), 7)
    with torch.no_grad():
        return lambda: model(source, target, mask)


def test_replaced_by_zero_is_what_capture_mutes(model):
    forward, core = read(model), attention_cores(model)["encoder"][1]
    with use_hooks({core: head_replacement.ReplaceHeads([0, 2])}):
        ours = forward()
    with capture_attention(model, mute=[Head("encoder", 1, 0), Head("encoder", 1, 2)]):
        theirs = forward()
    torch.testing.assert_close(ours, theirs)
    assert not torch.allclose(ours, forward())


def test_a_direction_is_as_long_as_the_head_was_and_the_others_stay():
    heads_out = torch.randn(2, 3, 5, 7)
    found = head_replacement.ReplaceHeads([1], head_replacement.make_direction(3)).replace(
        heads_out
    )
    torch.testing.assert_close(found[:, 1].norm(dim=-1), heads_out[:, 1].norm(dim=-1))
    assert torch.equal(found[:, [0, 2]], heads_out[:, [0, 2]])
    one_way = found[:, 1] / found[:, 1].norm(dim=-1, keepdim=True)
    torch.testing.assert_close(one_way, one_way[:1, :1].expand_as(one_way))
    assert torch.equal(
        found,
        head_replacement.ReplaceHeads([1], head_replacement.make_direction(3)).replace(heads_out),
    )


def test_the_mean_output_is_that_of_all_words_together():
    translator = Translator.load(device="cpu")
    texts = ["the cat sleeps", "a tall woman reads the old book"]
    found = head_replacement.mean_head_outputs(translator, texts)
    means = {place: [] for place in found}
    core = attention_cores(translator.model)["encoder"][1]

    for text in texts:
        with use_hooks({core: Hook(output=means["encoder", 1].append)}):
            translator.translate(text, beam_size=1)
    expected = torch.cat(means["encoder", 1], dim=2)[0].mean(dim=1)
    torch.testing.assert_close(found["encoder", 1], expected)
    assert len(found) == 6


def test_a_rank_interval_holds_its_correlation_and_shrinks():
    low, high = map_properties.rank_interval(0.6, 11)
    assert low < 0.6 < high
    assert map_properties.rank_interval(0.6, 41)[0] > low
    # By hand, for r = 0: 1.96 / sqrt(n - 3) behind the hyperbolic tangent.
    assert map_properties.rank_interval(0.0, 19)[1] == pytest.approx(np.tanh(0.49))


def test_heads_of_the_encoder_go_first():
    kinds = [head.kind for head in muting.order_heads("toy", "encoder", seed=2)]
    assert kinds[:8] == ["encoder"] * 8
    assert set(kinds[8:]) == {"decoder", "cross"}


def test_ranks_share_ties():
    a, b = [1.0, 2.0, 2.0, 5.0], [3.0, 1.0, 4.0, 9.0]
    ranks_a, ranks_b = [1, 2.5, 2.5, 4], [2, 1, 3, 4]
    assert map_properties.rank_correlation(a, b) == pytest.approx(
        np.corrcoef(ranks_a, ranks_b)[0, 1]
    )
    assert map_properties.rank_correlation(a, [x**3 for x in a]) == pytest.approx(1)


def test_a_text_is_like_itself():
    assert muting.sentence_chrfs(["um gato"], ["um gato"]).tolist() == [100.0]
    assert muting.sentence_chrfs(["um gato"], ["xyz"])[0] < 5


@pytest.mark.parametrize("order", muting.ORDERS)
def test_each_order_has_every_head_once(order):
    found = muting.order_heads("toy", order, seed=1)
    assert len(found) == len(set(found)) == 24


# ---------------------------------------------------------------- what is carried along


def test_half_lives_of_known_gates():
    gates = torch.tensor([[0.5, 0.25, 0.5**0.1], [0.5, 0.25, 0.5**0.1]]).log()
    assert carry.half_lives(gates) == [0.5, 1.0, 10.0]


@pytest.mark.thorough(
    caught_by=[
        "tests/training/test_trainer.py::test_a_run_repeats_to_the_bit_and_another_seed_does_not"
    ]
)
@pytest.mark.slow
def test_two_symbols_are_learnt_by_both_kinds_and_a_run_is_repeated_to_the_bit():
    for kind in carry.KINDS:
        first = carry.train_to_repeat(2, kind, 200, 0)
        assert first > 0.2  # a guess is right in a tenth
        assert first == carry.train_to_repeat(2, kind, 200, 0)


def test_heads_of_any_translator_are_scored_as_aligners():
    """On sentences of which each word is one token, the scores can be counted by hand."""
    translator = Translator.load(device="cpu")
    pairs = [p for p in world(train=7, seed=0).test[:60] if "'" not in p.source + p.target][:7]
    aligned = [(pair.source, pair.target, pair.alignment) for pair in pairs]
    found = heads.score_alignments(translator, aligned)
    hits = {"aligned": 0, "before": 0, "after": 0}
    for pair in pairs:
        maps = np.stack(translator.attend(pair.source, pair.target).cross)
        largest = maps[..., :-1].argmax(axis=-1)  # without the end of the sentence
        for s, t in pair.alignment:
            for name, offset in (("aligned", 0), ("before", -1), ("after", 1)):
                hits[name] = hits[name] + (largest[:, :, t] == s + offset)
    assert found["links"] == sum(len(pair.alignment) for pair in pairs) > 20
    for name, counted in hits.items():
        assert np.array(found[name]) == pytest.approx(counted / found["links"], abs=0.0006)
    assert np.max(found["aligned"]) > 0.8
