"""What lesson 10b asks about caches holds for the package's models, and the drawing is exact."""

import pytest
import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.course.judge.cases import build_small_model
from transformer_lab.course.lessons.lesson_10b import check
from transformer_lab.model import Transformer
from transformer_lab.model.attention import attention_weights
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.masks import causal_mask, padding_mask
from transformer_lab.model.positions import sinusoids


def grouped(heads, groups, layers):
    config = TransformerConfig(
        source_vocab_size=11,
        target_vocab_size=13,
        d_model=2 * heads,
        d_ff=7,
        num_heads=heads,
        num_key_value_heads=groups,
        num_encoder_layers=1,
        num_decoder_layers=layers,
        dropout=0.0,
        tie_source_target=False,
    )
    return Transformer(config).eval()


@pytest.mark.parametrize(
    ("heads", "groups", "layers"), [(6, 2, 1), (6, 3, 2), (5, 1, 3), (3, 3, 2)]
)
def test_the_size_of_the_cache_is_that_of_the_packages(heads, groups, layers):
    model, source = grouped(heads, groups, layers), torch.randint(4, 11, (2, 7))
    cache = prefill(model, source, padding_mask(source, 0))
    for written in range(4):
        kept = [t for past in cache.layers for part in past for t in (part.key, part.value) if t]
        numbers = sum(t.tensor.numel() for t in kept) / len(source)
        sizes = (layers, 2 * heads, heads, groups, 7, written)
        assert check.cache_numbers.reference(*sizes) == numbers
        _, cache = decode_step(model, torch.tensor([5, 6]), cache)


def test_to_follow_the_beams_is_the_packages_select():
    model, source = build_small_model(0), torch.randint(4, 11, (2, 5))
    repeated = source.repeat_interleave(3, dim=0)
    cache = prefill(model, repeated, padding_mask(repeated, 0))
    for word in (4, 9):
        _, cache = decode_step(model, torch.arange(word, word + 6) % 13, cache)
    parents = torch.tensor([[2, 0, 0], [1, 1, 2]])
    pairs = [(past.words.key.tensor, past.words.value.tensor) for past in cache.layers]
    mine = check.reordered.reference(pairs, parents)
    theirs = cache.select(torch.tensor([2, 0, 0, 4, 4, 5]))
    for (keys, values), past in zip(mine, theirs.layers, strict=True):
        assert torch.equal(keys, past.words.key.tensor)
        assert torch.equal(values, past.words.value.tensor)


def test_with_padding_in_front_each_sentence_is_as_if_it_were_alone():
    """One attention over embeddings with positions, where the places are those of the reference."""
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(11, 6, generator=generator, dtype=torch.float64)
    projections = torch.randn(3, 6, 5, generator=generator, dtype=torch.float64)
    sentences = [[5], [4, 6, 7, 2], [9, 0, 8]]
    pad = 3
    ids = torch.tensor([[pad] * (4 - len(s)) + s for s in sentences])
    nexts = torch.tensor([7, 1, 9])
    place, mask = check.next_places.reference(ids, pad)
    words = ids != pad
    places = (words.cumsum(dim=1) - 1).clamp(min=0)
    waves = sinusoids(8, 6).double()
    read = torch.cat([table[ids] + waves[places], (table[nexts] + waves[place])[:, None]], dim=1)
    query, key, value = (read @ w for w in projections)
    found = attention_weights(query[:, None, -1:], key[:, None], mask) @ value[:, None]
    for row, (sentence, word) in enumerate(zip(sentences, nexts.tolist(), strict=True)):
        x = table[[*sentence, word]] + waves[: len(sentence) + 1]
        q, k, v = (x @ w for w in projections)
        alone = attention_weights(q, k, causal_mask(len(x))) @ v
        assert torch.allclose(found[row, 0, 0], alone[-1], atol=1e-12)


def test_steps_with_a_cache_equal_one_pass_with_the_causal_mask():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(3, 7, 5, generator=generator, dtype=torch.float64)
    w_q, w_k, w_v = torch.randn(3, 5, 5, generator=generator, dtype=torch.float64)
    at_once = attention_weights(x @ w_q, x @ w_k, causal_mask(7)) @ (x @ w_v)
    keys = values = x.new_empty(3, 0, 5)
    for t in range(7):
        step = check.cached_step.reference
        out, keys, values = step(x[:, t], keys, values, w_q, w_k, w_v)
        assert torch.allclose(out, at_once[:, t], atol=1e-12)


def test_an_answer_that_is_right_for_no_past_alone_is_told_so():
    def keeps_one(x, keys, values, *weights):
        out, keys, values = check.cached_step.reference(x, keys, values, *weights)
        return out, keys[:, -1:] * 1, values[:, -1:] + 0 * keys.sum()

    def only_right_if_empty(x, keys, values, *weights):
        out, longer, more = check.cached_step.reference(x, keys, values, *weights)
        return out + keys.abs().sum(), longer, more

    assert "the output is right, but" in check.cached_step.verdict(keeps_one).text
    assert "and only when keys is empty" in check.cached_step.verdict(only_right_if_empty).text
