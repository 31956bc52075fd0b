"""The shipped translator on the device: the CPU's logits, records, experiments and translations."""

import numpy as np
import pytest
import torch

from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.data.batching import pad
from transformer_lab.data.world.grammar import FAMOUS, world
from transformer_lab.translator import Translator

SENTENCES = [pair.source for pair in world(train=1, validation=1, test=29, seed=3).test]
HEADS = [Head("encoder", 1, 1), Head("decoder", 0, 2), Head("cross", 1, 3)]


@pytest.fixture(scope="module")
def on_cpu():
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def translator(device):
    return Translator.load(device=str(device))


def batch_of(translator, device):
    """Ids of sentences of many lengths, and of what they are translated into, padded."""
    source = [translator.encode(text) for text in SENTENCES]
    target = [translator.encode_target(p.target) for p in FAMOUS]
    target = [target[i % len(target)][: 5 + i % 7] for i in range(len(source))]
    return pad(source).to(device), pad(target).to(device)


@torch.no_grad()
def logits_of(translator, device, **changes):
    with capture_attention(translator.model, **changes) as capture:
        logits = translator.model(*batch_of(translator, device))
    return logits.float().cpu(), capture


@torch.no_grad()
def test_the_logits_are_the_cpus(translator, on_cpu, device):
    expected = on_cpu.model(*batch_of(on_cpu, "cpu"))
    found = translator.model(*batch_of(translator, device)).cpu()
    assert (found - expected).abs().max() < 1e-3


@torch.no_grad()
def test_a_sentence_has_the_same_logits_alone_and_beside_longer_ones(translator, device):
    source, target = batch_of(translator, device)
    together = translator.model(source, target)
    for i in range(0, len(source), 7):
        words, steps = int((source[i] != 0).sum()), int((target[i] != 0).sum())
        alone = translator.model(source[i : i + 1, :words], target[i : i + 1, :steps])
        assert (together[i, :steps] - alone[0]).abs().max() < 1e-3


def test_the_record_is_the_cpus_and_its_rows_sum_to_one(translator, on_cpu, device):
    _, found = logits_of(translator, device)
    _, expected = logits_of(on_cpu, "cpu")
    for kind in ("encoder", "decoder", "cross"):
        for one, other in zip(found.layers(kind), expected.layers(kind), strict=True):
            np.testing.assert_allclose(one.sum(axis=-1), 1, atol=1e-5)
            np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.kind)
def test_muting_and_patching_a_head_changes_what_it_changes_on_the_cpu(
    translator, on_cpu, device, head
):
    plain, capture = logits_of(on_cpu, "cpu")
    weights = capture.layers(head.kind)[head.layer][:, head.head]
    uniform = (weights > 0) / (weights > 0).sum(axis=-1, keepdims=True)
    for change in ({"mute": [head]}, {"patch": {head: uniform}}):
        found, _ = logits_of(translator, device, **change)
        expected, _ = logits_of(on_cpu, "cpu", **change)
        assert (found - expected).abs().max() < 1e-3
        assert (expected - plain).abs().max() > 0.1  # the experiment did something


@pytest.mark.parametrize("beam_size", [1, 4])
def test_translations_are_the_cpus(translator, on_cpu, beam_size):
    found = translator.translate(SENTENCES, beam_size=beam_size)
    expected = on_cpu.translate(SENTENCES, beam_size=beam_size)
    assert [t.translation for t in found] == [t.translation for t in expected]
    scores = [[t.score for t in texts] for texts in (found, expected)]
    np.testing.assert_allclose(*scores, atol=1e-3)


@torch.no_grad()
def test_half_precision_writes_nearly_all_the_same_words(translator, on_cpu, device):
    expected = on_cpu.model(*batch_of(on_cpu, "cpu")).argmax(dim=-1)
    real = batch_of(on_cpu, "cpu")[1] != 0
    for dtype in (torch.bfloat16, torch.float16):
        half = Translator.load(device=str(device))
        half.model.to(dtype)
        found = half.model(*batch_of(half, device)).argmax(dim=-1).cpu()
        assert (found == expected)[real].float().mean() > 0.95, dtype
