"""The states of a recurrence, computed in three ways."""

import pytest
import torch

from transformer_lab.model.later.state_space import convolution, parallel_scan, scan


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 13, 64])
def test_the_parallel_scan_equals_the_sequential_one(length):
    generator = torch.Generator().manual_seed(length)
    decay, inputs = torch.randn(2, 2, 3, length, 5, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(parallel_scan(decay, inputs), scan(decay, inputs))


def test_with_one_decay_the_recurrence_is_a_convolution():
    generator = torch.Generator().manual_seed(0)
    decay = torch.rand(5, generator=generator, dtype=torch.float64) * 2 - 1
    inputs = torch.randn(3, 11, 5, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(convolution(decay, inputs), scan(decay.expand_as(inputs), inputs))


def test_a_worked_case():
    decay = torch.tensor([[9.0], [0.5], [0.0], [2.0]])
    inputs = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    assert scan(decay, inputs).flatten().tolist() == [1.0, 2.5, 3.0, 10.0]


def test_gradients_pass_through_both():
    decay = torch.rand(7, 3, dtype=torch.float64, requires_grad=True)
    inputs = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    one, two = (
        torch.autograd.grad(f(decay, inputs).sin().sum(), (decay, inputs))
        for f in (scan, parallel_scan)
    )
    for a, b in zip(one, two, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("way", [scan, parallel_scan])
def test_no_step_has_no_state(way):
    decay = torch.ones(3, 0, 5, dtype=torch.float64)
    assert way(decay, decay).shape == (3, 0, 5)
