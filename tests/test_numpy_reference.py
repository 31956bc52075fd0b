"""The NumPy reference against torch autograd, finite differences and the paper's properties."""

import math
import re
from dataclasses import fields, is_dataclass

import jaxtyping
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lab.numpy_reference import (
    EncoderLayerParameters,
    MultiHeadParameters,
    causal_mask,
    encoder_layer,
    encoder_layer_backward,
    feed_forward,
    feed_forward_backward,
    layer_norm,
    layer_norm_backward,
    linear_backward,
    merge_heads,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    sinusoidal_positions,
    softmax,
    softmax_backward,
    split_heads,
)

BATCH, HEADS, QUERY, KEY, D_K, D_V, D_MODEL, D_FF = 2, 3, 5, 7, 11, 13, 17, 19
D_TORCH = HEADS * D_K  # nn.MultiheadAttention has d_k = d_v = d_model / heads
TOLERANCE = 1e-10


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Arrays this small gain nothing from a second thread, and wait for it on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def rng():
    return np.random.default_rng(23)


@pytest.fixture
def unchecked_shapes(monkeypatch):
    """Annotations are not checked for users; there the functions' own errors speak."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def draw(rng, *shape):
    """A random array that nothing may write to, so that inputs provably stay as they are."""
    array = np.asarray(rng.normal(size=shape))
    array.setflags(write=False)
    return array


def draw_attention(rng):
    shapes = (QUERY, D_K), (KEY, D_K), (KEY, D_V)
    return [draw(rng, BATCH, HEADS, *shape) for shape in shapes]


def draw_multi_head(rng, d_model=D_MODEL, d_k=D_K, d_v=D_V):
    k, v = HEADS * d_k, HEADS * d_v
    shapes = (d_model, k), k, (d_model, k), k, (d_model, v), v, (v, d_model), d_model
    return MultiHeadParameters(*(draw(rng, *np.atleast_1d(s)) / math.sqrt(D_K) for s in shapes))


def draw_encoder_layer(rng, d_model=D_MODEL, d_k=D_K, d_v=D_V):
    shapes = d_model, d_model, (d_model, D_FF), D_FF, (D_FF, d_model), d_model, d_model, d_model
    rest = (draw(rng, *np.atleast_1d(s)) for s in shapes)
    return EncoderLayerParameters(draw_multi_head(rng, d_model, d_k, d_v), *rest)


def draw_inputs(rng, d_model=D_MODEL):
    return [draw(rng, BATCH, length, d_model) for length in (QUERY, KEY, KEY)]


def padding_mask(key):
    """The second sentence ends three keys before the first."""
    return np.arange(key) < np.array([key, key - 3])[:, None, None, None]


def blind_mask(query, key):
    """Causal and padded, and one query of one sentence and head sees nothing."""
    mask = causal_mask(query, key) & padding_mask(key) & np.ones((BATCH, HEADS, 1, 1), dtype=bool)
    mask[1, 2, 3] = False
    return mask


def per_head_mask(query, key):
    """Each head hides its own keys; every query sees at least itself."""
    mask = np.random.default_rng(5).random((BATCH, HEADS, query, key)) < 0.5
    return mask | np.eye(query, key, dtype=bool)


MASKS = {
    "no mask": lambda query, key: None,
    "causal": causal_mask,
    "padding": lambda query, key: padding_mask(key),
    "causal and padding": lambda query, key: causal_mask(query, key) & padding_mask(key),
    "per head": per_head_mask,
    "blind query": blind_mask,
}
every_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
# nn.MultiheadAttention and nn.TransformerEncoderLayer give NaN where a query may see nothing.
every_seeing_mask = pytest.mark.parametrize("mask", list(MASKS.values())[:-1], ids=list(MASKS)[:-1])


def arrays_of(parameters):
    """Name → array, nested parameters first come first."""
    arrays = {}
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        arrays |= arrays_of(value) if is_dataclass(value) else {field.name: value}
    return arrays


def with_arrays(parameters, arrays):
    """The same structure around other arrays, taken from the iterator in order."""
    arrays = iter(arrays)
    values = [
        with_arrays(value, arrays) if is_dataclass(value) else next(arrays)
        for value in (getattr(parameters, field.name) for field in fields(parameters))
    ]
    return type(parameters)(*values)


def assert_close(actual, expected, scale=None, name=""):
    """Relative error, largest difference by largest value, below 1e-10 and of equal shape."""
    assert actual.shape == expected.shape, name
    scale = np.abs(expected).max() if scale is None else scale
    error = np.abs(actual - expected).max() / scale
    assert error < TOLERANCE, f"{name}: relative error {error:.2e}"


def assert_gradients_close(actual, expected):
    """Every gradient of a dict, by name.

    That of the key bias is 0 but for rounding: a bias moves all scores of a query alike, and
    softmax ignores that. It is measured by the query bias.
    """
    assert actual.keys() == expected.keys()
    for name, gradient in expected.items():
        scale = np.abs(expected["b_q"]).max() if name == "b_k" else None
        assert_close(actual[name], gradient, scale, name)


def autograd(function, grad_output, *arrays):
    """What torch makes of the same function: its output, and a gradient for each array."""
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    output = function(*leaves)
    output.backward(torch.tensor(grad_output))
    return output.detach().numpy(), [leaf.grad.numpy() for leaf in leaves]


def torch_attention(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    if mask is None:
        return torch.einsum("...qk,...kd->...qd", scores.softmax(-1), value)
    mask = torch.tensor(mask).expand(scores.shape)
    sees = mask.any(-1, keepdim=True)
    # A blind query is let see everything and then multiplied by 0: no NaN, and no gradient.
    weights = scores.masked_fill(~(mask | ~sees), -math.inf).softmax(-1) * sees
    return torch.einsum("...qk,...kd->...qd", weights, value)


def torch_multi_head(query, key, value, p, mask=None):
    """One head after the other, as the paper writes it."""
    w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o = p
    heads = []
    for i in range(HEADS):
        q, k, v = (
            x @ w.chunk(HEADS, dim=1)[i] + b.chunk(HEADS)[i]
            for x, w, b in ((query, w_q, b_q), (key, w_k, b_k), (value, w_v, b_v))
        )
        of_head = mask
        if mask is not None and mask.ndim == 4:
            of_head = mask[:, i if mask.shape[1] == HEADS else 0]
        heads.append(torch_attention(q, k, v, of_head))
    return torch.cat(heads, dim=-1) @ w_o + b_o


def torch_encoder_layer(x, *p, mask=None):
    gain_1, bias_1, w_1, b_1, w_2, b_2, gain_2, bias_2 = p[8:]
    y = F.layer_norm(x + torch_multi_head(x, x, x, p[:8], mask), gain_1.shape, gain_1, bias_1)
    hidden = F.linear(y, w_1.T, b_1).relu()
    return F.layer_norm(y + F.linear(hidden, w_2.T, b_2), gain_2.shape, gain_2, bias_2)


def assert_finite_differences(function, grad_output, arrays, gradients, rng, step=3e-6):
    """Along random directions d: (L(a + h d) − L(a − h d)) / 2h = ⟨gradient, d⟩, L = ⟨output, grad⟩."""
    assert len(arrays) == len(gradients)
    for i, gradient in enumerate(gradients):
        for _ in range(3):
            direction = rng.normal(size=gradient.shape)
            losses = []
            for sign in (1, -1):
                moved = [a + sign * step * direction if i == j else a for j, a in enumerate(arrays)]
                losses.append((function(*moved) * grad_output).sum())
            numeric = (losses[0] - losses[1]) / (2 * step)
            analytic = (gradient * direction).sum()
            assert abs(numeric - analytic) < 1e-7 * max(1, np.linalg.norm(gradient)), i


# Softmax


def test_softmax_and_its_gradient_equal_torch(rng):
    scores, grad = draw(rng, BATCH, QUERY, KEY), draw(rng, BATCH, QUERY, KEY)
    expected, (grad_scores,) = autograd(lambda s: s.softmax(-1), grad, scores)
    weights = softmax(scores)
    assert_close(weights, expected)
    assert_close(softmax_backward(grad, weights), grad_scores)


def test_softmax_gradient_equals_finite_differences(rng):
    scores, grad = draw(rng, BATCH, QUERY, KEY), draw(rng, BATCH, QUERY, KEY)
    gradient = softmax_backward(grad, softmax(scores))
    assert_finite_differences(softmax, grad, [scores], [gradient], rng)


def test_softmax_gradient_is_the_jacobian_times_the_gradient(rng):
    weights, grad = softmax(draw(rng, KEY)), draw(rng, KEY)
    jacobian = np.diag(weights) - np.outer(weights, weights)
    assert_close(softmax_backward(grad, weights), jacobian.T @ grad)


def test_softmax_rows_sum_to_1_along_the_last_axis(rng):
    sums = softmax(draw(rng, BATCH, QUERY, KEY)).sum(axis=-1)
    np.testing.assert_allclose(sums, np.ones((BATCH, QUERY)), rtol=1e-14)


def test_softmax_ignores_a_shift_of_each_row(rng):
    scores, shift = draw(rng, QUERY, KEY), draw(rng, QUERY, 1)
    assert_close(softmax(scores + 100 * shift), softmax(scores))


def test_softmax_stays_finite_for_scores_of_ten_thousand():
    weights = softmax(np.array([[1e4, 1e4 - 1, -1e4], [-1e4, -1e4 - 1, -3e4]]))
    first = 1 / (1 + math.exp(-1))
    np.testing.assert_allclose(weights, [[first, 1 - first, 0]] * 2, rtol=1e-14)


def test_softmax_of_a_row_of_minus_infinity_is_0():
    scores = np.array([[-np.inf, -np.inf, -np.inf], [-np.inf, 2.0, 2.0]])
    np.testing.assert_array_equal(softmax(scores), [[0, 0, 0], [0, 0.5, 0.5]])


def test_softmax_passes_a_nan_on():
    assert np.isnan(softmax(np.array([1.0, np.nan, 2.0]))).all()


# Scaled dot-product attention


@every_mask
def test_attention_and_its_gradients_equal_torch(rng, mask):
    inputs, grad = draw_attention(rng), draw(rng, BATCH, HEADS, QUERY, D_V)
    mask = mask(QUERY, KEY)
    expected, gradients = autograd(lambda *t: torch_attention(*t, mask), grad, *inputs)
    output, weights = scaled_dot_product_attention(*inputs, mask)
    assert_close(output, expected)
    actual = scaled_dot_product_attention_backward(grad, *inputs, weights)
    for name, gradient, of_torch in zip(("query", "key", "value"), actual, gradients, strict=True):
        assert_close(gradient, of_torch, name=name)


@every_seeing_mask
def test_attention_and_its_gradients_equal_torch_fused_attention(rng, mask):
    inputs, grad = draw_attention(rng), draw(rng, BATCH, HEADS, QUERY, D_V)
    mask = mask(QUERY, KEY)
    allowed = None if mask is None else torch.tensor(mask)
    expected, gradients = autograd(
        lambda *t: F.scaled_dot_product_attention(*t, attn_mask=allowed), grad, *inputs
    )
    output, weights = scaled_dot_product_attention(*inputs, mask)
    assert_close(output, expected)
    actual = scaled_dot_product_attention_backward(grad, *inputs, weights)
    for gradient, of_torch in zip(actual, gradients, strict=True):
        assert_close(gradient, of_torch)


@every_mask
def test_attention_gradients_equal_finite_differences(rng, mask):
    inputs, grad = draw_attention(rng), draw(rng, BATCH, HEADS, QUERY, D_V)
    mask = mask(QUERY, KEY)
    _, weights = scaled_dot_product_attention(*inputs, mask)
    gradients = scaled_dot_product_attention_backward(grad, *inputs, weights)
    assert_finite_differences(
        lambda *a: scaled_dot_product_attention(*a, mask)[0], grad, inputs, gradients, rng
    )


def test_one_head_of_one_sentence_has_the_gradients_it_has_among_others(rng):
    inputs, grad = draw_attention(rng), draw(rng, BATCH, HEADS, QUERY, D_V)
    _, weights = scaled_dot_product_attention(*inputs)
    among = scaled_dot_product_attention_backward(grad, *inputs, weights)
    alone = scaled_dot_product_attention_backward(
        *(array[1, 2] for array in (grad, *inputs, weights))
    )
    for one, whole in zip(alone, among, strict=True):
        np.testing.assert_allclose(one, whole[1, 2], rtol=1e-12, atol=1e-15)


def test_attention_agrees_with_a_calculation_by_hand():
    query, key = np.array([[2.0, 0, 0, 0]]), np.array([[math.log(3), 0, 0, 0], [0, 1.0, 0, 0]])
    output, weights = scaled_dot_product_attention(query, key, np.array([[4.0], [8.0]]))
    # The scores are 2 log 3 / √4 = log 3 and 0, so the weights are as 3 to 1.
    np.testing.assert_allclose(weights, [[0.75, 0.25]], rtol=1e-15)
    np.testing.assert_allclose(output, [[5.0]], rtol=1e-15)


@every_mask
def test_attention_rows_sum_to_1_and_hidden_keys_weigh_exactly_0(rng, mask):
    mask = mask(QUERY, KEY)
    _, weights = scaled_dot_product_attention(*draw_attention(rng), mask)
    seen = np.broadcast_to(True if mask is None else mask, weights.shape)
    assert (weights[~seen] == 0).all()
    assert (weights[seen] > 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), seen.any(axis=-1), rtol=1e-14)


def test_query_that_may_see_nothing_gets_0_for_weights_output_and_gradients(rng):
    inputs, grad = draw_attention(rng), draw(rng, BATCH, HEADS, QUERY, D_V)
    mask = blind_mask(QUERY, KEY)
    output, weights = scaled_dot_product_attention(*inputs, mask)
    gradients = scaled_dot_product_attention_backward(grad, *inputs, weights)
    for array in (output, weights, gradients[0]):
        assert (array[1, 2, 3] == 0).all()
        assert np.isfinite(array).all()
    nobody = ~mask.any(axis=-2)
    assert nobody.any()
    for gradient in gradients[1:]:
        assert (gradient[nobody] == 0).all()
        assert np.isfinite(gradient).all()


def test_attention_to_no_keys_at_all_gives_0(rng):
    query, key, value = draw(rng, QUERY, D_K), draw(rng, 0, D_K), draw(rng, 0, D_V)
    output, weights = scaled_dot_product_attention(query, key, value)
    np.testing.assert_array_equal(output, np.zeros((QUERY, D_V)))
    assert weights.shape == (QUERY, 0)


def test_permuting_keys_and_values_together_leaves_attention_unchanged(rng):
    query, key, value = draw_attention(rng)
    order = rng.permutation(KEY)
    output, weights = scaled_dot_product_attention(query, key, value)
    again, permuted = scaled_dot_product_attention(query, key[..., order, :], value[..., order, :])
    assert_close(again, output)
    assert_close(permuted, weights[..., order])


def test_permuting_queries_permutes_outputs(rng):
    query, key, value = draw_attention(rng)
    order = rng.permutation(QUERY)
    output, _ = scaled_dot_product_attention(query, key, value)
    permuted, _ = scaled_dot_product_attention(query[..., order, :], key, value)
    assert_close(permuted, output[..., order, :])


def test_one_feature_is_enough_to_compare_and_none_is_not(rng):
    query, key, value = rng.standard_normal((5, 1)), rng.standard_normal((7, 1)), np.eye(7)
    _, weights = scaled_dot_product_attention(query, key, value)
    scores = np.exp(query @ key.T)
    assert_close(weights, scores / scores.sum(axis=1, keepdims=True))
    message = "query has 0 features; expected at least one"
    with pytest.raises(ValueError, match=message):
        scaled_dot_product_attention(query[:, :0], key[:, :0], value)


def test_attention_works_without_leading_dimensions(rng):
    inputs = draw_attention(rng)
    whole, _ = scaled_dot_product_attention(*inputs, causal_mask(QUERY, KEY))
    one, _ = scaled_dot_product_attention(*(a[1, 2] for a in inputs), causal_mask(QUERY, KEY))
    assert_close(one, whole[1, 2])


# Causal mask


def test_causal_mask_is_lower_triangular_with_its_diagonal():
    expected = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    np.testing.assert_array_equal(causal_mask(3), np.array(expected, dtype=bool))


@pytest.mark.parametrize(("query", "key"), [(QUERY, KEY), (1, KEY), (KEY, QUERY)])
def test_causal_mask_lets_the_last_query_meet_the_last_key(query, key):
    expected = [[j - key <= i - query for j in range(key)] for i in range(query)]
    np.testing.assert_array_equal(causal_mask(query, key), expected)


def test_causal_mask_keeps_the_future_from_changing_the_past_bit_for_bit(rng):
    now, change = 3, draw(rng, BATCH, HEADS, QUERY, D_K)
    x = draw(rng, BATCH, HEADS, QUERY, D_K)
    other = np.concatenate([x[..., :now, :], change[..., now:, :]], axis=-2)
    before, _ = scaled_dot_product_attention(x, x, x, causal_mask(QUERY))
    after, _ = scaled_dot_product_attention(other, other, other, causal_mask(QUERY))
    np.testing.assert_array_equal(after[..., :now, :], before[..., :now, :])
    assert (after[..., now:, :] != before[..., now:, :]).any(axis=-1).all()


# Multi-head attention


@every_mask
def test_multi_head_attention_and_its_gradients_equal_torch(rng, mask):
    inputs, parameters = draw_inputs(rng), draw_multi_head(rng)
    arrays, grad = arrays_of(parameters), draw(rng, BATCH, QUERY, D_MODEL)
    mask = mask(QUERY, KEY)
    expected, gradients = autograd(
        lambda q, k, v, *p: torch_multi_head(q, k, v, p, mask), grad, *inputs, *arrays.values()
    )
    output, weights = multi_head_attention(*inputs, parameters, HEADS, mask)
    assert_close(output, expected)
    *of_inputs, of_parameters = multi_head_attention_backward(
        grad, *inputs, parameters, HEADS, weights
    )
    names = ["query", "key", "value"]
    actual = dict(zip(names, of_inputs, strict=True)) | arrays_of(of_parameters)
    assert_gradients_close(actual, dict(zip(names + list(arrays), gradients, strict=True)))


@every_mask
def test_multi_head_attention_gradients_equal_finite_differences(rng, mask):
    inputs, parameters = draw_inputs(rng), draw_multi_head(rng)
    grad, mask = draw(rng, BATCH, QUERY, D_MODEL), mask(QUERY, KEY)
    _, weights = multi_head_attention(*inputs, parameters, HEADS, mask)
    *of_inputs, of_parameters = multi_head_attention_backward(
        grad, *inputs, parameters, HEADS, weights
    )
    assert_finite_differences(
        lambda q, k, v, *p: multi_head_attention(q, k, v, MultiHeadParameters(*p), HEADS, mask)[0],
        grad,
        [*inputs, *arrays_of(parameters).values()],
        [*of_inputs, *arrays_of(of_parameters).values()],
        rng,
    )


def load_attention(module, p):
    """Give torch's module our projections; it keeps them transposed, the first three in one."""
    stacked = np.concatenate([p.w_q, p.w_k, p.w_v], axis=1).T
    pairs = {
        "in_proj_weight": stacked,
        "in_proj_bias": np.concatenate([p.b_q, p.b_k, p.b_v]),
        "out_proj.weight": p.w_o.T,
        "out_proj.bias": p.b_o,
    }
    module.load_state_dict({name: torch.tensor(array) for name, array in pairs.items()})


def attention_gradients(module):
    """The gradients of torch's module, in our names and our way round."""
    w_q, w_k, w_v = np.split(module.in_proj_weight.grad.numpy().T, 3, axis=1)
    b_q, b_k, b_v = np.split(module.in_proj_bias.grad.numpy(), 3)
    w_o, b_o = module.out_proj.weight.grad.numpy().T, module.out_proj.bias.grad.numpy()
    return arrays_of(MultiHeadParameters(w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o))


def blocked(mask, query, key):
    """Our mask as torch's modules want it: True = may not attend, (batch · heads, query, key)."""
    if mask is None:
        return None
    mask = np.broadcast_to(mask, (BATCH, HEADS, query, key))
    return torch.tensor(~mask).reshape(BATCH * HEADS, query, key)


@every_seeing_mask
def test_multi_head_attention_equals_the_module_of_torch(rng, mask):
    inputs, grad = draw_inputs(rng, D_TORCH), draw(rng, BATCH, QUERY, D_TORCH)
    parameters = draw_multi_head(rng, D_TORCH, D_K, D_K)
    mask = mask(QUERY, KEY)
    module = nn.MultiheadAttention(D_TORCH, HEADS, batch_first=True, dtype=torch.float64)
    load_attention(module, parameters)
    of_torch = {}

    def run(query, key, value):
        output, of_torch["weights"] = module(
            query, key, value, attn_mask=blocked(mask, QUERY, KEY), average_attn_weights=False
        )
        return output

    expected, gradients = autograd(run, grad, *inputs)
    output, weights = multi_head_attention(*inputs, parameters, HEADS, mask)
    assert_close(output, expected)
    assert_close(weights, of_torch["weights"].detach().numpy())
    *of_inputs, of_parameters = multi_head_attention_backward(
        grad, *inputs, parameters, HEADS, weights
    )
    for gradient, expected in zip(of_inputs, gradients, strict=True):
        assert_close(gradient, expected)
    assert_gradients_close(arrays_of(of_parameters), attention_gradients(module))


def test_padding_mask_means_what_the_key_padding_mask_of_torch_means(rng):
    inputs, parameters = draw_inputs(rng, D_TORCH), draw_multi_head(rng, D_TORCH, D_K, D_K)
    mask = padding_mask(KEY)
    module = nn.MultiheadAttention(D_TORCH, HEADS, batch_first=True, dtype=torch.float64)
    load_attention(module, parameters)
    hidden = torch.tensor(~mask[:, 0, 0])
    expected, _ = module(*(torch.tensor(a) for a in inputs), key_padding_mask=hidden)
    output, _ = multi_head_attention(*inputs, parameters, HEADS, mask)
    assert_close(output, expected.detach().numpy())


def test_key_bias_changes_nothing_and_gets_no_gradient(rng):
    inputs, parameters = draw_inputs(rng), draw_multi_head(rng)
    arrays, grad = arrays_of(parameters), draw(rng, BATCH, QUERY, D_MODEL)
    moved = with_arrays(parameters, (arrays | {"b_k": arrays["b_k"] + 1}).values())
    output, weights = multi_head_attention(*inputs, parameters, HEADS)
    assert_close(multi_head_attention(*inputs, moved, HEADS)[0], output)
    *_, gradient = multi_head_attention_backward(grad, *inputs, parameters, HEADS, weights)
    assert np.abs(gradient.b_k).max() < 1e-14 * np.abs(gradient.b_q).max() * KEY * D_MODEL


def test_query_that_sees_nothing_in_any_head_gets_the_output_bias(rng):
    inputs, parameters = draw_inputs(rng), draw_multi_head(rng)
    mask = np.ones((BATCH, 1, QUERY, KEY), dtype=bool)
    mask[0, :, 2] = False
    output, _ = multi_head_attention(*inputs, parameters, HEADS, mask)
    np.testing.assert_array_equal(output[0, 2], parameters.b_o)


def test_split_heads_gives_each_head_its_block_of_features_and_merge_undoes_it(rng):
    x = draw(rng, BATCH, QUERY, HEADS * D_K)
    heads = split_heads(x, HEADS)
    for i in range(HEADS):
        np.testing.assert_array_equal(heads[:, i], x[:, :, i * D_K : (i + 1) * D_K])
    np.testing.assert_array_equal(merge_heads(heads), x)


def test_linear_gradients_equal_torch(rng):
    x, w, b = draw(rng, BATCH, QUERY, D_MODEL), draw(rng, D_MODEL, D_FF), draw(rng, D_FF)
    grad = draw(rng, BATCH, QUERY, D_FF)
    _, expected = autograd(lambda x, w, b: x @ w + b, grad, x, w, b)
    for actual, gradient in zip(linear_backward(grad, x, w), expected, strict=True):
        assert_close(actual, gradient)


def test_linear_gradients_equal_finite_differences(rng):
    x, w, b = draw(rng, BATCH, QUERY, D_MODEL), draw(rng, D_MODEL, D_FF), draw(rng, D_FF)
    grad = draw(rng, BATCH, QUERY, D_FF)
    gradients = linear_backward(grad, x, w)
    assert_finite_differences(lambda x, w, b: x @ w + b, grad, [x, w, b], gradients, rng)


# Layer norm

leading = pytest.mark.parametrize("leading", [(), (BATCH, QUERY)], ids=["vector", "batch"])
# With a scale of 1e-3 the variance is smaller than ε.
scales = pytest.mark.parametrize("scale", [1.0, 1e-3])


@leading
@scales
def test_layer_norm_and_its_gradients_equal_torch(rng, leading, scale):
    x, grad = draw(rng, *leading, D_MODEL) * scale, draw(rng, *leading, D_MODEL)
    gain, bias = draw(rng, D_MODEL), draw(rng, D_MODEL)
    module = nn.LayerNorm(D_MODEL, dtype=torch.float64)
    module.load_state_dict({"weight": torch.tensor(gain), "bias": torch.tensor(bias)})
    expected, (grad_x,) = autograd(module, grad, x)
    assert_close(layer_norm(x, gain, bias), expected)
    actual = layer_norm_backward(grad, x, gain)
    of_torch = grad_x, module.weight.grad.numpy(), module.bias.grad.numpy()
    for gradient, expected in zip(actual, of_torch, strict=True):
        assert_close(gradient, expected)


def test_layer_norm_takes_the_epsilon_it_is_given(rng):
    x, gain, bias = draw(rng, BATCH, D_MODEL), draw(rng, D_MODEL), draw(rng, D_MODEL)
    grad = draw(rng, BATCH, D_MODEL)
    expected, gradients = autograd(
        lambda *t: F.layer_norm(t[0], (D_MODEL,), t[1], t[2], eps=0.1), grad, x, gain, bias
    )
    assert_close(layer_norm(x, gain, bias, epsilon=0.1), expected)
    for actual, gradient in zip(layer_norm_backward(grad, x, gain, 0.1), gradients, strict=True):
        assert_close(actual, gradient)


def test_layer_norm_gradients_equal_finite_differences(rng):
    arrays = [draw(rng, BATCH, QUERY, D_MODEL), draw(rng, D_MODEL), draw(rng, D_MODEL)]
    grad = draw(rng, BATCH, QUERY, D_MODEL)
    gradients = layer_norm_backward(grad, arrays[0], arrays[1])
    assert_finite_differences(layer_norm, grad, arrays, gradients, rng)


def test_layer_norm_gives_each_position_mean_0_and_biased_variance_1(rng):
    x = 5 + 3 * draw(rng, BATCH, QUERY, D_MODEL)
    y = layer_norm(x, np.ones(D_MODEL), np.zeros(D_MODEL), epsilon=0.0)
    np.testing.assert_allclose(y.mean(axis=-1), np.zeros((BATCH, QUERY)), atol=1e-13)
    np.testing.assert_allclose((y**2).mean(axis=-1), np.ones((BATCH, QUERY)), rtol=1e-13)


def test_layer_norm_of_equal_features_is_the_bias(rng):
    bias = draw(rng, D_MODEL)
    y = layer_norm(np.full((QUERY, D_MODEL), 2.0), draw(rng, D_MODEL), bias)
    np.testing.assert_array_equal(y, np.tile(bias, (QUERY, 1)))


# Feed-forward


def draw_feed_forward(rng, *leading):
    x = draw(rng, *leading, D_MODEL)
    shapes = (D_MODEL, D_FF), (D_FF,), (D_FF, D_MODEL), (D_MODEL,)
    return [x, *(draw(rng, *shape) for shape in shapes)]


@leading
def test_feed_forward_and_its_gradients_equal_torch(rng, leading):
    arrays, grad = draw_feed_forward(rng, *leading), draw(rng, *leading, D_MODEL)
    expected, gradients = autograd(
        lambda x, w_1, b_1, w_2, b_2: F.linear(F.relu(F.linear(x, w_1.T, b_1)), w_2.T, b_2),
        grad,
        *arrays,
    )
    assert_close(feed_forward(*arrays), expected)
    actual = feed_forward_backward(grad, *arrays[:-1])
    for gradient, of_torch in zip(actual, gradients, strict=True):
        assert_close(gradient, of_torch)


def test_feed_forward_gradients_equal_finite_differences(rng):
    arrays, grad = draw_feed_forward(rng, BATCH, QUERY), draw(rng, BATCH, QUERY, D_MODEL)
    gradients = feed_forward_backward(grad, *arrays[:-1])
    assert_finite_differences(feed_forward, grad, arrays, gradients, rng)


def test_feed_forward_passes_no_gradient_at_exactly_0():
    zero, one = np.zeros((1, 1)), np.ones((1, 1))
    grad_x, grad_w_1, grad_b_1, *_ = feed_forward_backward(one, one, zero, np.zeros(1), one)
    assert grad_x == grad_w_1 == grad_b_1 == 0


def test_feed_forward_never_mixes_positions(rng):
    x, *parameters = draw_feed_forward(rng, BATCH, QUERY)
    moved = x.copy()
    moved[0, 3] += 1
    changed = (feed_forward(moved, *parameters) != feed_forward(x, *parameters)).any(axis=-1)
    np.testing.assert_array_equal(np.argwhere(changed), [[0, 3]])


# Sinusoidal positions


@pytest.mark.parametrize("d_model", [2, 6, 512, 1, D_MODEL])
def test_sinusoidal_positions_are_the_formula_of_the_paper(d_model):
    table = sinusoidal_positions(KEY, d_model)
    assert table.shape == (KEY, d_model)
    for pos in range(KEY):
        for column in range(d_model):
            i = column // 2
            wave = math.cos if column % 2 else math.sin
            expected = wave(pos / 10_000 ** (2 * i / d_model))
            assert table[pos, column] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_position_pos_plus_k_is_a_rotation_of_position_pos():
    d_model, k = 22, 13
    table = sinusoidal_positions(101, d_model)
    rotation = np.zeros((d_model, d_model))
    for i in range(0, d_model, 2):
        angle = k / 10_000 ** (i / d_model)
        sin, cos = math.sin(angle), math.cos(angle)
        rotation[i : i + 2, i : i + 2] = [[cos, sin], [-sin, cos]]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(d_model), atol=1e-14)
    np.testing.assert_allclose(table[k:], table[:-k] @ rotation.T, atol=1e-12)


# The encoder layer


@every_mask
def test_encoder_layer_and_its_gradients_equal_torch(rng, mask):
    x, grad = draw(rng, BATCH, QUERY, D_MODEL), draw(rng, BATCH, QUERY, D_MODEL)
    parameters, mask = draw_encoder_layer(rng), mask(QUERY, QUERY)
    arrays = arrays_of(parameters)
    expected, gradients = autograd(
        lambda *t: torch_encoder_layer(*t, mask=mask), grad, x, *arrays.values()
    )
    assert_close(encoder_layer(x, parameters, HEADS, mask), expected)
    grad_x, of_parameters = encoder_layer_backward(grad, x, parameters, HEADS, mask)
    actual = {"x": grad_x} | arrays_of(of_parameters)
    assert_gradients_close(actual, dict(zip(actual, gradients, strict=True)))


@every_mask
def test_encoder_layer_gradients_equal_finite_differences(rng, mask):
    x, grad = draw(rng, BATCH, QUERY, D_MODEL), draw(rng, BATCH, QUERY, D_MODEL)
    parameters, mask = draw_encoder_layer(rng), mask(QUERY, QUERY)
    grad_x, of_parameters = encoder_layer_backward(grad, x, parameters, HEADS, mask)
    assert_finite_differences(
        lambda x, *p: encoder_layer(x, with_arrays(parameters, p), HEADS, mask),
        grad,
        [x, *arrays_of(parameters).values()],
        [grad_x, *arrays_of(of_parameters).values()],
        rng,
    )


@every_seeing_mask
def test_encoder_layer_equals_the_module_of_torch(rng, mask):
    x, grad = draw(rng, BATCH, QUERY, D_TORCH), draw(rng, BATCH, QUERY, D_TORCH)
    parameters, mask = draw_encoder_layer(rng, D_TORCH, D_K, D_K), mask(QUERY, QUERY)
    module = nn.TransformerEncoderLayer(
        D_TORCH, HEADS, D_FF, dropout=0.0, batch_first=True, dtype=torch.float64
    )
    load_attention(module.self_attn, parameters.attention)
    ours = {
        "gain_1": module.norm1.weight,
        "bias_1": module.norm1.bias,
        "w_1": module.linear1.weight,
        "b_1": module.linear1.bias,
        "w_2": module.linear2.weight,
        "b_2": module.linear2.bias,
        "gain_2": module.norm2.weight,
        "bias_2": module.norm2.bias,
    }
    for name, tensor in ours.items():
        tensor.data.copy_(torch.tensor(getattr(parameters, name).T))
    expected, (grad_x,) = autograd(
        lambda x: module(x, src_mask=blocked(mask, QUERY, QUERY)), grad, x
    )
    assert_close(encoder_layer(x, parameters, HEADS, mask), expected)
    actual, of_parameters = encoder_layer_backward(grad, x, parameters, HEADS, mask)
    of_torch = {name: tensor.grad.numpy().T for name, tensor in ours.items()}
    assert_close(actual, grad_x)
    assert_gradients_close(
        arrays_of(of_parameters), attention_gradients(module.self_attn) | of_torch
    )


def test_encoder_layer_stays_finite_where_a_query_sees_nothing(rng):
    x, parameters = draw(rng, BATCH, QUERY, D_MODEL), draw_encoder_layer(rng)
    mask = np.zeros((BATCH, 1, 1, QUERY), dtype=bool)
    mask[0] = True  # the second sentence is nothing but padding
    grad_x, gradients = encoder_layer_backward(np.ones(x.shape), x, parameters, HEADS, mask)
    results = [encoder_layer(x, parameters, HEADS, mask), grad_x, *arrays_of(gradients).values()]
    assert all(np.isfinite(array).all() for array in results)


def test_encoder_layer_without_positions_permutes_with_its_words(rng):
    x, parameters = draw(rng, BATCH, QUERY, D_MODEL), draw_encoder_layer(rng)
    order = rng.permutation(QUERY)
    permuted = encoder_layer(x[:, order], parameters, HEADS)
    assert_close(permuted, encoder_layer(x, parameters, HEADS)[:, order])


def test_encoder_layer_with_a_causal_mask_keeps_the_past_bit_for_bit(rng):
    now, parameters = 2, draw_encoder_layer(rng)
    x = draw(rng, BATCH, QUERY, D_MODEL)
    other = np.concatenate([x[:, :now], draw(rng, BATCH, QUERY - now, D_MODEL)], axis=1)
    before = encoder_layer(x, parameters, HEADS, causal_mask(QUERY))
    after = encoder_layer(other, parameters, HEADS, causal_mask(QUERY))
    np.testing.assert_array_equal(after[:, :now], before[:, :now])


# Errors


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("query", "key", "value", "message"),
    [
        ((2, 5, 11), (2, 7, 13), (2, 7, 3), "key.shape is (2, 7, 13); expected (2, 7, 11)"),
        ((2, 5, 11), (3, 7, 11), (3, 7, 3), "key.shape is (3, 7, 11); expected (2, 7, 11)"),
        ((2, 5, 11), (2, 7, 11), (2, 5, 3), "value.shape is (2, 5, 3); expected (2, 7, 3)"),
        ((2, 5, 11), (2, 7, 11), (7, 3), "value.shape is (7, 3); expected (2, 7, 3)"),
        ((11,), (7, 11), (7, 3), "query.shape is (11,); expected (..., length, features)"),
        ((5, 11), (11,), (7, 3), "key.shape is (11,); expected (..., length, features)"),
        ((5, 11), (7, 11), (7,), "value.shape is (7,); expected (..., length, features)"),
    ],
)
def test_attention_names_the_input_that_does_not_fit(query, key, value, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        scaled_dot_product_attention(np.ones(query), np.ones(key), np.ones(value))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("kind", [float, int])
def test_attention_refuses_a_mask_that_is_not_boolean(rng, kind):
    mask = causal_mask(QUERY, KEY).astype(kind)
    with pytest.raises(
        ValueError, match=rf"^mask\.dtype is dtype\('{kind.__name__}.*expected bool"
    ):
        scaled_dot_product_attention(*draw_attention(rng), mask)


@pytest.mark.parametrize("shape", [(7, 5), (2, 1, 7), (3, 5, 1, 1), (2, 2, 3, 5, 7), (0, 7)])
def test_attention_refuses_a_mask_that_does_not_broadcast(rng, shape):
    message = f"mask.shape is {shape}; expected a shape that broadcasts to (2, 3, 5, 7)"
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        scaled_dot_product_attention(*draw_attention(rng), np.ones(shape, dtype=bool))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("wrong", ["query", "key", "value"])
def test_multi_head_attention_names_the_input_that_is_not_d_model_wide(rng, wrong):
    inputs = dict(zip(("query", "key", "value"), draw_inputs(rng), strict=True))
    inputs[wrong] = inputs[wrong][..., 1:]
    with pytest.raises(ValueError, match=rf"{wrong}\.shape is .* 16\); expected 17 as its last"):
        multi_head_attention(**inputs, parameters=draw_multi_head(rng), num_heads=HEADS)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("num_heads", [2, 0, -3])
def test_multi_head_attention_wants_heads_that_divide_d_model(rng, num_heads):
    parameters = draw_multi_head(rng, D_TORCH, D_K, D_K)
    with pytest.raises(ValueError, match=rf"num_heads is {num_heads}; expected a divisor of 33"):
        multi_head_attention(*draw_inputs(rng, D_TORCH), parameters, num_heads)


@pytest.mark.usefixtures("unchecked_shapes")
def test_multi_head_attention_names_the_value_that_is_shorter_than_its_key(rng):
    query, key, value = draw_inputs(rng)
    with pytest.raises(
        ValueError, match=r"value\.shape is \(2, 3, 6, 13\); expected \(2, 3, 7, 13"
    ):
        multi_head_attention(query, key, value[:, 1:], draw_multi_head(rng), HEADS)


def test_multi_head_attention_refuses_a_mask_without_a_place_for_heads(rng):
    mask = padding_mask(KEY)[:, 0, 0]  # (batch, key), torch's key_padding_mask
    with pytest.raises(ValueError, match=r"mask\.shape is \(2, 7\); expected .* \(2, 3, 5, 7\)"):
        multi_head_attention(*draw_inputs(rng), draw_multi_head(rng), HEADS, mask)


@pytest.mark.usefixtures("unchecked_shapes")
def test_layer_norm_and_feed_forward_name_what_is_not_d_model_wide(rng):
    x, *parameters = draw_feed_forward(rng, BATCH, QUERY)
    with pytest.raises(ValueError, match=r"x\.shape is \(2, 5, 16\); expected 17"):
        feed_forward(x[..., 1:], *parameters)
    with pytest.raises(ValueError, match=r"gain\.shape is \(1,\); expected 17"):
        layer_norm(x, np.ones(1), np.ones(D_MODEL))
    with pytest.raises(ValueError, match=r"bias\.shape is \(19,\); expected 17"):
        layer_norm(x, np.ones(D_MODEL), np.ones(D_FF))
