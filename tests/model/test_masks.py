"""One door for masks: what fits in two ways, or in none, is refused on every path, and said why."""

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.conftest import make_model, small_config
from transformer_lab import numpy_reference as reference
from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.config import Positions, check_mask
from transformer_lab.data.batching import Batch
from transformer_lab.decoding import (
    beam_search,
    greedy,
    minimum_bayes_risk,
    sample,
    speculative_greedy,
)
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model.attention import (
    AttentionCore,
    MultiHeadAttention,
    attention_weights,
    fused_attention,
)
from transformer_lab.model.build import build_model
from transformer_lab.model.decoder import Decoder
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.encoder import Encoder
from transformer_lab.model.grouped_attention import GroupedQueryAttention
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.later.variants import chunked_attention
from transformer_lab.model.masks import padding_in_front, padding_mask, roll_rows
from transformer_lab.training.step import BatchLoss

BATCH, HEADS, QUERY, KEY, D = 3, 3, 5, 7, 12
"""As many sentences as heads: there a mask of three dimensions could be read in two ways."""

AMBIGUOUS = [(BATCH, 1, KEY), (BATCH, QUERY, KEY), (HEADS, QUERY, 1), (BATCH, 1, 1)]
UNFIT = [(KEY, QUERY), (BATCH, KEY), (QUERY, KEY + 1), (2, 1, 1, KEY), (1, 2, 1, KEY), (0, KEY)]
UNFIT += [
    (1, BATCH, HEADS, QUERY, KEY),
    (BATCH, HEADS, QUERY, 2),
    (BATCH, 1, KEY, KEY),
    (2, 1, KEY),
]
FINE = [(), (KEY,), (1,), (QUERY, KEY), (1, KEY), (QUERY, 1), (1, 1, KEY), (1, QUERY, KEY)]
FINE += [(BATCH, 1, 1, KEY), (1, HEADS, 1, KEY), (BATCH, HEADS, QUERY, KEY), (1, 1, QUERY, KEY)]


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def of_heads():
    return numbers(BATCH, HEADS, QUERY, D), numbers(BATCH, HEADS, KEY, D)


def of_words():
    return numbers(BATCH, QUERY, D), numbers(BATCH, KEY, D)


def in_numpy(mask):
    query, key = (x.double().numpy() for x in of_heads())
    return reference.scaled_dot_product_attention(query, key, key, mask.numpy())[0]


def by_heads_in_numpy(mask):
    query, key = (x.double().numpy() for x in of_words())
    maps = [numbers(D, D).double().numpy(), np.zeros(D)] * 4
    parameters = reference.MultiHeadParameters(*maps)
    return reference.multi_head_attention(query, key, key, parameters, HEADS, mask.numpy())[0]


def by_weights(mask):
    query, key = of_heads()
    return attention_weights(query, key, mask) @ key


def fused(mask):
    query, key = of_heads()
    return fused_attention(query, key, key, mask)


def fused_with_bias(mask):
    query, key = of_heads()
    return fused_attention(query, key, key, mask, numbers(HEADS, QUERY, KEY))


def core(mask):
    query, key = of_heads()
    return AttentionCore().eval()(query, key, key, mask)


def watched(mask):
    query, key = of_heads()
    one = AttentionCore().eval()
    with use_hooks({one: Hook()}):
        return one(query, key, key, mask)


def behind_a_past(mask):
    query, key = of_heads()
    cache, before, new = KVCache(), key[:, :, :2], key[:, :, 2:]
    cache.append(before, before)
    try:
        return AttentionCore().eval()(query, new, new, mask, cache)
    except ValueError:
        assert cache.length == 2, "what is refused is not kept"
        raise


def multi_head(mask):
    query, key = of_words()
    return MultiHeadAttention(D, HEADS)(query, key, key, mask)


def grouped(mask):
    query, key = of_words()
    return GroupedQueryAttention(D, HEADS, 1)(query, key, key, mask)


def decoder(mask):
    query, key = of_words()
    return Decoder(small_config()).eval()(query, key, None, mask)


def chunked(mask):
    query, key = of_heads()
    return chunked_attention(query, key, key, mask, size=3)


PATHS = [in_numpy, by_heads_in_numpy, by_weights, fused, fused_with_bias, core, watched]
PATHS += [behind_a_past, multi_head, grouped, decoder, chunked]


def mask_of(shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(5)) < 0.7


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_a_mask_that_could_count_sentences_or_heads_is_refused_on_every_path(path):
    for shape in AMBIGUOUS:
        said = re.escape(f"mask.shape is {shape}; expected a shape that broadcasts to (3, 3, 5, 7)")
        with pytest.raises(ValueError, match=f"{said}.* sentences or heads?.*mask\\[:, None\\]"):
            path(mask_of(shape))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_a_mask_that_does_not_fit_is_named_on_every_path(path):
    for shape in UNFIT:
        said = re.escape(f"mask.shape is {shape}; expected a shape that broadcasts to (3, 3, 5, 7)")
        with pytest.raises(ValueError, match=said):
            path(mask_of(shape))


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.int64])
def test_a_mask_of_numbers_is_refused_on_every_path(path, dtype):
    with pytest.raises(
        ValueError, match="mask.dtype is .*; expected .*bool, where True means 'may attend'"
    ):
        path(mask_of((QUERY, KEY)).to(dtype))


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_a_mask_of_the_other_library_or_of_none_is_refused_on_every_path(path):
    mask = mask_of((QUERY, KEY))
    other = mask if path in (in_numpy, by_heads_in_numpy) else mask.numpy()
    for one in (other, mask.tolist(), True, "x"):
        wrong = SimpleNamespace(numpy=lambda one=one: one) if other is mask else one
        found = "mask.dtype is" if hasattr(one, "dtype") else "mask is of type"
        with pytest.raises(ValueError, match=f"{found} .*; expected .*bool, where True means"):
            path(wrong)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_a_mask_that_fits_in_one_way_is_as_if_it_were_written_out(path):
    for shape in FINE:
        mask = mask_of(shape)
        torch.manual_seed(0)
        found = path(mask)
        torch.manual_seed(0)
        whole = path(mask.expand(BATCH, HEADS, QUERY, KEY).clone())
        torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(whole))


def test_the_encoder_refuses_them_too():
    encoder, x = Encoder(small_config()).eval(), numbers(BATCH, KEY, D)
    for shape in [(BATCH, 1, KEY), (BATCH, KEY, KEY)]:
        with pytest.raises(ValueError, match="count sentences or heads"):
            encoder(x, mask_of(shape))
    assert encoder(x, mask_of((KEY, KEY))).shape == x.shape


def test_what_is_said_names_the_number_of_keys():
    with pytest.raises(ValueError, match="there are 7 keys, but the mask covers 5"):
        check_mask(torch.ones((3, 1, 1, 5), dtype=torch.bool), (3, 3, 5, 7))
    with pytest.raises(
        ValueError, match="mask is of type list; expected a tensor of dtype torch.bool"
    ):
        check_mask([[True]], (1, 1))


def test_with_scores_of_three_dimensions_three_are_clear():
    query, key = of_words()
    mask = mask_of((BATCH, 1, KEY))
    found = attention_weights(query, key, mask)
    four = attention_weights(query[:, None], key[:, None], mask[:, None])[:, 0]
    assert torch.equal(found, four)
    with pytest.raises(ValueError, match="broadcasts to"):
        attention_weights(query, key, mask[:, None])


# ---------------------------------------------------------------- the mask of a source

SOURCE = torch.tensor([[5, 9, 7, 2], [8, 6, 2, 0], [4, 2, 0, 0], [11, 5, 5, 2]])
"""As many sentences as words: (batch, source) could be (query, key)."""
TARGET = torch.tensor([[1, 6, 9]] * 4)
SOURCE_MASKS = [
    (4, 4),
    (4, 1, 4),
    (1, 1, 4),
    (1, 4),
    (4, 1, 4, 4),
    (3, 1, 1, 4),
    (4, 1, 1, 3),
    (4,),
]


def generator():
    return torch.Generator().manual_seed(0)


READERS = {
    "forward": lambda model, mask: model(SOURCE, TARGET, mask),
    "features": lambda model, mask: model.features(SOURCE, TARGET, mask),
    "encode": lambda model, mask: model.encode(SOURCE, mask),
    "start_cache": lambda model, mask: prefill(model, SOURCE, mask),
    "greedy": lambda model, mask: greedy(model, SOURCE, mask, 3),
    "beam_search": lambda model, mask: beam_search(model, SOURCE, mask, max_length=3),
    "sample": lambda model, mask: sample(model, SOURCE, mask, generator=generator(), max_length=3),
    "minimum_bayes_risk": lambda model, mask: minimum_bayes_risk(
        model, SOURCE, mask, generator=generator(), utility=lambda a, b: a == b, candidates=1
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_one_row_of_a_mask_serves_all_sources(name):
    model, one = make_model(), torch.tensor([[[[True, True, False, True]]]])
    with torch.no_grad():
        found, expected = (READERS[name](model, mask) for mask in (one, one.repeat(4, 1, 1, 1)))
    if name == "start_cache":
        found, expected = found.memory_mask, expected.memory_mask
    same = torch.equal(found, expected) if torch.is_tensor(found) else found == expected
    assert same


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize("name", READERS)
def test_a_source_mask_of_another_shape_is_refused_whoever_reads_it(name):
    model = make_model()
    for shape in SOURCE_MASKS:
        with pytest.raises(
            ValueError,
            match=r"source_mask.shape is .*; expected \(batch, 1, 1, source\) = .*, as returned by",
        ):
            READERS[name](model, torch.ones(shape, dtype=torch.bool))
    for dtype in (torch.float64, torch.int64):
        with pytest.raises(ValueError, match="mask.dtype is .*; expected torch.bool"):
            READERS[name](model, padding_mask(SOURCE, 0).to(dtype))
    for other in (padding_mask(SOURCE, 0).numpy(), padding_mask(SOURCE, 0).tolist()):
        found = "mask.dtype is" if hasattr(other, "dtype") else "mask is of type"
        with pytest.raises(ValueError, match=f"{found} .*; expected .*torch.bool"):
            READERS[name](model, other)
    READERS[name](model, padding_mask(SOURCE, 0))


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize("name", ["greedy", "beam_search", "sample"])
def test_one_sentence_without_its_batch_is_refused(name, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", SOURCE[0])
    with pytest.raises(
        ValueError, match=r"source is .*\(4,\).*; expected an int64 or int32 tensor"
    ):
        READERS[name](make_model(), None)


@pytest.mark.parametrize("wrong", [-1, 23, 10**9])
@pytest.mark.parametrize("name", READERS)
def test_an_id_that_the_vocabulary_lacks_is_named(name, wrong, monkeypatch):
    source = SOURCE.clone()
    source[2, 1] = wrong
    monkeypatch.setitem(globals(), "SOURCE", source)
    with pytest.raises(
        ValueError, match=f"ids contain {wrong}; expected ids from 0 to 22, because the vocabulary"
    ):
        READERS[name](make_model(), padding_mask(source, 0))


@pytest.mark.parametrize("wrong", [-1, 29])
def test_an_id_that_the_targets_vocabulary_lacks_is_named_in_one_pass_and_in_steps(wrong):
    model, last = make_model(), torch.tensor([4, 5, wrong, 6])
    cache = prefill(model, SOURCE, padding_mask(SOURCE, 0))
    for run in (
        lambda: decode_step(model, last, cache),
        lambda: model(SOURCE, torch.stack([TARGET[:, 0], last], dim=1)),
    ):
        with pytest.raises(
            ValueError, match=f"ids contain {wrong}; expected ids from 0 to 28, because the"
        ):
            run()


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize(("sources", "targets"), [(3, 4), (4, 3), (4, 2), (0, 2)])
def test_batches_of_source_and_target_that_do_not_fit_are_named(sources, targets):
    multiple = f"a multiple of {sources}" if sources else "none"
    said = f"query has {targets} sentences; expected {multiple}, because"
    with pytest.raises(ValueError, match=said):
        make_model()(SOURCE[:sources], TARGET[:targets])


# ---------------------------------------------------------------- padding in front


@pytest.mark.parametrize("pad_id", [0, 5])
def test_rows_are_rolled_each_by_its_own_number(pad_id):
    p = pad_id
    ids = torch.tensor([[p, p, 7, p, 9], [7, 8, 9, 6, p], [p, p, p, p, p], [p, p, p, p, 8]])
    start = padding_in_front(ids, padding_mask(ids, pad_id), pad_id)
    assert start.tolist() == padding_in_front(ids, None, pad_id).tolist() == [2, 0, 5, 4]
    rolled = roll_rows(ids, start)
    assert rolled.tolist() == [[7, p, 9, p, p], [7, 8, 9, 6, p], [p] * 5, [8, p, p, p, p]]
    assert torch.equal(roll_rows(rolled, -start), ids)
    x = numbers(4, 5, 3).requires_grad_()
    grad = numbers(4, 5, 3).flip(0)
    assert torch.equal(
        torch.autograd.grad(roll_rows(x, start), x, grad)[0], roll_rows(grad, -start)
    )
    for shape in [(0, 5), (3, 0)]:
        empty = torch.zeros(shape, dtype=torch.int64)
        assert roll_rows(empty, padding_in_front(empty, None, pad_id)).shape == shape


def sides(pad_id: int):
    """Sentences padded on the left, and their words alone."""
    words = [[6, 9, 11, 7, 13, 8, 2], [8, 21, 4, 2], [10, 2]]
    padded = [[pad_id] * (7 - len(one)) + one for one in words]
    return torch.tensor(padded), [torch.tensor([one]) for one in words]


POSITIONS = [("positions", kind) for kind in Positions.__args__]


@pytest.mark.parametrize("change", [*POSITIONS, ("norm", "pre"), ("num_key_value_heads", 1)])
@pytest.mark.parametrize("pad_id", [0, 5])
def test_a_source_padded_in_front_has_the_logits_of_its_words_alone(change, pad_id):
    model = make_model(seed=3, pad_id=pad_id, **dict([change]))
    source, alone = sides(pad_id)
    target = torch.tensor([[1, 6, 9, 11, 4]] * 3)
    # The angles of rotary positions come in float32.
    tolerance = {"rtol": 1e-6, "atol": 1e-6} if change[1] == "rotary" else {}
    for mask in (None, padding_mask(source, pad_id)):
        logits = model(source, target, mask)
        for row, one in enumerate(alone):
            torch.testing.assert_close(logits[row : row + 1], model(one, target[:1]), **tolerance)


DECODERS = {
    "greedy": lambda model, source: greedy(model, source, max_length=5),
    "beam_search": lambda model, source: [b[0] for b in beam_search(model, source, max_length=5)],
    "sample": lambda model, source: sample(
        model, source, generator=generator(), top_k=1, max_length=5
    ),
    "speculative_greedy": lambda model, source: [
        speculative_greedy(model, model, one[None], max_length=5)[0] for one in source
    ],
}


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("pad_id", [0, 5])
def test_a_source_padded_in_front_is_the_same_translation(name, pad_id):
    model = make_model(seed=3, pad_id=pad_id)
    source, alone = sides(pad_id)
    found = DECODERS[name](model, source)
    for row, one in enumerate(alone):
        (wanted,) = DECODERS[name](model, one)
        assert found[row].ids == wanted.ids
        assert found[row].log_probability == pytest.approx(wanted.log_probability, abs=1e-5)


def test_only_padding_that_is_hidden_has_no_place():
    """A word with the id of padding, and a word that somebody hides, stand where they stand."""
    model, other = make_model(seed=3), make_model(seed=3, pad_id=19)
    source = torch.tensor([[0, 0, 6, 9, 2]])
    seen = torch.ones(1, 1, 1, 5, dtype=torch.bool)
    assert torch.equal(model.encode(source, seen), other.encode(source, seen))
    hidden = seen.clone()
    hidden[..., :2] = False
    words = other.encode(source, hidden)  # its padding is another id: two words are hidden
    padding = model.encode(source, hidden)
    assert (words - padding)[:, 2:].abs().max() > 0.1


def test_a_capture_of_a_source_padded_in_front_has_the_same_weights_further_right():
    model = make_model(seed=3)
    source, alone = sides(0)
    target = torch.tensor([[1, 6, 9]])
    for row, one in enumerate(alone):
        start = 7 - one.size(1)
        with capture_attention(model, mute=[Head("encoder", 0, 1)]) as left:
            model(source[row : row + 1], target)
        with capture_attention(model, mute=[Head("encoder", 0, 1)]) as right:
            model(one, target)
        for found, wanted in zip(left.encoder, right.encoder, strict=True):
            np.testing.assert_allclose(found[:, :, start:, start:], wanted, atol=1e-6)
            assert not found[..., :start].any()
        for found, wanted in zip(left.cross, right.cross, strict=True):
            np.testing.assert_allclose(found[..., start:], wanted, atol=1e-6)
            assert not found[..., :start].any()


@pytest.mark.parametrize("pad_id", [0, 5])
@pytest.mark.parametrize("recurrent", [False, True])
def test_a_target_padded_in_front_is_refused(pad_id, recurrent):
    """Its words would be read at other positions, beside padding that no mask hides."""
    model = build_model(small_config(pad_id=pad_id, recurrent_decoder=recurrent)).eval()
    source = torch.tensor([[6, 9, 2], [8, 2, pad_id]])
    p = pad_id
    for row, target in ((1, [[1, 6, 9], [p, 1, 6]]), (0, [[p, p, 8], [1, 6, p]])):
        with pytest.raises(
            ValueError, match=rf"target\[{row}\] begins with padding \(id {pad_id}\)"
        ):
            model(source, torch.tensor(target))
        with pytest.raises(
            ValueError, match=rf"target\[{row}\] begins with padding \(id {pad_id}\)"
        ):
            BatchLoss(model)(Batch(source, torch.tensor([[*one, 2] for one in target])))
    for fine in ([[1, 6, p], [1, p, p]], [[1, p, 6], [p, p, p]], [[p], [1]], [[], []]):
        ids = torch.tensor(fine, dtype=torch.int64)
        assert model(source, ids).shape[:2] == ids.shape


def test_words_behind_others_may_begin_with_the_id_of_padding():
    model = make_model(seed=3)
    source, mask = SOURCE[:1], padding_mask(SOURCE[:1], 0)
    cache = prefill(model, source, mask)
    _, cache = decode_step(model, torch.tensor([1]), cache)
    whole = model.decode(torch.tensor([[1, 0, 6]]), model.encode(source, mask), mask)
    behind = model.decode(torch.tensor([[0, 6]]), whole[:, :0], cache.memory_mask, cache.layers)
    torch.testing.assert_close(behind, whole[:, 1:])


def test_where_padding_begins_a_target_nobody_can_tell():
    model = make_model(pad_id=5, bos_id=5)
    assert model(SOURCE[:2], torch.tensor([[5, 5, 8], [5, 6, 8]])).shape[:2] == (2, 3)


def test_a_beam_reads_masks_that_serve_all_its_sentences():
    """With fewer memories than rows a mask of another kind than a sentence's own stays as it is."""
    query, key = numbers(6, HEADS, 1, D), numbers(3, HEADS, KEY, D)
    own = mask_of((3, 1, 1, KEY))
    for one, many in itertools.product((AttentionCore().eval(),), (1, 2)):
        rows = query.expand(6, HEADS, many, D)
        for mask in (own, own[:1], own[0, 0], own[0, 0, 0]):
            wanted = mask.repeat_interleave(2, dim=0) if len(mask) == 3 else mask
            whole = key.repeat_interleave(2, dim=0)
            torch.testing.assert_close(one(rows, key, key, mask), one(rows, whole, whole, wanted))


def test_steps_of_a_cache_read_the_mask_that_it_was_started_with():
    model = make_model()
    cache = prefill(model, SOURCE, padding_mask(SOURCE, 0))
    logits, _ = decode_step(model, TARGET[:, 0], cache)
    torch.testing.assert_close(logits, model(SOURCE, TARGET[:, :1])[:, 0])
