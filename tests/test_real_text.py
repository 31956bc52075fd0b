"""Real text from end to end: fetched, split by package family, learnt from, and scored."""

from dataclasses import replace

import pytest

from tests.data.test_corpora import assert_disjoint, sources
from transformer_lab.config import TrainingConfig
from transformer_lab.data.corpora import debian
from transformer_lab.data.pair import Splits
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.evaluation import evaluate
from transformer_lab.runs.presets import PRESETS

pytestmark = pytest.mark.slow


@pytest.mark.thorough(
    caught_by=["tests/test_presets.py::test_the_world_trains_and_is_scored_by_construction"]
)
def test_a_few_steps_on_real_text_lower_the_loss_and_are_scored(real_french):
    """A small piece of what `train --corpus debian:fr` runs; skipped where apt gives no French."""
    whole, _ = real_french
    splits = Splits(whole.train[:3_001], whole.validation[:53], whole.test[:7])
    preset = replace(PRESETS["small"], vocab_size=1_009)
    translator = build_translator(splits, "debian:fr", preset)
    training = TrainingConfig(
        max_steps=40, batch_tokens=701, warmup_steps=20, validate_every=20, device="cpu"
    )
    trainer = make_trainer(translator, splits, training, show_progress=False)
    first = trainer.validation_loss()
    trainer.train()
    losses = [first, *(report["validation_loss"] for report in trainer.progress.history)]
    assert len(losses) == 3
    assert losses[0] > losses[1] > losses[2]
    evaluation = evaluate(translator, splits.test, beam_size=1)
    assert evaluation.sentences == 7
    assert 0 <= evaluation.bleu <= 100
    assert "tok:13a" in evaluation.bleu_signature
    assert evaluation.chrf > 0


@pytest.mark.thorough(
    caught_by=["tests/data/test_corpora.py::test_wrapped_sentences_are_paired_across_line_ends"]
)
def test_the_real_mirrors_give_much_french(real_french):
    """Fetches some ten megabytes; skipped where the network or the mirrors do not let it."""
    splits, cache = real_french
    assert len(splits.train) > 20_000
    assert 500 < len(sources(splits.validation)) <= 1000
    assert 500 < len(sources(splits.test)) <= 1000
    assert_disjoint(splits)
    assert not {p.source for p in splits.train} & {p.target for p in splits.train}
    assert debian("fr", cache_folder=cache) == splits
