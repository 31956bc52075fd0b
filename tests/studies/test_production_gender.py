"""The study of gender: sentences, the reading of written forms, and what is changed inside."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
import torch

from transformer_lab.attention.record import Head
from transformer_lab.studies.common import store
from transformer_lab.studies.production_translators.gender_detection import (
    FORMS,
    GenderedWord,
    Reading,
    find_article_genders,
    find_choice,
    find_gendered_word,
    find_pieces,
    text_log_odds,
    translate_questions,
)
from transformer_lab.studies.production_translators.gender_interventions import (
    PLACES,
    GenderBatch,
    batch_log_odds,
    batch_states,
    cross_source_and_prefix,
    encoder_weights,
    list_heads,
    log_odds_with_pointed_row,
    measure_patching,
    patch_states,
    weights_on_nouns,
)
from transformer_lab.studies.production_translators.gender_patching import make_minimal_pairs
from transformer_lab.studies.production_translators.gender_probes import (
    cross_validate_probe,
    mean_word_states,
)
from transformer_lab.studies.production_translators.gender_results import (
    exceeds_limit,
    load_part,
    load_pointed_heads,
)
from transformer_lab.studies.production_translators.gender_scores import (
    estimate_effects,
    mean_and_interval,
    mean_per_pair,
    score_written_genders,
)
from transformer_lab.studies.production_translators.gender_sentences import (
    FRAMES,
    LANGUAGES,
    NOUNS,
    SAID,
    SENTENCES,
    make_agreement_questions,
    make_pairs,
)
from transformer_lab.studies.production_translators.gender_world import draw_world_pairs
from transformer_lab.translator import Translator


@pytest.fixture(scope="module")
def toy() -> Translator:
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def asked(toy: Translator) -> GenderBatch:
    questions = [q for pair in draw_world_pairs(14) for q in pair]
    return GenderBatch(toy, translate_questions(toy, questions, "fr"))


# ---------------------------------------------------------------- sentences


def test_pairs_are_balanced_and_differ_in_the_adjective_alone():
    found = make_pairs("pt")
    assert len(found) >= 60
    assert Counter(a.genders for a, _ in found) == {("m", "f"): 56, ("f", "m"): 56}
    for a, b in found:
        assert a.source.replace(a.adjective, "…") == b.source.replace(b.adjective, "…")
        assert (a.right, b.right) == (0, 1)
        assert a.gender != b.gender
    by_frame = Counter((a.frame, a.adjective, a.genders) for a, _ in found)
    assert set(by_frame.values()) == {4}


def test_french_pairs_differ_in_gender_too():
    assert len(make_pairs("fr")) > 30
    assert all(set(a.genders) == {"m", "f"} for a, _ in make_pairs("fr"))


def test_every_adjective_has_forms_that_differ():
    used = {q.adjective for pair in make_pairs("pt") for q in pair} | set(SAID)
    assert used <= set(FORMS)
    for adjective in used:
        assert FORMS[adjective]["pt"]
        assert all(m != f for m, f in FORMS[adjective]["pt"] + FORMS[adjective]["fr"])


def test_as_many_agreement_sentences_of_each_gender_and_frame():
    for language in LANGUAGES:
        counts = Counter((q.gender, q.frame) for q in make_agreement_questions(language))
        assert counts == {(g, frame): SENTENCES for g in "mf" for frame in FRAMES}
        assert all(
            NOUNS[q.nouns[0]][language] == q.gender for q in make_agreement_questions(language)
        )


def test_pairs_of_the_world_have_one_event_and_two_reasons():
    found = draw_world_pairs(14)
    assert Counter(a.genders[0] for a, _ in found) == {"m": 7, "f": 7}
    for a, b in found:
        assert a.source.rsplit(" ", 1)[0] == b.source.rsplit(" ", 1)[0]
        assert a.gender != b.gender


# ---------------------------------------------------------------- reading


def test_gender_is_read_from_the_written_form():
    assert find_gendered_word("A casa é velha.", "old", "pt") == GenderedWord(
        "A casa é ", "velho", "velha", "f"
    )
    found = find_gendered_word("O troféu não cabe porque é muito pesado.", "heavy", "pt")
    assert found is not None
    assert (found.gender, found.feminine) == ("m", "pesada")


def test_a_pronoun_before_the_adjective_counts_and_keeps_its_capital():
    assert find_gendered_word("Esta é a mala. Ela é cara.", "expensive", "pt") == GenderedWord(
        "Esta é a mala. ", "Ele", "Ela", "f"
    )
    found = find_gendered_word("la rue parce qu'elle est longue", "long", "fr")
    assert found == GenderedWord("la rue parce qu'", "il", "elle", "f")


def test_what_stands_before_the_reason_is_not_read():
    found = find_gendered_word("Ele vendeu a mesa velha porque era velho", "old", "pt")
    assert found is not None
    assert (found.gender, found.before[-4:]) == ("m", "era ")


@pytest.mark.parametrize("text", ["A casa é grande.", "A casa é triste, e pesada", ""])
def test_a_translation_without_a_form_shows_no_gender(text: str):
    assert find_gendered_word(text, "old", "pt") is None


def test_articles_in_their_order():
    assert find_article_genders("O piano não cabe na caixa", "pt") == "mf"
    assert find_article_genders("Pela janela, do telhado", "pt") == "fm"
    assert find_article_genders("L'animal traverse la rue du port", "fr") == "fm"


def test_log_odds_are_the_difference_of_two_log_probabilities(toy: Translator, asked: GenderBatch):
    reading = asked.readings[3]
    assert reading.shown is not None
    ids, mask = toy.batch([asked.choices[3].source])
    with torch.no_grad():
        logits = toy.model(ids, torch.tensor([asked.choices[3].prefix]), mask)[0, -1]
    masculine, feminine = (
        float(logits.log_softmax(-1)[toy.target_tokenizer.encode(word)[0]])
        for word in (reading.shown.masculine, reading.shown.feminine)
    )
    assert batch_log_odds(asked)[3] == pytest.approx(masculine - feminine, abs=1e-3)


def test_odds_of_whole_texts_are_those_of_one_step(toy: Translator, asked: GenderBatch):
    np.testing.assert_allclose(text_log_odds(toy, asked.readings), batch_log_odds(asked), atol=1e-3)


def test_a_choice_that_differs_in_more_than_one_piece_is_none(toy: Translator):
    same = GenderedWord("la maison est ", "vieille", "vieille", "f")
    assert find_choice(toy, "the house is old", same) is None


def test_pieces_of_a_word(toy: Translator):
    assert find_pieces(toy, "The house is old.", "house") == [1]
    assert find_pieces(toy, "The house is old.", "old") == [3]


# ---------------------------------------------------------------- counting


def test_shares_of_one_who_always_writes_the_masculine():
    text = {"m": "porque é velho", "f": "porque é velha"}

    def answered(gender: str):
        return [
            tuple(
                Reading(q, text[gender], find_gendered_word(text[gender], "old", "pt"), True)
                for q in pair
            )
            for pair in make_pairs("pt")[:8]
        ]

    shares = score_written_genders(answered("m"))
    assert shares["masculine"][0] == 1
    assert shares["right"][0] == 0.5
    assert shares["switches"][0] == shares["switches rightly"][0] == 0


def test_effects_of_a_made_table():
    # 3 for masculine, 5 for the first noun, 7 for the adjective, 11 for the referent
    masculine = np.array([True] * 5 + [False] * 2)
    s = np.where(masculine, 1, -1)[:, None]
    r = np.array([[1, -1]])
    found = estimate_effects(3.0 + 5 * s + 7 * r + 11 * s * r, masculine)
    assert {name: row[0] for name, row in found.items()} == {
        "masculine": 3,
        "first noun": 5,
        "adjective": 7,
        "referent": 11,
    }
    assert all(row[0] == row[1] == row[2] for row in found.values())


def test_an_interval_holds_its_mean():
    mean, low, high = mean_and_interval([0, 0, 1, 1, 1.0])
    assert mean == 0.6
    assert low < mean < high
    assert mean_and_interval([]) == []


# ---------------------------------------------------------------- inside


def test_a_sentence_as_its_own_donor_changes_nothing(asked: GenderBatch):
    moved = measure_patching(asked, asked)
    assert set(moved) == set(PLACES)
    for rows in moved.values():
        np.testing.assert_allclose(rows, 0, atol=1e-4)


def test_all_positions_after_the_last_layer_are_the_other_sentence(toy: Translator):
    q = [q for pair in draw_world_pairs(14) for q in pair]
    by_length: dict[int, list] = {}
    for reading in translate_questions(toy, q, "fr"):
        if reading.usable:
            by_length.setdefault(len(toy.encode(reading.question.source)), []).append(reading)
    group = max(by_length.values(), key=len)
    base, donor = GenderBatch(toy, group), GenderBatch(toy, group[1:] + group[:1])
    last = batch_states(donor)[-1]
    with patch_states(
        base, len(batch_states(base)) - 1, torch.ones(last.shape[:2], dtype=torch.bool), last
    ):
        patched = batch_log_odds(base)
    np.testing.assert_allclose(patched, cross_source_and_prefix(base, donor)[1, 0], atol=1e-3)
    # Before the first layer it is the same, since nothing of the base is left.
    with patch_states(
        base, 0, torch.ones(last.shape[:2], dtype=torch.bool), batch_states(donor)[0]
    ):
        np.testing.assert_allclose(batch_log_odds(base), patched, atol=1e-3)
    assert np.abs(patched - batch_log_odds(base)).max() > 1


def test_no_position_replaced_changes_nothing(asked: GenderBatch):
    ids, _ = asked.sources()
    nowhere = torch.zeros(ids.shape, dtype=torch.bool)
    before = batch_log_odds(asked)
    with patch_states(asked, 1, nowhere, batch_states(asked)[0]):
        np.testing.assert_array_equal(batch_log_odds(asked), before)


def test_muting_no_head_changes_nothing_and_muting_all_does(toy: Translator, asked: GenderBatch):
    before = batch_log_odds(asked)
    np.testing.assert_allclose(batch_log_odds(asked, mute=[], patch={}), before)
    heads = list_heads(toy)
    config = toy.model.config
    assert len(heads) == config.num_heads * (
        config.num_encoder_layers + 2 * config.num_decoder_layers
    )
    assert np.abs(batch_log_odds(asked, mute=heads) - before).max() > 1


def test_a_row_that_is_pointed_at_its_own_weights_changes_nothing(asked: GenderBatch):
    maps = encoder_weights(asked)
    patch = {Head("encoder", 0, 1): maps[0][:, 1]}
    np.testing.assert_allclose(batch_log_odds(asked, patch=patch), batch_log_odds(asked), atol=1e-3)
    assert log_odds_with_pointed_row(asked, [Head("encoder", 0, 1)], "noun").shape == (len(asked),)


def test_pointing_another_row_leaves_that_of_it(asked: GenderBatch):
    head = [Head("encoder", 1, 2)]
    of_it, of_decider = (
        log_odds_with_pointed_row(asked, head, "noun", row) for row in ("it", "adjective")
    )
    assert np.abs(of_it - of_decider).max() > 0.1
    np.testing.assert_array_equal(of_it, log_odds_with_pointed_row(asked, head, "noun"))


def test_both_sentences_of_a_pair_count_once():
    assert mean_per_pair(np.array([1.0, 2.0, -3.0, 5.0])).tolist() == [1.5, 1.0]


def test_a_pair_crossed_both_ways_says_the_same_twice(toy: Translator):
    base, other, same = (GenderBatch(toy, r) for r in make_minimal_pairs(toy, "fr"))
    assert len(base) % 2 == 0
    assert base.signs.tolist() == [1.0, -1.0] * (len(base) // 2)
    assert same.signs.tolist() == base.signs.tolist()
    assert other.readings[::2] == base.readings[1::2]
    table = base.signs * cross_source_and_prefix(base, other)
    source = table[0, 0] - table[1, 0] + table[0, 1] - table[1, 1]
    np.testing.assert_allclose(source[::2], source[1::2], atol=1e-3)


def test_weights_on_the_nouns_are_shares(asked: GenderBatch):
    weights = weights_on_nouns(asked)
    assert weights.min() >= 0
    assert weights.sum(axis=-1).max() <= 1 + 1e-5


def test_a_probe_reads_the_gender_that_the_toy_translates_by():
    x = torch.randn(140, 7, generator=torch.Generator().manual_seed(3))
    y = (x[:, 2] > 0).float()
    assert cross_validate_probe(x, y) > 0.7
    noise = torch.rand(140, generator=torch.Generator().manual_seed(5)).round()
    assert cross_validate_probe(x, noise) < 0.7


def test_states_at_a_word(asked: GenderBatch):
    at = mean_word_states(asked, "it")
    assert at.shape[1] == len(asked)
    row = asked.at("it")[2].nonzero()[0, 0]
    torch.testing.assert_close(at[1, 2], batch_states(asked)[1, 2, row])


def test_the_toy_knows_what_it_is(asked: GenderBatch):
    assert len(asked) >= 20
    assert np.mean(asked.signs * batch_log_odds(asked) > 0) > 0.9
    assert list(islice((r.right for r in asked.readings), 3)) == [True] * 3


# ---------------------------------------------------------------- what is stored


def test_a_part_that_is_not_there_is_named(tmp_path):
    stored = {"setting": {"part": "pairs", "model": "toy"}, "result": {"usable": 3}}
    store.save("gender", {"runs": [stored]}, tmp_path)
    assert load_part("pairs", "toy", tmp_path) == {"usable": 3}
    with pytest.raises(
        ValueError, match="the model 'toy' has no stored part 'probes', only 'pairs'$"
    ):
        load_part("probes", "toy", tmp_path)
    with pytest.raises(ValueError, match="expected 'pairs', 'agreement'"):
        load_part("pair", "toy", tmp_path)


def test_heads_are_sorted_by_what_lies_on_the_nouns(tmp_path):
    rows = [[0, 1, 0.2, 0.1, *[0.0] * 6], [1, 0, 0.1, 0.5, 0.3, 0.2, 0.4, 1.0, 0.9, 1.1]]
    stored = {"setting": {"part": "pointing", "model": "toy"}, "result": {"heads": rows}}
    store.save("gender", {"runs": [stored]}, tmp_path)
    first, second = load_pointed_heads("toy", tmp_path)
    assert (first.layer, second.layer) == (1, 0)
    assert first.pointed == [0.3, 0.2, 0.4]
    assert first.referent_muted == [1.0, 0.9, 1.1]


def test_what_reaches_the_limit():
    assert exceeds_limit([0.5, 0.3, 0.7], 0.25)
    assert exceeds_limit([-0.5, -0.7, -0.3], 0.25)
    assert not exceeds_limit([0.5, 0.2, 0.8], 0.25)
