"""The recurrent translators of lesson 15's study."""

import pytest
import torch

from transformer_lab.data.batching import BOS_ID, EOS_ID
from transformer_lab.studies.recurrence_or_attention import recurrent as study

pytestmark = pytest.mark.slow

SOURCE_WORDS, TARGET_WORDS = 23, 29


@pytest.fixture(params=study.KINDS)
def model(request):
    torch.manual_seed(0)
    return study.make_model(request.param, SOURCE_WORDS, TARGET_WORDS).double().eval()


def test_all_kinds_have_as_many_parameters():
    counts = [
        sum(p.numel() for p in study.make_model(kind, 600, 700).parameters())
        for kind in study.KINDS
    ]
    assert max(counts) / min(counts) < 1.02


def test_padding_of_the_source_changes_nothing(model, ids):
    source, target = ids
    alone = model(source[1:, :4], target[1:])
    torch.testing.assert_close(model(source, target)[1:], alone, rtol=1e-9, atol=1e-9)


def test_no_word_sees_a_later_one(model, ids):
    source, target = ids
    changed = target.clone()
    changed[:, 3] = 11
    before, after = model(source, target), model(source, changed)
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=1e-9, atol=1e-9)
    assert (before[:, 3] - after[:, 3]).abs().max() > 1e-6


def test_the_decoder_begins_at_both_ends_of_the_source():
    torch.manual_seed(0)
    model = study.RecurrentTranslator(SOURCE_WORDS, TARGET_WORDS, 6, attention=False)
    source = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])
    memory, (hidden, _) = model.encode(source)
    assert hidden.shape == (2, 2, 6)
    last_of_the_first_sentence = torch.cat([memory[0, 3, :3], memory[0, 0, 3:]])
    torch.testing.assert_close(hidden[1, 0], last_of_the_first_sentence)
    last_of_the_second = torch.cat([memory[1, 1, :3], memory[1, 0, 3:]])
    torch.testing.assert_close(hidden[1, 1], last_of_the_second)


def test_greedy_words_are_the_most_probable_ones(model, ids):
    source, _ = ids
    for row, words in zip(source, study.greedy_ids(model, source), strict=True):
        read = [BOS_ID, *words]
        with torch.no_grad():
            best = model(row[None], torch.tensor([read]))[0].argmax(-1).tolist()
        assert best[: len(words)] == words
        assert EOS_ID not in words[:-1]


def test_ids_end_with_eos():
    assert study.cut_after_eos([5, EOS_ID, 7, EOS_ID]) == [5, EOS_ID]
    assert study.cut_after_eos([5, 7]) == [5, 7]
