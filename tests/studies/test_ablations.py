"""The settings of lesson 14's studies are what they say, and their numbers are counted right."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from tests.thorough import thorough_from
from transformer_lab.data.batching import collate, encode_pairs
from transformer_lab.model.add_norm import AddNorm
from transformer_lab.model.attention import AttentionCore
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.size import count_parameters
from transformer_lab.studies.more_data_or_width import scaling
from transformer_lab.studies.table_3 import ablations as study
from transformer_lab.training.trainer import token_loss

pytestmark = pytest.mark.slow

SMALL = study.SMALL[0]


@pytest.fixture(scope="module")
def splits():
    return study.draw_splits(SMALL)


def built(splits, **changes):
    return study.build({**SMALL, **changes}, splits)


def test_each_row_changes_what_it_says_and_nothing_else():
    names = {"A": "num_heads", "B": "d_k", "norm": "norm", "E": "positions"}
    for row, changes in study.ROWS:
        assert changes.keys() <= study.BASE.keys()
        changed = {name for name, value in changes.items() if study.BASE[name] != value}
        assert bool(changed) == (row != "base")
        if row in names:
            assert names[row] in changed
        if row in ("base", "A", "B", "C", "E"):
            assert len(changed) == (row != "base")
        if row == "places":
            assert all(name.endswith("dropout") for name in changed)


def test_seed_0_of_everything_comes_first():
    seeds = [setting["seed"] for setting in study.GRID]
    assert seeds == sorted(seeds)
    assert seeds.count(0) == len(study.ROWS)
    assert seeds.count(4) == 1


def test_dropout_sits_where_the_setting_says(splits):
    places = study.dropout_setting(0.11, 0.13, 0.17, 0.19)
    model = built(splits, **places).model
    assert model.dropout.p == 0.11
    assert {m.dropout.p for m in model.modules() if isinstance(m, AddNorm)} == {0.13}
    assert {m.dropout for m in model.modules() if isinstance(m, AttentionCore)} == {0.17}
    assert {m.dropout.p for m in model.modules() if isinstance(m, FeedForward)} == {0.19}
    kinds = [m for m in model.modules() if isinstance(m, nn.Dropout)]
    layers = SMALL["num_layers"]
    assert len(kinds) == 1 + (2 + 3) * layers + 2 * layers


@pytest.mark.parametrize("place", thorough_from(1, list(study.dropout_setting())))
def test_each_place_alone_makes_training_random_and_leaves_translation_alone(splits, place):
    translator = built(splits, **{**study.dropout_setting(), place: 0.3})
    batch = collate(
        encode_pairs(splits.test[:3], translator.source_tokenizer, translator.target_tokenizer)
    )

    def differ(model):
        outputs = [model(batch.source, batch.target_input) for _ in range(2)]
        return not torch.equal(*outputs)

    assert differ(translator.model.train())
    assert not differ(translator.model.eval())
    assert not differ(built(splits, **study.dropout_setting()).model.train())


def test_all_numbers_of_heads_have_as_many_parameters(splits):
    totals = {
        count_parameters(built(splits, **changes).model)["total"]
        for row, changes in study.ROWS
        if row in ("base", "A")
    }
    assert len(totals) == 1


def test_the_words_are_the_same_however_few_pairs_are_trained_on(splits):
    few = built(splits, pairs=250)
    more = study.build({**SMALL, "pairs": 5_000}, study.draw_splits({**SMALL, "pairs": 5_000}))
    for side in ("source_tokenizer", "target_tokenizer"):
        assert getattr(few, side).vocab_size == getattr(more, side).vocab_size
    again = study.draw_splits({**SMALL, "pairs": 5_000})
    assert again.test == splits.test
    assert again.train[: len(splits.train)] == splits.train


def test_the_loss_is_the_trainers_and_words_are_counted_one_by_one(splits):
    translator = built(splits)
    pairs = splits.test[:13]
    examples = encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer)
    loss, right = study.score_next_words(translator, pairs)
    wanted = token_loss(translator.model, [collate(examples)], torch.float32)
    assert loss == pytest.approx(wanted, abs=1e-4)
    hits = []
    for example in examples:
        batch = collate([example])
        best = translator.model(batch.source, batch.target_input).argmax(dim=-1)[0]
        hits += (best == batch.target_output[0]).tolist()
    assert right == pytest.approx(sum(hits) / len(hits), abs=1e-4)


def test_translations_are_scored_as_they_are(splits, monkeypatch):
    known = {pair.source: pair.target for pair in splits.test}

    def every_second(translator, sources, beam_size):
        texts = [known[source] if n % 2 else "non" for n, source in enumerate(sources)]
        return [SimpleNamespace(translation=text) for text in texts]

    monkeypatch.setattr(study.Translator, "translate", every_second)
    found = study.score_translations(built(splits), splits.test[:10])
    assert found["exact_match"] == 0.5
    unseen = [n for n, pair in enumerate(splits.test[:10]) if study.is_held_out(pair)]
    assert 0 < len(unseen) < 10
    assert found["unseen"] == pytest.approx(sum(n % 2 for n in unseen) / len(unseen), abs=1e-4)


def test_the_point_that_two_studies_share_is_the_same_setting():
    """Lesson 14 asks that both give the same numbers."""
    base = {**study.BASE, "seed": 0}
    shared = [s for s in scaling.GRID if s["row"] == "data" and s["pairs"] == base["pairs"]]
    assert {name: value for name, value in shared[0].items() if name != "row"} == base
