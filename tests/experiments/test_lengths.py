"""The tasks of lesson 13's study, and how it says in what way an answer fails."""

from random import Random

import pytest

from transformer_lab.data.batching import BOS_ID, EOS_ID
from transformer_lab.experiments import lengths as study


@pytest.mark.parametrize("name", study.LONGEST)
@pytest.mark.parametrize("length", [1, 2, 7])
def test_examples_are_what_the_task_says(name, length, monkeypatch):
    monkeypatch.setattr(study, "WORLD_PAIRS", 500)
    task = study.make_task(name, seed=0)
    example = task.example(length, Random(length))
    source, target = example.source[:-1], example.target[1:-1]
    assert (example.source[-1], example.target[0], example.target[-1]) == (EOS_ID, BOS_ID, EOS_ID)
    assert max(source) < task.vocabularies[0]
    assert max(target) < task.vocabularies[1]
    if name == "copy":
        assert source == target
    if name == "reverse":
        assert source == target[::-1]
    if name == "sort":
        assert target == sorted(source)
        assert len(set(source)) == length
    if name != "world":
        assert len(source) == length


def test_chained_sentences_have_a_word_between_them():
    assert study.chain([[5, 6], [7], [8, 9]], between=4) == [5, 6, 4, 7, 4, 8, 9]


def test_training_never_sees_more_than_the_longest():
    task = study.make_task("copy", seed=0)
    found = {len(e.source) - 1 for _ in range(40) for e in task.batch(Random(_))}
    assert found == set(range(1, study.LONGEST["copy"] + 1))


def test_failures_are_told_apart():
    right = [[5, 6, 7, EOS_ID]] * 5
    written = [
        [5, 6, 7, EOS_ID],
        [5, 6, EOS_ID],
        [5, 6, 7, 8, EOS_ID],
        [5, 9, 7, EOS_ID],
        [5, 6, 7],  # cut off by the limit
    ]
    found = study.failures(written, right)
    assert found == {
        "exact": 0.2,
        "stopped": 0.2,
        "went on": 0.4,
        "word": 0.2,
        "reached": pytest.approx((4 / 4 + 2 / 4 + 3 / 4 + 1 / 4 + 3 / 4) / 5, abs=1e-4),
    }
