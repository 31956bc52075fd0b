"""Scores against hand-made cases whose value is known."""

import math

import numpy as np
import pytest

from transformer_lab.attention.record import AttentionRecord, Head, Referent
from transformer_lab.attention.scores import (
    alignment_error_rate,
    entropy,
    first_token,
    head_alignment_error_rate,
    mean_distance,
    mean_over_records,
    previous_token,
    referent_score,
)
from transformer_lab.data.languages import main_script
from transformer_lab.evaluation.bleu import (
    choose_bleu_tokenization,
    exact_match,
    exact_match_by_group,
    looks_tokenized,
    score,
    sentence_chrf,
)


def test_bleu_is_sacrebleus_corpus_score_with_its_signature():
    references = ["le chat est sur la table ce soir", "il pleut beaucoup à paris"]
    perfect = score(references, references)
    assert perfect.bleu == pytest.approx(100)
    assert perfect.chrf == pytest.approx(100)
    assert "tok:13a" in perfect.bleu_signature
    assert "version:" in perfect.chrf_signature
    # One corpus score, not a mean over sentences: the second sentence has no
    # common 4-gram and would score 0 by itself.
    mixed = score([references[0], "il neige"], references)
    assert 0 < mixed.bleu < 100


def test_tokenized_text_is_told_by_its_full_stops_and_not_by_sacrebleu(caplog):
    tokenized = [f"le chat n° {n} dort ." for n in range(101)]
    assert score(tokenized, tokenized).bleu == pytest.approx(100)
    assert caplog.text == ""
    assert looks_tokenized(tokenized)
    assert not looks_tokenized(["le chat dort.", "le chien dort ."])


@pytest.mark.parametrize(
    ("reference", "near", "tokenization"),
    [
        ("le chat est sur la table ce soir", "le chat est sur la chaise ce soir", "13a"),
        ("кошка сидит на столе сегодня вечером", "кошка сидит на столе сегодня днём", "13a"),
        ("고양이가 오늘 저녁 식탁 위에 있다", "고양이가 오늘 저녁 식탁 위에 없다", "13a"),
        ("猫は今夜テーブルの上にいます", "猫は今夜テーブルの下にいます", "char"),
        ("猫今晚在桌子上睡觉", "猫今晚在椅子上睡觉", "zh"),
        ("แมวอยู่บนโต๊ะคืนนี้", "แมวอยู่บนเก้าอี้คืนนี้", "char"),
        ("ឆ្មានៅលើតុយប់នេះ", "ឆ្មានៅលើកៅអីយប់នេះ", "char"),
        ("ကြောင်သည် စားပွဲပေါ်တွင်ရှိသည်", "ကြောင်သည် ခုံပေါ်တွင်ရှိသည်", "char"),
        ("1, 2, 3, 4, 5!", "1, 2, 3, 4, 6!", "13a"),
    ],
)
def test_bleu_cuts_by_the_script_of_the_references(reference, near, tokenization):
    assert choose_bleu_tokenization([reference]) == tokenization
    scores = score([near], [reference])
    assert f"|tok:{tokenization}|" in scores.bleu_signature
    assert 10 < scores.bleu < 100
    assert score([reference], [reference]).bleu == pytest.approx(100)
    # What was translated does not choose: else scores of two models could not be compared.
    assert f"|tok:{tokenization}|" in score(["abc"], [reference]).bleu_signature


def test_the_script_is_that_of_most_letters_and_kana_make_japanese():
    assert main_script(["Linux 猫"]) == "Latin"
    assert main_script(["Linux は自由なソフトウェアです"]) == "Japanese"
    assert main_script(["我喜欢日本的の字，" * 9 + "我们都喜欢日本的文字和文化" * 9]) == "Han"
    assert main_script(["\uff8a\uff9f\uff9d", "\uff21"]) == "Japanese"  # in half and full width
    assert main_script(["7 + 3", ""]) == main_script([]) == "none"
    assert main_script(["café Ωδή"]) == "Latin"


def test_chrf_of_one_sentence_is_that_of_a_corpus_of_one():
    hypothesis, reference = "le petit chat dormait", "le chat dort"
    assert sentence_chrf(hypothesis, reference) == score([hypothesis], [reference]).chrf
    assert sentence_chrf(hypothesis, reference) != sentence_chrf(reference, hypothesis)
    assert sentence_chrf("", reference) == 0


def test_exact_match_counts_whole_sentences():
    assert exact_match(["a b", "c"], ["a b", "d"]) == 0.5
    assert exact_match_by_group(["x", "y", "x"], ["a", "b", "c"], ["a", "b", "d"]) == {
        "x": 0.5,
        "y": 1,
    }


@pytest.mark.parametrize("pairs", [(["a"], ["a", "b"]), ([], [])])
def test_unequal_or_empty_lists_are_errors(pairs):
    for function in (score, exact_match):
        with pytest.raises(ValueError, match="expected two equal lengths of at"):
            function(*pairs)


def test_alignment_error_rate_by_hand():
    gold = ((0, 0), (1, 2), (2, 1))
    assert alignment_error_rate(gold, gold) == 0
    assert alignment_error_rate(((0, 1),), gold) == 1
    assert alignment_error_rate(((0, 0), (1, 1)), gold) == pytest.approx(1 - 2 / 5)
    with pytest.raises(ValueError, match="gold is empty"):
        alignment_error_rate(gold, ())


def record() -> AttentionRecord:
    """Four source and three target tokens; cross head 0 is sharp, head 1 even."""
    sharp = np.eye(4)[[1, 0, 3]]
    even = np.full((3, 4), 0.25)
    causal = np.tril(np.ones((3, 3)))
    encoder = np.full((4, 4), 0.2) + 0.2 * np.eye(4)
    encoder[3] = [0.7, 0.1, 0.1, 0.1]  # the full stop decides
    return AttentionRecord(
        source_tokens=("a", "b", "it", "."),
        target_tokens=("<bos>", "x", "y"),
        written_tokens=("x", "y", "."),
        encoder=(encoder[None],),
        decoder=((causal / causal.sum(-1, keepdims=True))[None],),
        cross=(np.stack([sharp, even]),),
        alignment=((1, 0), (0, 1)),
        referent=Referent(pronoun=2, referent=0, other=1, step=1, decider=3),
    )


def test_a_heads_alignment_is_its_strongest_key_on_aligned_steps_only():
    assert head_alignment_error_rate(record(), Head("cross", 0, 0)) == 0
    assert head_alignment_error_rate(record(), Head("cross", 0, 1)) == 0.5
    with pytest.raises(ValueError, match="expected a cross-attention head"):
        head_alignment_error_rate(record(), Head("encoder", 0, 0))


def test_referent_score_reads_the_row_of_the_pronoun_or_of_its_translation():
    assert referent_score(record(), Head("cross", 0, 0)) == 1
    assert referent_score(record(), Head("cross", 0, 1)) == 0
    assert referent_score(record(), Head("encoder", 0, 0)) == pytest.approx(0)
    with pytest.raises(ValueError, match="expected an encoder or cross-attention head"):
        referent_score(record(), Head("decoder", 0, 0))


def test_shapes_of_a_map_by_hand():
    eye, even = np.eye(5), np.full((5, 5), 0.2)
    assert entropy(eye) == 0
    assert entropy(even) == pytest.approx(math.log(5))
    assert mean_distance(eye) == 0
    assert mean_distance(np.full((2, 2), 0.5)) == 0.5
    assert previous_token(np.roll(eye, -1, axis=1)) == 1
    assert previous_token(eye) == 0
    assert first_token(np.eye(5)[[0] * 5]) == 1
    assert first_token(even) == pytest.approx(0.2)


def test_a_mean_over_records_names_every_head():
    scores = mean_over_records(referent_score, [record(), record()], "cross")
    assert scores == {Head("cross", 0, 0): 1, Head("cross", 0, 1): 0}
    with pytest.raises(ValueError, match="`records` is empty"):
        mean_over_records(referent_score, [], "cross")


MIXED = {
    "\u4f7f\u7528 GNU/Linux \u7684 PostgreSQL \u6570\u636e\u5e93\u670d\u52a1\u5668": "zh",
    "Kubernetes \u306e Deployment \u3092 Terraform \u3067\u7ba1\u7406\u3059\u308b": "char",
    "\uff8a\uff9f\uff9d\uff76\uff9e\uff7d\uff77": "char",
    "Das Zeichen \u732b hei\u00dft Katze": "13a",
    "\uace0\uc591\uc774\uac00 \u732b \uc794\ub2e4": "13a",
}


@pytest.mark.parametrize(("reference", "tokenization"), MIXED.items())
def test_names_in_latin_letters_leave_a_script_without_spaces_what_it_is(reference, tokenization):
    assert choose_bleu_tokenization([reference]) == tokenization
