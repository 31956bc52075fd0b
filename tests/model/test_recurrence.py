"""The recurrence of fast translators, against its own equations, one step after the other."""

import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.model.build import build_model
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.later.recurrence import SSRU
from transformer_lab.model.masks import padding_mask

D = 5


def by_hand(layer, x):
    state, found = torch.zeros(len(x), D), []
    for t in range(x.size(1)):
        f = torch.sigmoid(x[:, t] @ layer.w_f.weight.T + layer.w_f.bias)
        state = f * state + (1 - f) * (x[:, t] @ layer.w.weight.T)
        found.append(state.clamp(min=0))
    return torch.stack(found, dim=1)


def test_it_is_its_equations():
    torch.manual_seed(0)
    layer, x = SSRU(D), torch.randn(3, 7, D)
    torch.testing.assert_close(layer(x), by_hand(layer, x))


def test_in_pieces_it_is_the_same_and_a_branch_leaves_its_past_alone():
    torch.manual_seed(1)
    layer, x = SSRU(D), torch.randn(2, 7, D)
    cache = KVCache()
    first = layer(x[:, :3], cache=cache)
    branch = cache.fork()
    rest = [layer(x[:, start:end], cache=branch) for start, end in ((3, 4), (4, 6), (6, 7))]
    torch.testing.assert_close(torch.cat([first, *rest], dim=1), by_hand(layer, x))
    assert (cache.length, branch.length) == (3, 7)
    assert cache.value.tensor.numel() == 0  # the state is all that is kept
    with torch.no_grad():
        kept = KVCache()
        layer(x[:, :3], cache=kept)
        other = layer(x[:, 6:], cache=kept.select(torch.tensor([1, 0])))
    swapped = torch.cat([x[[1, 0], :3], x[:, 6:]], dim=1)
    torch.testing.assert_close(other, by_hand(layer, swapped)[:, 3:])


def test_a_decoder_of_it_writes_word_by_word_what_it_writes_at_once():
    torch.manual_seed(2)
    config = TransformerConfig(
        source_vocab_size=13,
        target_vocab_size=13,
        d_model=6,
        d_ff=11,
        num_heads=3,
        num_encoder_layers=1,
        num_decoder_layers=2,
        recurrent_decoder=True,
    )
    model = build_model(config).eval()
    source, target = torch.randint(4, 13, (2, 5)), torch.randint(4, 13, (2, 7))
    expected = model(source, target)
    cache = prefill(model, source, padding_mask(source, config.pad_id))
    for t in range(target.size(1)):
        logits, cache = decode_step(model, target[:, t], cache)
        torch.testing.assert_close(logits, expected[:, t], atol=1e-5, rtol=1e-5)


def test_no_word_sees_a_later_one():
    torch.manual_seed(3)
    layer, x = SSRU(D), torch.randn(1, 7, D)
    changed = x.clone()
    changed[:, 4:] = torch.randn(1, 3, D)
    assert torch.equal(layer(x)[:, :4], layer(changed)[:, :4])
