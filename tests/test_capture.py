"""Capture records the real pass, mutes and patches heads, and leaves no trace."""

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from itertools import permutations

import numpy as np
import pytest
import torch

from tests.conftest import make_model, small_config
from tests.thorough import thorough_from
from transformer_lab.attention.capture import attention_cores, capture_attention
from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.decoding import greedy
from transformer_lab.hooks import Hook, find_hooks, use_hooks
from transformer_lab.model.build import build_model
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.masks import causal_mask, padding_mask


def test_records_every_head_of_every_kind_with_rows_that_sum_to_one(ids):
    model = make_model()
    with capture_attention(model) as capture:
        model(*ids)
    shapes = {"encoder": (2, 3, 7, 7), "decoder": (2, 3, 5, 5), "cross": (2, 3, 5, 7)}
    for kind, shape in shapes.items():
        layers = capture.layers(kind)
        assert len(layers) == (2 if kind == "encoder" else 3)
        for weights in layers:
            assert weights.shape == shape
            np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)
    assert np.all(capture.encoder[0][1, :, :, 4:] == 0), "padding is never attended to"
    assert np.all(np.triu(capture.decoder[0][0, 0], 1) == 0), "nor is the future"


def test_the_recorded_weights_are_those_the_output_was_made_from(ids):
    model = make_model()
    layer = model.decoder.layers[1].cross_attention
    seen = {}
    hook = layer.register_forward_hook(lambda m, args, out: seen.update(args=args, out=out))
    with capture_attention(model) as capture:
        model(*ids)
    hook.remove()
    value = layer.split(layer.w_v(seen["args"][2]))
    rebuilt = layer.w_o(layer.merge(torch.tensor(capture.cross[1]).double() @ value))
    torch.testing.assert_close(rebuilt, seen["out"], rtol=1e-5, atol=1e-6)


def test_capturing_changes_no_output(ids):
    model = make_model()
    plain = model(*ids)
    with capture_attention(model):
        captured = model(*ids)
    torch.testing.assert_close(captured, plain, rtol=1e-10, atol=1e-12)


def test_a_pass_of_another_thread_is_neither_recorded_nor_muted(ids):
    model = make_model()
    plain = model(*ids)
    with (
        ThreadPoolExecutor(1) as other,
        capture_attention(model, mute=[Head("cross", 1, 0)]) as capture,
    ):
        muted = model(*ids)
        own = capture.layers("cross")
        assert torch.equal(other.submit(model, *ids).result(), plain)
        assert len(capture.head_hooks["cross"][0].calls) == 1
    assert not torch.allclose(muted, plain)
    assert len(own) == 3


def test_threads_that_mute_and_threads_that_do_not_never_mix(ids):
    model = make_model()
    heads = [None, Head("cross", 1, 0), Head("encoder", 0, 2), Head("decoder", 2, 1)]

    def run(head):
        if head is None:
            return model(*ids)
        with capture_attention(model, mute=[head]):
            return model(*ids)

    alone = {head: run(head) for head in heads}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run, heads * 10))
    assert all(torch.equal(one, alone[head]) for head, one in zip(heads * 10, found, strict=True))


HEADS = [Head("cross", 1, 0), Head("encoder", 0, 2), Head("decoder", 2, 1)]


def captures(ids):
    """Three models; what each writes; a capture of each that mutes a head, and what it writes then."""
    models = [make_model(seed) for seed in (2, 3, 5)]
    muted = []
    for model, head in zip(models, HEADS, strict=True):
        with capture_attention(model, mute=[head]):
            muted.append(model(*ids))
    return models, [model(*ids) for model in models], muted


@pytest.mark.parametrize("order", thorough_from(3, [(order,) for order in permutations(range(3))]))
@pytest.mark.parametrize("fails", [False, True])
def test_captures_end_in_any_order_and_each_takes_only_itself_away(order, fails, ids):
    models, plain, muted = captures(ids)
    open_ones = [capture_attention(m, mute=[head]) for m, head in zip(models, HEADS, strict=True)]
    seen = [one.__enter__() for one in open_ones]
    running = set(range(3))
    assert all(torch.equal(m(*ids), one) for m, one in zip(models, muted, strict=True))
    for number in order:
        if fails:
            error = RuntimeError("on the way")
            assert not open_ones[number].__exit__(RuntimeError, error, None)
        else:
            open_ones[number].__exit__(None, None, None)
        running.remove(number)
        for i, model in enumerate(models):
            assert torch.equal(model(*ids), (muted if i in running else plain)[i])
    assert all(len(one.cross) == 3 for one in seen)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_hooks_around_each_other_come_from_outside_in_and_may_end_in_any_order(order):
    core = make_model().encoder.layers[0].self_attention.core
    hooks = [Hook() for _ in range(3)]
    blocks = [use_hooks({core: hook}) for hook in hooks]
    for block in blocks:
        block.__enter__()
    left = list(hooks)
    for number in order:
        assert find_hooks(core) == tuple(left)
        blocks[number].__exit__(None, None, None)
        left.remove(hooks[number])
    assert find_hooks(core) == ()


def muted_until_closed(model, head, ids):
    with capture_attention(model, mute=[head]):
        while True:
            yield model(*ids)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_generators_that_hold_captures_are_closed_in_any_order(order, ids):
    models, plain, muted = captures(ids)
    generators = [muted_until_closed(m, head, ids) for m, head in zip(models, HEADS, strict=True)]
    assert [torch.equal(next(g), m) for g, m in zip(generators, muted, strict=True)] == [True] * 3
    for number in order:
        generators[number].close()
        assert torch.equal(models[number](*ids), plain[number])


def test_a_generator_that_another_thread_closes_or_nobody_does_leaves_no_head_muted(ids):
    models, plain, muted = captures(ids)
    one, two = (muted_until_closed(m, h, ids) for m, h in zip(models[:2], HEADS[:2], strict=True))
    assert torch.equal(next(one), muted[0])
    assert torch.equal(next(two), muted[1])
    with ThreadPoolExecutor(1) as other:
        other.submit(one.close).result()
    assert torch.equal(models[0](*ids), plain[0])
    assert torch.equal(models[1](*ids), muted[1])
    del two
    gc.collect()
    assert torch.equal(models[1](*ids), plain[1])


async def muted_while_asked(model, head, ids):
    with capture_attention(model, mute=[head]):
        while True:
            yield model(*ids)


def run_in_own_loop(run):
    """The result of a coroutine function, awaited in another thread: a test of the browser may have
    left an event loop running in this one, and asyncio allows one a thread."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(lambda: asyncio.run(run())).result()


@pytest.mark.parametrize("own_task_ends", [False, True])
def test_an_async_generator_may_be_closed_by_another_task(own_task_ends, ids):
    models, plain, muted = captures(ids)
    model, head = models[0], HEADS[0]

    async def begin(generator):
        return await anext(generator)

    async def run():
        generator = muted_while_asked(model, head, ids)
        if own_task_ends:
            first = await asyncio.create_task(begin(generator))
        else:
            first = await begin(generator)
        before = model(*ids)
        await asyncio.create_task(generator.aclose())
        return first, before, model(*ids)

    first, before, after = run_in_own_loop(run)
    assert torch.equal(first, muted[0])
    assert torch.equal(before, (plain if own_task_ends else muted)[0])
    assert torch.equal(after, plain[0])
    assert torch.equal(model(*ids), plain[0])


def test_a_task_that_outlives_the_capture_it_was_started_in_is_muted_no_longer(ids):
    models, plain, muted = captures(ids)
    model, head = models[0], HEADS[0]

    async def run():
        ended = asyncio.Event()

        async def child():
            during = model(*ids)
            await ended.wait()
            return during, model(*ids)

        with capture_attention(model, mute=[head]):
            task = asyncio.create_task(child())
            await asyncio.sleep(0)
        ended.set()
        return await task

    during, after = run_in_own_loop(run)
    assert torch.equal(during, muted[0])
    assert torch.equal(after, plain[0])


def test_a_capture_closed_in_another_context_can_be_begun_again(ids):
    model = make_model()
    plain = model(*ids)
    for _ in range(3):
        capture = capture_attention(model, mute=[HEADS[0]])
        capture.__enter__()
        copy_context().run(capture.__exit__, None, None, None)
        assert torch.equal(model(*ids), plain)


def test_a_capture_that_could_not_begin_takes_none_of_the_others_along(ids):
    models, plain, muted = captures(ids)
    with ExitStack() as stack:
        stack.enter_context(capture_attention(models[0], mute=[HEADS[0]]))
        with pytest.raises(ValueError, match="already being captured"):
            stack.enter_context(capture_attention(models[0]))
        with pytest.raises(ValueError, match="layer is 9"):
            stack.enter_context(capture_attention(models[1], mute=[Head("cross", 9, 0)]))
        assert torch.equal(models[0](*ids), muted[0])
    assert torch.equal(models[0](*ids), plain[0])


def test_cached_decoding_records_the_same_rows_as_one_pass(ids):
    model = make_model()
    source, target = ids
    with capture_attention(model) as whole:
        model(source, target)
    with capture_attention(model) as steps:
        cache = prefill(model, source, padding_mask(source, 0))
        for step in range(5):
            _, cache = decode_step(model, target[:, step], cache)
    for kind in ("encoder", "decoder", "cross"):
        for one, other in zip(whole.layers(kind), steps.layers(kind), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_new_pass_replaces_the_one_before(ids):
    model = make_model()
    source, target = ids
    with capture_attention(model) as capture:
        greedy(model, source[:1], max_length=3)
        model(source, target)
    assert capture.cross[0].shape == (2, 3, 5, 7)


def test_sentences_that_leave_the_batch_cannot_be_put_together():
    model = make_model(seed=3)
    source = torch.tensor([[5, 9, 11, 7, 13, 6, 2], [8, 21, 4, 2, 0, 0, 0]])
    with capture_attention(model) as capture:
        cache = prefill(model, source, padding_mask(source, 0))
        _, cache = decode_step(model, torch.tensor([1, 1]), cache)
        decode_step(model, torch.tensor([4]), cache.select(torch.tensor([1])))
    with pytest.raises(ValueError, match=r"cross layer 0 differ in size \(1 and 2\)\. Decode one"):
        capture.layers("cross")


def test_nothing_recorded_is_an_error():
    with capture_attention(make_model()) as capture:
        pass
    with pytest.raises(ValueError, match="no forward pass was recorded for encoder layer 0"):
        capture.layers("encoder")


@pytest.mark.parametrize("fails", [False, True])
def test_leaves_no_trace_even_after_an_error(fails, ids):
    model = make_model()
    before = {name: p.clone() for name, p in model.state_dict().items()}
    plain = model(*ids)
    mute = [Head("cross", 0, 1)]
    try:
        with capture_attention(model, mute=mute):
            model(*ids)
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    cores = attention_cores(model)
    assert not any(find_hooks(core) for kind in cores.values() for core in kind)
    assert all(torch.equal(p, before[name]) for name, p in model.state_dict().items())
    assert torch.equal(model(*ids), plain)


@pytest.mark.parametrize(
    "head", [Head("encoder", 1, 2), Head("decoder", 0, 0), Head("cross", 2, 1)]
)
def test_a_muted_head_is_as_if_its_slice_of_the_output_projection_were_zero(head, ids):
    model = make_model()
    with capture_attention(model, mute=[head]) as capture:
        muted = model(*ids)
    with capture_attention(model) as own:
        assert not torch.allclose(model(*ids), muted)
    if head.kind != "encoder" or head.layer == 0:
        np.testing.assert_allclose(
            capture.layers(head.kind)[head.layer][:, head.head],
            own.layers(head.kind)[head.layer][:, head.head],
            atol=1e-6,
            err_msg="the record keeps the weights a muted head had",
        )
    stack = model.encoder if head.kind == "encoder" else model.decoder
    layer = stack.layers[head.layer]
    attention = layer.cross_attention if head.kind == "cross" else layer.self_attention
    with torch.no_grad():
        attention.w_o.weight[:, 4 * head.head : 4 * head.head + 4] = 0
    torch.testing.assert_close(muted, model(*ids), rtol=1e-10, atol=1e-12)
    record = capture.record(tuple("abcdefg"), tuple("vwxyz"), tuple("wxyz."))
    assert record.muted == {head}


def test_muting_by_mean_gives_each_sentence_the_batchs_mean(ids):
    model = make_model()
    source = ids[0].clamp(min=4)
    head = Head("encoder", 0, 1)
    attention = model.encoder.layers[0].self_attention
    seen = []
    hook = attention.w_o.register_forward_pre_hook(lambda m, args: seen.append(args[0]))
    model.encode(source, padding_mask(source, 0))
    with capture_attention(model, mute=[head], mode="mean"):
        model.encode(source, padding_mask(source, 0))
    hook.remove()
    own, muted = seen
    expected = own.clone()
    expected[..., 4:8] = own[..., 4:8].mean(dim=0, keepdim=True)
    torch.testing.assert_close(muted, expected)
    with (
        capture_attention(model, mute=[head], mode="mean"),
        pytest.raises(ValueError, match="mode='mean' needs a batch of at least 2 sentences; for"),
    ):
        model.encode(source[:1], padding_mask(source[:1], 0))


def test_patching_a_head_with_its_own_weights_changes_nothing_and_with_others_does(ids):
    model = make_model()
    source, target = ids
    head = Head("cross", 2, 1)
    with capture_attention(model) as capture:
        plain = model(source, target)
    own = capture.cross[2][:, 1]
    with capture_attention(model, patch={head: own}) as again:
        same = model(source, target)
    torch.testing.assert_close(same, plain, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(again.cross[2][:, 1], own, atol=1e-6)
    first = np.zeros((5, 7))
    first[:, 0] = 1
    with capture_attention(model, patch={head: first}) as patched:
        other = model(source, target)
    assert not torch.allclose(other, plain)
    assert np.all(patched.cross[2][:, 1, :, 0] == 1)


def test_a_patch_acts_in_cached_decoding_as_in_one_pass(ids):
    model = make_model()
    source, target = ids[0][:1], ids[1][:1]
    generator = np.random.default_rng(0)
    causal = generator.random((5, 5)) * causal_mask(5).numpy()
    causal /= causal.sum(-1, keepdims=True)
    patch = {Head("cross", 1, 0): np.eye(7)[:5], Head("decoder", 2, 1): causal}
    with capture_attention(model, patch=patch):
        whole = model(source, target)
    with capture_attention(model, patch=patch):
        cache = prefill(model, source, padding_mask(source, 0))
        for step in range(5):
            logits, cache = decode_step(model, target[:, step], cache)
            torch.testing.assert_close(logits, whole[:, step], rtol=1e-8, atol=1e-10)


def halve_the_first_key(weights: np.ndarray, first: int) -> np.ndarray:
    """Of the queries 2 and 3, half of what the first key has goes to the second one."""
    changed = weights.copy()
    for query in {2, 3} & set(range(first, first + weights.shape[1])):
        changed[:, query - first, :2] = weights[:, query - first, :2] @ [[0.5, 0.5], [0, 1]]
    return changed


@pytest.mark.parametrize(
    "head", [Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 2, 2)]
)
def test_a_patch_may_be_a_function_of_the_heads_own_weights(head, ids):
    """The same as the array that the function makes of what is recorded; cached, it gets a row a step."""
    model = make_model()
    source, target = ids[0][:1], ids[1][:1]
    with capture_attention(model) as own:
        model(source, target)
    weights = own.layers(head.kind)[head.layer][:, head.head].astype(float)
    array = halve_the_first_key(weights, 0)
    assert abs(array - weights).max() > 0.05
    with capture_attention(model, patch={head: array}):
        expected = model(source, target)
    with capture_attention(model, patch={head: halve_the_first_key}) as capture:
        torch.testing.assert_close(model(source, target), expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(
            capture.layers(head.kind)[head.layer][:, head.head], array, atol=1e-6
        )
        cache = prefill(model, source, padding_mask(source, 0))
        for step in range(5):
            logits, cache = decode_step(model, target[:, step], cache)
            torch.testing.assert_close(logits, expected[:, step], rtol=1e-6, atol=1e-6)


def test_rows_beyond_a_patch_keep_their_own_weights(ids):
    model = make_model()
    patch = np.eye(7)[:2]
    with capture_attention(model) as own:
        model(*ids)
    with capture_attention(model, patch={Head("cross", 0, 2): patch}) as capture:
        model(*ids)
    patched = capture.cross[0][:, 2]
    np.testing.assert_array_equal(patched[:, :2], np.stack([patch, patch]))
    np.testing.assert_allclose(patched[:, 2:], own.cross[0][:, 2, 2:], atol=1e-6)


@pytest.mark.parametrize("length", [3, 5, 8])
def test_a_patch_of_the_decoder_fits_a_shorter_and_a_longer_translation(ids, length):
    model = make_model()
    source = ids[0][:1]
    target = torch.randint(4, 29, (1, length), generator=torch.Generator().manual_seed(2))
    causal = np.random.default_rng(0).random((5, 5)) * causal_mask(5).numpy()
    causal /= causal.sum(-1, keepdims=True)
    patch = {Head("decoder", 2, 1): causal}
    with capture_attention(model) as own:
        model(source, target)
    with capture_attention(model, patch=patch) as capture:
        whole = model(source, target)
    rows = min(5, length)
    seen = capture.decoder[2][0, 1]
    np.testing.assert_allclose(seen[:rows, :rows], causal[:rows, :rows], atol=1e-6)
    assert (seen[:rows, rows:] == 0).all()
    np.testing.assert_allclose(seen[rows:], own.decoder[2][0, 1, rows:], atol=1e-6)
    with capture_attention(model, patch=patch):
        cache = prefill(model, source, padding_mask(source, 0))
        for step in range(length):
            logits, cache = decode_step(model, target[:, step], cache)
            torch.testing.assert_close(logits, whole[:, step], rtol=1e-8, atol=1e-10)


def test_a_head_may_be_given_by_its_code(ids):
    model = make_model()
    with capture_attention(model, mute=["c1.2"], patch={"e2.3": np.eye(7)}) as capture:
        model(*ids)
    assert capture.muted == {Head("cross", 0, 1)}
    assert (capture.encoder[1][:, 2] == np.eye(7)).all()
    with (
        pytest.raises(ValueError, match="model is 3; expected a Transformer"),
        capture_attention(3),
    ):
        pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mute": [Head("encoder", 2, 0)]}, "layer is 2; expected 0 to 1"),
        ({"mute": [Head("cross", 0, 3)]}, "head is 3; expected 0 to 2"),
        (
            {"mute": [("sideways", 0, 0)]},
            "kind is 'sideways'; expected 'encoder', 'decoder' or 'cross'",
        ),
        ({"mute": "e2.3"}, r"mute is 'e2.3'; expected a list of heads, such as \['e2.3'\]"),
        ({"mute": Head("cross", 0, 1)}, r"mute is Head\(.*\); expected a list of heads"),
        ({"mute": ["e3.1"]}, "layer is 2; expected 0 to 1"),
        ({"mute": ["cross"]}, "head code is 'cross'; expected a code such as 'e2.3'"),
        ({"mute": [("cross", 0)]}, r"head is \('cross', 0\); expected a code .* or a Head"),
        ({"mute": [("cross", "0", 1)]}, r"head is \('cross', '0', 1\); expected a code"),
        ({"mute": [("cross", 0, 0.5)]}, r"head is .*0.5\); expected a code"),
        ({"patch": {"cross": np.eye(7)[:5]}}, "head code is 'cross'; expected a code"),
        ({"patch": {(0, 0): np.eye(7)[:5]}}, r"head is \(0, 0\); expected a code"),
        ({"patch": [1]}, r"patch is \[1\]; expected a dictionary"),
        ({"hooks": [Hook()]}, r"hooks is \[Hook.*\]; expected a dictionary"),
        ({"mode": "half"}, "mode is 'half'; expected 'zero' or 'mean'"),
        ({"patch": {Head("cross", 0, 0): np.ones((5, 7))}}, "sums to 7; expected 1"),
        ({"patch": {Head("cross", 0, 0): -np.eye(7)[:5]}}, "negative or NaN weight"),
        ({"patch": {Head("cross", 0, 0): np.eye(5)}}, r"is \(5, 5\); expected \(queries, 7\) or"),
        ({"patch": {Head("encoder", 0, 0): np.eye(7)[:5]}}, r"is \(5, 7\); expected \(7, 7\) or"),
        (
            {"patch": {Head("cross", 0, 0): np.zeros((3, 5, 7))}},
            r"expected .* or \(2, queries, 7\)",
        ),
        ({"patch": {Head("cross", 0, 0): np.eye(7)[:5] * 1j}}, "expected a real dtype"),
        (
            {"patch": {Head("cross", 0, 0): lambda own, _: own[:, 1:]}},
            r"shape of the patch for cross layer 0, head 0 is \(2, 4, 7\); expected \(2, 5, 7\)",
        ),
        ({"patch": {Head("cross", 0, 0): lambda own, _: 2 * own}}, "sums to 2; expected 1"),
    ],
)
def test_what_does_not_fit_is_named(arguments, message, ids, as_users_run_it):
    model = make_model()

    def run():
        with capture_attention(model, **arguments):
            model(*ids)

    with pytest.raises(ValueError, match=message):
        run()
    assert not find_hooks(attention_cores(model)["cross"][0])


def test_one_capture_at_a_time(ids):
    model = make_model()
    with (
        capture_attention(model) as capture,
        pytest.raises(ValueError, match="already being captured"),
        capture_attention(model),
    ):
        pass
    with capture_attention(model) as capture:
        model(*ids)
    assert capture.cross[0].shape == (2, 3, 5, 7)


def test_record_is_cut_to_the_tokens_of_one_sentence(ids):
    model = make_model()
    with capture_attention(model) as capture:
        model(*ids)
    record = capture.record(tuple("abcd"), tuple("xyz"), tuple("yz."), sentence=1, label="step 7")
    assert record.encoder[0].shape == (3, 4, 4)
    assert record.cross[2].shape == (3, 3, 4)
    assert record.label == "step 7"
    assert record.tokens("cross") == (("y", "z", "."), ("a", "b", "c", "d"))
    np.testing.assert_array_equal(record.weights(Head("cross", 1, 2)), record.cross[1][2])
    # It is a value, whatever the tokens came in.
    with capture_attention(model) as capture:
        model(*ids)
    lists = capture.record(list("abcdefg"), list("vwxyz"), list("wxyz."))
    assert {type(lists.source_tokens), type(lists.target_tokens), type(lists.written_tokens)} == {
        tuple
    }


def test_a_decoder_with_a_recurrence_has_two_kinds_of_heads(ids):
    model = build_model(small_config(recurrent_decoder=True))
    with capture_attention(model) as capture:
        model(*ids)
    assert [len(capture.layers(kind)) for kind in ("encoder", "decoder", "cross")] == [2, 0, 3]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_model_in_half_precision_is_recorded_and_patched_with_its_own(dtype, ids):
    model = make_model().to(dtype)
    long = torch.randint(4, 23, (2, 61), generator=torch.Generator().manual_seed(3))
    with capture_attention(model) as capture:
        plain = model(long, ids[1])
    record = capture.record(["a"] * 61, tuple("vwxyz"), tuple("wxyz."))
    assert record.encoder[0].dtype == np.float16
    head = Head("encoder", 1, 2)
    with capture_attention(model, patch={head: record.weights(head)}) as again:
        patched = model(long[:1], ids[1][:1])
    torch.testing.assert_close(patched, plain[:1], rtol=0.05, atol=0.05)
    np.testing.assert_array_equal(again.encoder[1][0, 2], record.weights(head))
    # The same numbers, as somebody has them who computes with them: they sum to 1 no better.
    finer = record.weights(head).astype(np.float64)
    with capture_attention(model, patch={head: finer}) as again:
        model(long[:1], ids[1][:1])
    np.testing.assert_array_equal(again.encoder[1][0, 2], record.weights(head))
    with capture_attention(model, patch={head: lambda own, _: own}):
        torch.testing.assert_close(model(long, ids[1]), plain, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_patch_in_half_precision_fits_a_finer_model(dtype, ids):
    model = make_model().float()
    rows = torch.rand(7, 7, generator=torch.Generator().manual_seed(4)).softmax(-1)
    patch = rows.to(dtype)
    assert (patch.double().sum(-1) - 1).abs().max() > 1e-4, "or nothing is tested here"
    with capture_attention(model, patch={Head("encoder", 0, 1): patch}) as capture:
        model(*ids)
    record = capture.record(tuple("abcdefg"), tuple("vwxyz"), tuple("wxyz."))
    np.testing.assert_allclose(record.encoder[0][1], rows, atol=3e-3)
    with pytest.raises(ValueError, match="row .* of the patch for encoder layer 0, head 1 sums to"):
        blank_pass(model, ids, {Head("encoder", 0, 1): 2 * patch})


def blank_pass(model, ids, patch):
    with capture_attention(model, patch=patch):
        model(*ids)


def blank(**changes):
    even = np.full((2, 3, 3), 1 / 3)
    fields = {
        "source_tokens": ("a", "b", "c"),
        "target_tokens": ("x", "y"),
        "written_tokens": ("y", "z"),
        "encoder": (even,),
        "decoder": (np.full((2, 2, 2), 1 / 2),),
        "cross": (even[:, :2],),
    }
    return AttentionRecord(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"written_tokens": ("y",)}, "written_tokens has 1 token; expected 2"),
        ({"cross": (np.full((2, 3, 3), 1 / 3),)}, r"cross layer 0 has shape \(2, 3, 3\)"),
        ({"encoder": (np.full((2, 3, 3), 0.5),)}, "row .* of encoder layer 0 sums to 1.5"),
        ({"decoder": (np.full((2, 2, 2), np.nan),)}, "contains a negative or NaN weight"),
        ({"cross": (np.ones((2, 2, 3), dtype=np.int64),)}, "cross layer 0 has dtype int64; exp"),
        ({"next_tokens": ()}, "next_tokens has 0 steps; expected 2"),
        (
            {"alignment": ((0, 2),)},
            r"alignment contains \(0, 2\); expected a source position from 0 to 2 "
            "and a step from 0 to 1",
        ),
    ],
)
def test_a_record_checks_itself(changes, message):
    blank()
    with pytest.raises(ValueError, match=message):
        blank(**changes)


def test_a_row_that_sees_nothing_is_allowed():
    assert blank(cross=(np.zeros((2, 2, 3)),)).heads("cross") == [
        Head("cross", 0, 0),
        Head("cross", 0, 1),
    ]
