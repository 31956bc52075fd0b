"""The measures of lesson 12, against slow and plain counts."""

import numpy as np
import pytest
import torch

from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.attention.scores import mean_distance, referent_score
from transformer_lab.data.batching import collate, encode_pairs
from transformer_lab.evaluation.rollout import attention_rollout
from transformer_lab.studies.common import probe
from transformer_lab.studies.finding_the_noun import pronoun_causes, pronoun_heads
from transformer_lab.studies.finding_the_noun.pronoun_sentences import ORDERS, iterate_pronoun_pairs
from transformer_lab.translator import Translator

NOUN_FINDER = Head("encoder", 1, 2)
"""Of the shipped model: in the row of the deciding word it finds the noun; lessons 00 and 12."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shipped():
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def pairs():
    found = []
    for order in ORDERS:
        sentences = iterate_pronoun_pairs(order)
        found += [next(sentences) for _ in range(7)]
    return found


@pytest.fixture(scope="module")
def capture(shipped, pairs):
    return pronoun_causes.predict_pronouns(shipped, pairs)[0]


def maps(rng, *shape):
    weights = rng.random(shape) ** 4
    return weights / weights.sum(axis=-1, keepdims=True)


def test_the_sentences_are_of_the_order_asked_and_unseen(pairs):
    assert [p.construction for p in pairs] == ["because_last"] * 7 + ["because_first"] * 7
    for pair in pairs:
        who = pair.coreference
        before = who.pronoun < min(who.referent, who.other)
        assert before == (pair.construction == "because_first")


def test_differences_of_a_batch_equal_the_score_of_each_record(shipped, pairs, capture):
    from transformer_lab.attention.record import Referent

    found = pronoun_heads.referent_differences(capture, pairs)
    for n, pair in enumerate(pairs):
        who = pair.coreference
        referent = Referent(who.pronoun, who.referent, who.other, who.target_pronoun, who.decider)
        record = shipped.attend(pair.source, pair.target, referent=referent)
        for kind, row in (("encoder", "it"), ("cross", "cross")):
            for head in record.heads(kind):
                alone = referent_score(record, head)
                assert found[row][n, head.layer, head.head] == pytest.approx(alone, abs=1e-4)


def test_the_decoder_looks_back_at_the_words_that_translate_the_nouns(pairs, capture):
    found = pronoun_heads.referent_differences(capture, pairs)["decoder"]
    for n, pair in enumerate(pairs):
        who = pair.coreference
        for layer, weights in enumerate(capture.decoder):
            for head in range(weights.shape[1]):
                row = weights[n, head, who.target_pronoun]
                sums = {
                    noun: sum(row[t + 1] for s, t in pair.alignment if s == getattr(who, noun))
                    for noun in ("referent", "other")
                }
                difference = sums["referent"] - sums["other"]
                assert found[n, layer, head] == pytest.approx(difference, abs=1e-6)
    # Where the pronoun's clause comes first, no noun is written yet.
    assert abs(found[7:]).max() == 0


def test_chance_is_the_percentile_of_the_largest_head():
    rng = np.random.default_rng(3)
    differences = rng.normal(0, 0.2, (11, 2, 3))
    signs = np.random.default_rng(5).choice([-1.0, 1.0], size=(pronoun_heads.FLIPS, 11))
    largest = [
        max(
            abs(np.mean([sign * differences[n, i, j] for n, sign in enumerate(row)]))
            for i in range(2)
            for j in range(3)
        )
        for row in signs
    ]
    wanted = np.quantile(largest, 0.95)
    assert pronoun_heads.permutation_threshold(differences, seed=5) == pytest.approx(
        wanted, abs=1e-4
    )
    # A head that always prefers the referent is far above it.
    differences[:, 1, 2] = 0.9
    assert pronoun_heads.permutation_threshold(differences, seed=5) < 0.9


def test_rollout_is_a_walk_that_stays_with_probability_one_half():
    rng = np.random.default_rng(7)
    layers = [maps(rng, 3, 5, 5) for _ in range(2)]
    rolled = attention_rollout(layers)
    np.testing.assert_allclose(rolled.sum(axis=-1), 1)
    first, second = (layer.mean(axis=0) for layer in layers)
    for i in range(5):
        walk = np.zeros(5)
        for j in range(5):
            step = 0.5 * second[i, j] + 0.5 * (i == j)
            walk += step * (0.5 * first[j] + 0.5 * np.eye(5)[j])
        np.testing.assert_allclose(rolled[i], walk)
    batch = attention_rollout([np.stack([layer, layer]) for layer in layers])
    np.testing.assert_allclose(batch[1], rolled)


def test_distances_leave_the_padding_out(shipped, pairs):
    alone = [
        pronoun_heads.attention_distances(
            pronoun_causes.predict_pronouns(shipped, [pair])[0], [pair]
        )
        for pair in pairs
    ]
    together = pronoun_heads.attention_distances(
        pronoun_causes.predict_pronouns(shipped, pairs)[0], pairs
    )
    for name, values in together.items():
        each = np.mean([one[name] for one in alone], axis=0)
        np.testing.assert_allclose(values, each, atol=2e-4)


def test_without_the_last_token_the_other_weights_keep_their_ratio():
    weights = maps(np.random.default_rng(0), 2, 5, 5)
    rest = pronoun_heads.drop_last_token(weights)
    assert rest.shape == (2, 4, 4)
    np.testing.assert_allclose(rest.sum(axis=-1), 1)
    np.testing.assert_allclose(rest[0, 1, 2] / rest[0, 1, 0], weights[0, 1, 2] / weights[0, 1, 0])
    assert mean_distance(rest[0]) >= 0


def test_muting_is_measured_head_by_head(shipped, pairs):
    without = pronoun_causes.pronoun_accuracy_without_head(shipped, pairs)
    assert {kind: np.shape(shares) for kind, shares in without.items()} == dict.fromkeys(
        ("encoder", "decoder", "cross"), (2, 4)
    )
    assert np.argmin(without["encoder"]) == np.ravel_multi_index(NOUN_FINDER[1:], (2, 4))


def test_pointing_changes_one_row_of_a_copy():
    weights = maps(np.random.default_rng(1), 5, 7)
    pointed = pronoun_causes.point(weights, 3, 2)
    np.testing.assert_array_equal(pointed[3], np.eye(7)[2])
    np.testing.assert_array_equal(np.delete(pointed, 3, 0), np.delete(weights, 3, 0))
    assert weights[3, 2] < 1


def test_pointing_one_row_is_what_a_patch_of_each_sentence_alone_does(shipped, pairs):
    found = pronoun_causes.pronouns_changed_by_pointing(shipped, pairs, "decider")
    assert np.shape(found) == (2, 4)
    changed = 0
    for pair in pairs:
        capture, before = pronoun_causes.predict_pronouns(shipped, [pair])
        who = pair.coreference
        patch = capture.encoder[NOUN_FINDER.layer][0, NOUN_FINDER.head].copy()
        patch[who.decider] = np.arange(len(patch)) == who.other
        _, after = pronoun_causes.predict_pronouns(shipped, [pair], patch={NOUN_FINDER: patch})
        changed += before != after
    assert changed > 3
    share = np.array(found)[NOUN_FINDER[1:]]
    assert share == pytest.approx(changed / len(pairs), abs=1e-4)
    of_it = pronoun_causes.pronouns_changed_by_pointing(shipped, pairs, "it")
    assert np.array(of_it)[NOUN_FINDER[1:]] < share


def test_where_the_step_of_the_pronoun_looks(shipped, pairs, capture):
    found = pronoun_heads.cross_weights(capture, pairs)
    assert set(found) == {"it", "decider", "referent", "other"}
    for layer in range(2):
        for head in range(4):
            looks = [
                capture.cross[layer][n, head, p.coreference.target_pronoun, p.coreference.decider]
                for n, p in enumerate(pairs)
            ]
            assert found["decider"][layer][head] == pytest.approx(np.mean(looks), abs=1e-4)
    differences = pronoun_heads.referent_differences(capture, pairs)["cross"].mean(axis=0)
    np.testing.assert_allclose(
        np.subtract(found["referent"], found["other"]), differences, atol=2e-4
    )


def test_a_right_pronoun_is_the_one_of_the_translation(pairs):
    right = [p.target_tokens[p.coreference.target_pronoun] for p in pairs]
    assert pronoun_causes.are_pronouns_right(right, pairs).all()
    other = [{"il": "elle"}.get(word, "il") for word in right]
    assert not pronoun_causes.are_pronouns_right(other, pairs).any()


def test_states_are_those_that_the_decoder_reads(shipped, pairs):
    states = probe.encoder_states_at(shipped, pairs, "decider")
    batch = collate(encode_pairs(pairs, shipped.source_tokenizer, shipped.target_tokenizer))
    memory = []
    hook = shipped.model.encoder.register_forward_hook(lambda _, __, out: memory.append(out))
    with torch.no_grad(), capture_attention(shipped.model):
        shipped.model(batch.source, batch.target_input)
    hook.remove()
    at = [pair.coreference.decider for pair in pairs]
    wanted = memory[0][torch.arange(len(pairs)), torch.tensor(at)]
    torch.testing.assert_close(states[-1], wanted, atol=1e-4, rtol=1e-4)


def test_the_probe_reads_what_lies_on_a_line_and_nothing_else():
    torch.manual_seed(0)
    x, asked = torch.randn(300, 7), torch.randn(100, 7)
    line = torch.randn(7)
    on_line = [(v @ line > 0).float() for v in (x, asked)]
    assert probe.linear_probe(x, on_line[0], asked, on_line[1]) > 0.93
    noise = [torch.randint(2, (n,)).float() for n in (300, 100)]
    assert abs(probe.linear_probe(x, noise[0], asked, noise[1]) - 0.5) < 0.2
