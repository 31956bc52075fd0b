"""Many threads, one translator: each gets what it would have got alone."""

import itertools
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.parametrize import register_parametrization

from tests.test_translator import make_translator
from tests.thorough import thorough_from
from tests.training.test_trainer import make_trainer, same_weights
from transformer_lab.attention.record import Head
from transformer_lab.decoding import greedy
from transformer_lab.lab import LabWidget
from transformer_lab.training.learner import clone_sharing_parameters
from transformer_lab.translator import Translator

pytestmark = pytest.mark.slow

CALLS = int(os.environ.get("STRESS_CALLS", "8"))
"""Of each thread; `STRESS_CALLS=2000 python -m pytest tests/test_threads.py` is the long one."""
THREADS = 8
SENTENCES = ["the cat sees a dog", "a small red house"]
HEADS = [Head("encoder", 1, 2), Head("decoder", 0, 1), Head("cross", 2, 0)]


def questions(translator: Translator, widgets: threading.local):
    """What a caller may ask, each as a function without arguments and with one right answer."""

    def hear(sentence, head):
        if not hasattr(widgets, "own"):  # a page belongs to one reader
            widgets.own = LabWidget(translator, "the cat")
        widget = widgets.own
        kept, changes = ({"mute": mute, "points": []} for mute in ([], [head._asdict()]))
        question = {"ask": 1, "text": sentence, "kept": kept, "changes": changes}
        widget.hear(widget, question, [])
        return widget.record, widget.data["before"]["written"]

    def patched(sentence, head):
        own = translator.attend(sentence).weights(head)
        patch = np.zeros(own.shape)
        patch[:, 0] = 1
        return translator.attend(sentence, patch={head: patch})

    for sentence in SENTENCES:
        yield lambda s=sentence: translator.translate(s)
        yield lambda s=sentence: translator.translate(s, beam_size=1)
        yield lambda s=sentence: translator.sample([s] * 3, seed=5)
        yield lambda s=sentence: translator.score(s, "le chat voit")
        yield lambda s=sentence: translator.attend(s)
        for head in HEADS:
            yield lambda s=sentence, h=head: translator.attend(s, mute=[h])
            yield lambda s=sentence, h=head: patched(s, h)
            yield lambda s=sentence, h=head: hear(s, h)


@pytest.fixture
def short(monkeypatch):
    """Translations of at most 9 words: an untrained model would write on to the limit."""
    monkeypatch.setattr(
        "transformer_lab.decoding.generate.length_limits", lambda _, mask, __: [9] * len(mask)
    )
    monkeypatch.setattr(
        "transformer_lab.decoding.beam.length_limits", lambda _, mask, __: [9] * len(mask)
    )


@pytest.mark.parametrize("calls", thorough_from(1, [2, CALLS]))
def test_each_of_many_threads_gets_what_it_would_have_got_alone(short, calls):
    translator = make_translator()
    asked = list(questions(translator, threading.local()))
    alone = [ask() for ask in asked]
    assert alone[4] != alone[5], "a muted head changes the record, or nothing is tested here"
    order = list(itertools.islice(itertools.cycle(range(len(asked))), THREADS * calls))
    random.Random(0).shuffle(order)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda i: asked[i](), order))
    wrong = [i for i, answer in zip(order, found, strict=True) if answer != alone[i]]
    assert wrong == []


@contextmanager
def meanwhile(act):
    """Inside the block another thread does this over and over; at least once."""
    begun, done = threading.Event(), threading.Event()

    def again_and_again():
        while not done.is_set():
            act()
            begun.set()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(again_and_again)
        begun.wait(30)
        try:
            yield
        finally:
            done.set()
        other.result()


@pytest.mark.parametrize("does", ["translates", "loads"])
def test_training_ends_with_the_same_bits_while_another_thread(does):
    whole, watched = make_trainer(), make_trainer()
    whole.train()

    def translate():
        watched.model.eval()
        greedy(watched.model, torch.tensor([[4, 5, 6, 2]]), max_length=5)

    act = translate if does == "translates" else lambda: Translator.load(device="cpu")
    with meanwhile(act):
        assert watched.train() == "max_steps"
    assert same_weights(whole, watched)


def test_what_is_written_while_it_trains_has_no_dropout():
    seen = []

    def twice(report):
        source, target = torch.tensor([[4, 5, 6, 2]]), torch.tensor([[1, 7, 8]])
        with torch.no_grad():
            seen.append([trainer.model(source, target) for _ in range(2)])

    trainer = make_trainer(on_step=twice)
    trainer.train()
    assert not trainer.model.training
    assert len(seen) == 12
    assert all(torch.equal(one, other) for one, other in seen)


def test_a_learner_has_the_parameters_and_the_hooks_and_its_own_mode():
    model = make_translator(dropout=0.5).model.eval()
    learner = clone_sharing_parameters(model)
    assert {id(p) for p in learner.parameters()} == {id(p) for p in model.parameters()}
    assert learner.training
    assert not any(module.training for module in model.modules())
    assert all(module.training for module in learner.modules())
    assert not {id(m) for m in model.modules()} & {id(m) for m in learner.modules()}
    seen = []
    hook = model.output.register_forward_hook(lambda *_: seen.append(1))
    source, target = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 7]])
    learner(source, target)
    assert seen == [1]
    hook.remove()
    assert not torch.equal(learner(source, target), learner(source, target))
    assert torch.equal(model(source, target), model(source, target))


def test_a_learner_of_parametrised_modules_has_their_parameters_too():
    model = make_translator().model.eval()
    register_parametrization(model.output, "weight", nn.Dropout(0.5))
    learner = clone_sharing_parameters(model)
    source, target = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 7]])
    assert not torch.equal(learner(source, target), learner(source, target))
    assert torch.equal(model(source, target), model(source, target))
    assert {id(p) for p in learner.parameters()} == {id(p) for p in model.parameters()}


def test_loading_takes_no_random_numbers(tmp_path):
    make_translator().save(tmp_path)
    before = torch.get_rng_state()
    loaded = Translator.load(tmp_path, device="cpu")
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(loaded.model.output.weight, make_translator().model.output.weight)
