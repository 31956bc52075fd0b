"""The smoothed loss against PyTorch's, and the paper's schedule against its formula."""

import math
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lab.training import loss as losses
from transformer_lab.training.loss import label_smoothed_loss, loss_floor, projected_loss
from transformer_lab.training.schedule import inverse_sqrt_rate, linear_rate, paper_rate


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_loss_and_gradient_equal_torchs(smoothing):
    torch.manual_seed(0)
    logits = torch.randn(3, 7, 11, requires_grad=True)
    target = torch.randint(0, 11, (3, 7))
    target[1, 4:] = 0
    ours = label_smoothed_loss(logits, target, smoothing, pad_id=0)
    theirs = F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=smoothing
    )
    torch.testing.assert_close(ours, theirs)
    (found,) = torch.autograd.grad(3 * ours, logits)
    (wanted,) = torch.autograd.grad(3 * theirs, logits)
    torch.testing.assert_close(found, wanted)


def test_padding_that_cannot_be_written_costs_nothing():
    torch.manual_seed(0)
    output = nn.Linear(13, 37)
    with torch.no_grad():
        output.bias[0] = -math.inf
    features = torch.randn(3, 7, 13, requires_grad=True)
    target = torch.randint(1, 37, (3, 7))
    target[1, 4:] = 0
    found = projected_loss(features, output, target, 0.0)
    torch.testing.assert_close(found, label_smoothed_loss(output(features), target, 0.0))
    (gradient,) = torch.autograd.grad(found, features)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("slices", [1, 2, 3, 21])  # of 21 tokens: 2 are uneven
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_without_logits_is_the_loss_of_the_logits(slices, smoothing, monkeypatch):
    words = 37
    monkeypatch.setitem(losses._LOGITS_AT_ONCE, "cpu", words * 21 // slices)
    torch.manual_seed(0)
    output = nn.Linear(13, words)
    features = torch.randn(3, 7, 13, requires_grad=True)
    target = torch.randint(1, words, (3, 7))
    target[1, 4:] = 0
    inputs = [features, output.weight, output.bias]
    wanted = label_smoothed_loss(output(features), target, smoothing)
    found = projected_loss(features, output, target, smoothing)
    torch.testing.assert_close(found, wanted)
    gradients = torch.autograd.grad(3 * found, inputs), torch.autograd.grad(3 * wanted, inputs)
    torch.testing.assert_close(*gradients)
    assert gradients[0][0][1, 4:].eq(0).all()  # padding teaches nothing


def test_the_loss_without_logits_in_bfloat16():
    torch.manual_seed(0)
    output = nn.Linear(13, 37)
    features = torch.randn(101, 13, requires_grad=True)
    target = torch.randint(1, 37, (101,))
    inputs = [features, output.weight, output.bias]
    with torch.autocast("cpu", torch.bfloat16):
        found = projected_loss(features, output, target)
    assert found.dtype == torch.float32
    wanted = label_smoothed_loss(output(features), target)
    assert found.item() == pytest.approx(wanted.item(), rel=1e-2)
    gradients = torch.autograd.grad(found, inputs), torch.autograd.grad(wanted, inputs)
    for ours, theirs in zip(*gradients, strict=True):
        assert (ours - theirs).norm() < 1e-2 * theirs.norm()


def test_a_batch_of_padding_costs_nothing_without_logits_either():
    features = torch.randn(2, 3, 5, requires_grad=True)
    loss = projected_loss(features, nn.Linear(5, 7), torch.zeros(2, 3, dtype=torch.int64))
    loss.backward()
    assert loss == 0
    assert features.grad.eq(0).all()


def test_gradient_agrees_with_finite_differences():
    logits = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([3, 0, 6, 1, 2])

    # The loss computes in float32 at most for models; here the step must be wide enough for it.
    def loss(x):
        return label_smoothed_loss(x, target, 0.1)

    (gradient,) = torch.autograd.grad(loss(logits), logits)
    step = 1e-2
    for place in [(0, 3), (2, 0), (4, 2)]:
        moved = torch.zeros_like(logits)
        moved[place] = step
        slope = (loss(logits + moved) - loss(logits - moved)) / (2 * step)
        assert gradient[place].item() == pytest.approx(slope.item(), abs=1e-4)


@pytest.mark.parametrize("scale", [0.0, 1e4, -1e4])
def test_loss_is_finite_for_extreme_logits(scale):
    logits = torch.full((2, 5), 0.0)
    logits[0, 3] = scale
    logits.requires_grad_()
    loss = label_smoothed_loss(logits, torch.tensor([3, 1]))
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()


def test_without_smoothing_a_word_that_cannot_be_costs_nothing():
    logits = torch.tensor([[0.5, -torch.inf, 2.0, 1.0]], requires_grad=True)
    target = torch.tensor([2])
    loss = label_smoothed_loss(logits, target, smoothing=0.0)
    torch.testing.assert_close(loss, F.cross_entropy(logits, target))
    (grad,) = torch.autograd.grad(loss, logits)
    assert grad.isfinite().all()


def test_a_batch_of_padding_costs_nothing():
    logits = torch.randn(2, 3, 5, requires_grad=True)
    loss = label_smoothed_loss(logits, torch.zeros(2, 3, dtype=torch.int64))
    loss.backward()
    assert loss == 0
    assert logits.grad.eq(0).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
def test_no_logits_cost_less_than_the_floor(smoothing):
    words = 7
    smoothed = torch.full((words,), smoothing / words)
    smoothed[3] += 1 - smoothing
    best = label_smoothed_loss(smoothed.clamp(min=1e-30).log()[None], torch.tensor([3]), smoothing)
    assert loss_floor(smoothing, words) == pytest.approx(best.item(), abs=1e-5)
    for seed in range(20):
        logits = 3 * torch.randn(1, words, generator=torch.Generator().manual_seed(seed))
        loss = label_smoothed_loss(logits, torch.tensor([3]), smoothing).item()
        assert loss >= loss_floor(smoothing, words) - 1e-6


def test_schedule_is_equation_3_of_the_paper():
    assert paper_rate(1, 512, 4_000) == pytest.approx(512**-0.5 * 4_000**-1.5)
    assert paper_rate(100_000, 512, 4_000) == pytest.approx(512**-0.5 * 100_000**-0.5)
    assert paper_rate(3, 512) == paper_rate(3, 512, 4_000)  # the paper's warm-up
    rates = [paper_rate(step, 512, 50) for step in range(1, 200)]
    assert max(range(199), key=rates.__getitem__) == 49
    assert max(rates) == pytest.approx((512 * 50) ** -0.5)


def test_the_peak_form_is_the_same_curve_named_by_its_peak():
    peak = paper_rate(70, 96, 70)
    for step in (1, 13, 70, 71, 999):
        assert inverse_sqrt_rate(step, peak, 70) == pytest.approx(paper_rate(step, 96, 70))
    assert inverse_sqrt_rate(70, 2.5e-3, 70) == 2.5e-3
    assert math.isclose(inverse_sqrt_rate(280, 2.5e-3, 70), 1.25e-3)


def test_the_linear_decay_rises_as_the_paper_and_ends_at_nothing():
    rates = [linear_rate(step, 2.5e-3, 7, 31) for step in range(1, 35)]
    assert rates[:7] == pytest.approx([inverse_sqrt_rate(step, 2.5e-3, 7) for step in range(1, 8)])
    assert max(rates) == rates[6] == 2.5e-3
    falls = [one - other for one, other in pairwise(rates[6:32])]
    assert falls == pytest.approx([2.5e-3 / 25] * 25)
    assert rates[30] > 0
    assert rates[31:] == [0, 0, 0]
    # A run shorter than its warm-up only rises.
    assert linear_rate(3, 2.5e-3, 200, 5) == pytest.approx(inverse_sqrt_rate(3, 2.5e-3, 200))
