"""The wiring of a decoder layer does with toy parts what its docstring works out with a pencil."""

from types import SimpleNamespace

import torch

from transformer_lab.course.lessons.lesson_06 import check
from transformer_lab.model.masks import causal_mask


def mean_of_what_is_seen(query, key, value, mask):
    seen = mask.expand(len(query), 1, query.size(1), key.size(1))[:, 0].double()
    return seen @ value / seen.sum(dim=-1, keepdim=True)


def summed(x, sublayer):
    return x + sublayer(x)


TOY = SimpleNamespace(
    self_attention=mean_of_what_is_seen,
    cross_attention=mean_of_what_is_seen,
    feed_forward=lambda x: 10 * x,
    add_norm_1=summed,
    add_norm_2=summed,
    add_norm_3=summed,
)


def test_the_worked_example():
    x, memory = (torch.tensor([[[a], [b]]], dtype=torch.float64) for a, b in ((1, 3), (6, 8)))
    words = torch.ones(1, 1, 1, 2, dtype=torch.bool)
    found = check.decoder_layer.reference(TOY, x, memory, causal_mask(2), words)
    assert found.tolist() == [[[99.0], [132.0]]]


def test_on_each_layer_of_the_check_it_equals_the_packages():
    for layer, *inputs in check.decoder_layer.cases():
        assert torch.equal(check.decoder_layer.reference(layer, *inputs), layer(*inputs))
