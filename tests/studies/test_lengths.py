"""The tasks of lesson 13's study, and how it says in what way an answer fails."""

from itertools import islice
from random import Random

import numpy as np
import pytest

from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import BOS_ID, EOS_ID, Example
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import sentences
from transformer_lab.model import Transformer
from transformer_lab.studies.longer_than_trained import length_tasks as tasks
from transformer_lab.studies.longer_than_trained import lengths as study

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", tasks.LONGEST)
@pytest.mark.parametrize("length", [1, 2, 7])
def test_examples_are_what_the_task_says(name, length, monkeypatch):
    monkeypatch.setattr(tasks, "WORLD_PAIRS", 500)
    task = tasks.make_task(name, seed=0)
    drawn = task.draw(length, Random(length))
    source, target, origin, part = drawn
    assert drawn.example() == Example([*source, EOS_ID], [BOS_ID, *target, EOS_ID])
    assert max(source) < task.vocabularies[0]
    assert max(target) < task.vocabularies[1]
    assert len(target) == len(origin) == len(part)
    assert part == sorted(part)
    assert set(part) == set(range(length))
    if name == "copy":
        assert source == target
    if name == "reverse":
        assert source == target[::-1]
    if name == "sort":
        assert target == sorted(source)
        assert len(set(source)) == length
    if name != "world":
        assert len(source) == length
        assert target == [source[place] for place in origin]


def test_chained_sentences_have_a_word_between_them():
    parts = [
        tasks.TaskExample([5, 6], [15, 16, 17], [1, -1, 0], [0, 0, 0]),
        tasks.TaskExample([7], [18], [0], [0]),
        tasks.TaskExample([8, 9], [19, 20], [1, 0], [0, 0]),
    ]
    assert tasks.chain_sentences(parts, and_id=4, et_id=14) == (
        [5, 6, 4, 7, 4, 8, 9],
        [15, 16, 17, 14, 18, 14, 19, 20],
        [1, -1, 0, 2, 3, 4, 6, 5],
        [0, 0, 0, 1, 1, 2, 2, 2],
    )


def test_the_origin_of_a_word_of_the_world_is_a_gold_link():
    pairs = list(islice(sentences(5), 50))
    english = WordTokenizer.train([pair.source for pair in pairs])
    french = WordTokenizer.train([pair.target for pair in pairs])
    for pair in pairs:
        for step, place in enumerate(tasks.encode_pair(pair, english, french).origin):
            links = {link for link in pair.alignment if link[1] == step}
            assert (place, step) == min(links) if links else place == -1


def test_training_never_sees_more_than_the_longest():
    task = tasks.make_task("copy", seed=0)
    found = {len(e.source) - 1 for _ in range(40) for e in task.batch(Random(_))}
    assert found == set(range(1, tasks.LONGEST["copy"] + 1))


@pytest.mark.parametrize("longest", tasks.LONGEST.values())
def test_every_length_beside_the_longest_of_training_is_asked(longest):
    lengths = study.list_lengths(longest)
    assert lengths == sorted(set(lengths))
    assert {*range(longest, longest + 5)} <= {*lengths}
    assert lengths[-1] == 4 * longest


def test_parts_are_counted_word_by_word(monkeypatch):
    """A reader that writes its own input, but eos from step 3 on, and one head that lags behind."""
    task = tasks.make_task("reverse", seed=0)

    def read(model, drawn):
        steps = len(drawn[0].target) + 1
        written = np.array([[*one.target, EOS_ID] for one in drawn])
        written[:, 3:] = EOS_ID
        looked = np.zeros((2, 3, len(drawn), steps), dtype=int)
        looked[1, 2] = np.array(
            [[place + 2 * (place < 2) for place in [*one.origin, 0]] for one in drawn]
        )
        return written, looked

    monkeypatch.setattr(study, "read_targets", read)
    config = TransformerConfig.tiny(5, 5, num_encoder_layers=0, num_decoder_layers=0)
    first, second = study.score_by_part(Transformer(config), task, [4, 5], Random(0))
    assert first == {
        "length": 4,
        "right": [1, 1, 1, 0],
        "eos": [0, 0, 0, 1],
        "looked": [1, 1, 0, 0],
        "off": [[0, 0, 0], [0, 0, 0], [2, 2, 2], [2, 2, 2]],
        "end": 1,
    }
    assert second["looked"] == [1, 1, 1, 0, 0]


def test_what_is_read_is_what_the_model_says_and_where_its_heads_look():
    task = tasks.make_task("copy", seed=0)
    setting = {"task": "copy", "positions": "rotary", "steps": 2, "seed": 0}
    model = study.train_model(setting, task)
    drawn = [task.draw(length, Random(length)) for length in (3, 5)]
    written, looked = study.read_targets(model, drawn)
    assert written.shape == (2, 6)
    assert looked.shape == (2, 4, 2, 6)  # (layer, head, example, step)
    alone_written, alone_looked = study.read_targets(model, drawn[:1])
    np.testing.assert_array_equal(written[0, :4], alone_written[0])
    np.testing.assert_array_equal(looked[:, :, 0, :4], alone_looked[:, :, 0])


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
