"""A readable NumPy reference for the parts of a Transformer, with forward and backward passes.

Section and equation numbers refer to Vaswani et al. (2017). Arrays are float64. A vector is a row,
so a linear map is x W + b, as in the paper; PyTorch stores Wᵀ. Masks are boolean, and True means
"may attend". A query that may attend to no key gets zero weights, a zero output and zero gradients.

`f_backward` takes `grad_output`, the gradient of a loss L with respect to the output of `f`,
followed by the inputs of `f` that it needs. It returns the gradients of L with respect to the
differentiable inputs of `f`, in the same order and with the same shapes. Where `f` returns
attention weights, its backward function takes them instead of the scores and the mask. In the
derivations, dX stands for ∂L/∂X, and ⊙ is elementwise multiplication.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from transformer_lab.config import check, check_count, check_mask

Scores = Float64[np.ndarray, "*batch key"]
Query = Float64[np.ndarray, "*batch query d_k"]
Key = Float64[np.ndarray, "*batch key d_k"]
Value = Float64[np.ndarray, "*batch key d_v"]
Output = Float64[np.ndarray, "*batch query d_v"]
Weights = Float64[np.ndarray, "*batch query key"]
Mask = Bool[np.ndarray, "..."]
QueryInput = Float64[np.ndarray, "batch query d_model"]
KeyInput = Float64[np.ndarray, "batch key d_model"]
HeadWeights = Float64[np.ndarray, "batch {num_heads} query key"]
Sentences = Float64[np.ndarray, "batch length d_model"]
X = Float64[np.ndarray, "*batch d_model"]
Vector = Float64[np.ndarray, " d_model"]
W1 = Float64[np.ndarray, "d_model d_ff"]
B1 = Float64[np.ndarray, " d_ff"]
W2 = Float64[np.ndarray, "d_ff d_model"]


def check_width(width: int, **arrays: np.ndarray) -> None:
    """Raise a ValueError for the first array whose last dimension is not `width`."""
    for name, array in arrays.items():
        expected = f"{width} as its last dimension"
        check(f"{name}.shape", array.shape, expected, array.shape[-1] == width)


def check_attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray | None
) -> None:
    """Raise a ValueError if the shapes are incompatible or the mask is not boolean."""
    for name, array in (("query", query), ("key", key), ("value", value)):
        check(f"{name}.shape", array.shape, "(..., length, features)", array.ndim >= 2)
    check_count("query", query.shape[-1], "feature", "at least one", query.shape[-1] > 0)
    *batch, length, d_k = query.shape
    keys, d_v = key.shape[-2], value.shape[-1]
    fits = (*batch, keys, d_k)
    check("key.shape", key.shape, f"{fits} to fit query.shape {query.shape}", key.shape == fits)
    fits = (*batch, keys, d_v)
    check("value.shape", value.shape, f"{fits} to fit key.shape {key.shape}", value.shape == fits)
    if mask is not None:
        check_mask(mask, (*batch, length, keys), "bool")


def softmax(scores: Scores) -> Scores:
    """Compute w_j = exp(s_j) / Σ_k exp(s_k) along the last axis (part of equation 1).

    Scores (..., key) give weights (..., key). A score of -inf hides its key. Each row sums to 1, or
    is all 0 if every score is -inf. Subtracting the largest score keeps exp from overflowing, and
    leaves w unchanged because the common factor cancels.
    """
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)  # (..., 1)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))  # (..., key)
    total = exponentials.sum(axis=-1, keepdims=True)  # (..., 1)
    return exponentials / np.where(total == 0.0, 1.0, total)


def softmax_backward(grad_output: Scores, weights: Scores) -> Scores:
    """Return the gradient with respect to the scores (..., key), given the output of `softmax`.

    The Jacobian of one row is ∂w_j/∂s_k = w_j (δ_jk − w_k). Summing over the outputs j gives
    ds_k = Σ_j dw_j w_j (δ_jk − w_k) = w_k (dw_k − Σ_j dw_j w_j).
    A key with weight 0 gets a gradient of 0, so no gradient reaches a key that the mask hides.
    """
    return weights * (grad_output - (grad_output * weights).sum(axis=-1, keepdims=True))


def scaled_dot_product_attention(
    query: Query, key: Key, value: Value, mask: Mask | None = None
) -> tuple[Output, Weights]:
    """Compute Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V (§3.2.1, equation 1).

    Args:
        query: (..., query, d_k).
        key: (..., key, d_k).
        value: (..., key, d_v).
        mask: Broadcasts to (..., query, key); None hides nothing.

    Returns:
        The output (..., query, d_v) and the weights (..., query, key).

    Raises:
        ValueError: If the shapes are incompatible or the mask is not boolean.
    """
    check_attention(query, key, value, mask)
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])  # (..., query, key)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)  # (..., query, key)
    weights = softmax(scores)  # (..., query, key)
    return weights @ value, weights


def scaled_dot_product_attention_backward(
    grad_output: Output, query: Query, key: Key, value: Value, weights: Weights
) -> tuple[Query, Key, Value]:
    """Return the gradients dQ, dK and dV of attention, given the weights from the forward pass.

    Output = A V:     dV = Aᵀ dOutput,  dA = dOutput Vᵀ
    A = softmax(S):   dS = A ⊙ (dA − rowsum(dA ⊙ A)), by `softmax_backward`
    S = Q Kᵀ / √d_k:  dQ = dS K / √d_k,  dK = dSᵀ Q / √d_k
    """
    grad_value = weights.swapaxes(-2, -1) @ grad_output  # (..., key, d_v)
    grad_weights = grad_output @ value.swapaxes(-2, -1)  # (..., query, key)
    grad_scores = softmax_backward(grad_weights, weights)  # (..., query, key)
    grad_query = grad_scores @ key / np.sqrt(query.shape[-1])  # (..., query, d_k)
    grad_key = grad_scores.swapaxes(-2, -1) @ query / np.sqrt(query.shape[-1])  # (..., key, d_k)
    return grad_query, grad_key, grad_value


def causal_mask(query: int, key: int | None = None) -> Bool[np.ndarray, "{query} _"]:
    """Return a lower-triangular mask, in which position i may attend to positions 0 to i (§3.2.3).

    The mask has shape (query, key) and is square by default. If there are more keys than queries,
    the queries are taken to be the last positions. If there are fewer keys, the first queries may
    attend to nothing.
    """
    key = query if key is None else key
    return np.tri(query, key, key - query, dtype=bool)


def linear_backward(
    grad_output: Float64[np.ndarray, "*batch m"],
    x: Float64[np.ndarray, "*batch n"],
    w: Float64[np.ndarray, "n m"],
) -> tuple[Float64[np.ndarray, "*batch n"], Float64[np.ndarray, "n m"], Float64[np.ndarray, " m"]]:
    """Return the gradients of Y = X W + b: dX = dY Wᵀ (..., n), dW = Xᵀ dY (n, m), db = Σ dY (m).

    Every position of every sentence uses the same W and b, so dW and db sum over all positions.
    """
    rows = x.reshape(-1, x.shape[-1])  # (positions, n)
    grad_rows = grad_output.reshape(-1, grad_output.shape[-1])  # (positions, m)
    return grad_output @ w.T, rows.T @ grad_rows, grad_rows.sum(axis=0)


@dataclass(frozen=True)
class MultiHeadParameters:
    """The projection weights and biases of `multi_head_attention`, or their gradients.

    The heads are side by side: the columns of `w_q` are the paper's W_1^Q, …, W_h^Q. So hd_k is
    num_heads · d_k, and hd_v is num_heads · d_v. The paper has no biases here, but PyTorch does.
    """

    w_q: Float64[np.ndarray, "d_model hd_k"]
    b_q: Float64[np.ndarray, " hd_k"]
    w_k: Float64[np.ndarray, "d_model hd_k"]
    b_k: Float64[np.ndarray, " hd_k"]
    w_v: Float64[np.ndarray, "d_model hd_v"]
    b_v: Float64[np.ndarray, " hd_v"]
    w_o: Float64[np.ndarray, "hd_v d_model"]
    b_o: Float64[np.ndarray, " d_model"]


def split_heads(
    x: Float64[np.ndarray, "batch length _"], num_heads: int
) -> Float64[np.ndarray, "batch {num_heads} length _"]:
    """Split x (batch, length, heads · d) into heads (batch, heads, length, d).

    Raises:
        ValueError: If num_heads does not divide the last dimension, which is usually d_model.
    """
    batch, length, features = x.shape
    divides = num_heads >= 1 and features % num_heads == 0
    check("num_heads", num_heads, f"a divisor of {features}, the number of features", divides)
    x = x.reshape(batch, length, num_heads, features // num_heads)  # (batch, length, heads, d)
    return x.swapaxes(1, 2)  # (batch, heads, length, d)


def merge_heads(
    heads: Float64[np.ndarray, "batch _ length _"],
) -> Float64[np.ndarray, "batch length _"]:
    """Concatenate the heads (batch, heads, length, d) into (batch, length, heads · d).

    This undoes `split_heads`. Each of the two functions is the backward pass of the other.
    """
    batch, num_heads, length, d = heads.shape
    return heads.swapaxes(1, 2).reshape(batch, length, num_heads * d)  # (batch, length, heads · d)


def multi_head_attention(
    query: QueryInput,
    key: KeyInput,
    value: KeyInput,
    parameters: MultiHeadParameters,
    num_heads: int,
    mask: Mask | None = None,
) -> tuple[QueryInput, HeadWeights]:
    """Compute MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O (§3.2.2).

    Here head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V), and num_heads is the paper's h. All heads
    are computed at once. The query has shape (batch, query, d_model); key and value have shape
    (batch, key, d_model). The output has the shape of the query, and the weights have shape (batch,
    heads, query, key). The mask broadcasts to the shape of the weights.

    Raises:
        ValueError: If the shapes are incompatible, num_heads does not divide the width of the
            projections, or the mask is not boolean.
    """
    p = parameters
    check_width(len(p.w_q), query=query, key=key, value=value)
    q = split_heads(query @ p.w_q + p.b_q, num_heads)  # (batch, heads, query, d_k)
    k = split_heads(key @ p.w_k + p.b_k, num_heads)  # (batch, heads, key, d_k)
    v = split_heads(value @ p.w_v + p.b_v, num_heads)  # (batch, heads, key, d_v)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)  # (batch, heads, query, d_v)
    return merge_heads(heads) @ p.w_o + p.b_o, weights


def multi_head_attention_backward(
    grad_output: QueryInput,
    query: QueryInput,
    key: KeyInput,
    value: KeyInput,
    parameters: MultiHeadParameters,
    num_heads: int,
    weights: HeadWeights,
) -> tuple[QueryInput, KeyInput, KeyInput, MultiHeadParameters]:
    """Return the gradients with respect to query, key, value and parameters.

    `weights` holds the attention weights from the forward pass.

    output = C W_O + b_O:       dC, dW_O, db_O by `linear_backward`
    C = Concat(head_1, …):      d head_i is the i-th block of dC, so `split_heads` gives them all
    head_i = Attention(Q_i, …): dQ, dK, dV by `scaled_dot_product_attention_backward`
    Q = query W_Q + b_Q:        d query, dW_Q, db_Q by `linear_backward`; K and V likewise
    """
    p = parameters
    q = split_heads(query @ p.w_q + p.b_q, num_heads)  # (batch, heads, query, d_k)
    k = split_heads(key @ p.w_k + p.b_k, num_heads)  # (batch, heads, key, d_k)
    v = split_heads(value @ p.w_v + p.b_v, num_heads)  # (batch, heads, key, d_v)
    concat = merge_heads(weights @ v)  # (batch, query, heads · d_v)
    grad_concat, w_o, b_o = linear_backward(grad_output, concat, p.w_o)
    grad_heads = split_heads(grad_concat, num_heads)  # (batch, heads, query, d_v)
    grad_q, grad_k, grad_v = scaled_dot_product_attention_backward(grad_heads, q, k, v, weights)
    grad_query, w_q, b_q = linear_backward(merge_heads(grad_q), query, p.w_q)
    grad_key, w_k, b_k = linear_backward(merge_heads(grad_k), key, p.w_k)
    grad_value, w_v, b_v = linear_backward(merge_heads(grad_v), value, p.w_v)
    grad_parameters = MultiHeadParameters(w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o)
    return grad_query, grad_key, grad_value, grad_parameters


def layer_norm(x: X, gain: Vector, bias: Vector, epsilon: float = 1e-5) -> X:
    """Compute gain ⊙ (x − mean) / √(variance + ε) + bias at each position (LayerNorm, §3.1).

    The input x and the result have shape (..., d_model); gain and bias have shape (d_model). The
    mean and variance are computed over the features. The variance is the biased estimate, which
    divides by d_model instead of d_model − 1. PyTorch calls the gain `weight`.

    Raises:
        ValueError: If the width of gain or bias does not match x.
    """
    check_width(x.shape[-1], gain=gain, bias=bias)
    centred = x - x.mean(axis=-1, keepdims=True)  # (..., d_model)
    variance = (centred**2).mean(axis=-1, keepdims=True)  # (..., 1)
    return gain * centred / np.sqrt(variance + epsilon) + bias


def layer_norm_backward(
    grad_output: X, x: X, gain: Vector, epsilon: float = 1e-5
) -> tuple[X, Vector, Vector]:
    """Return the gradients with respect to x, gain and bias.

    Let σ = √(variance + ε) and n = (x − mean) / σ.

    Y = gain ⊙ n + bias:  d gain = Σ dY ⊙ n,  d bias = Σ dY,  dn = dY ⊙ gain
    The Jacobian of n:    ∂n_j/∂x_k = (δ_jk − 1/d_model − n_j n_k / d_model) / σ
    Summed over j:        dx_k = (dn_k − mean(dn) − n_k mean(dn ⊙ n)) / σ
    """
    centred = x - x.mean(axis=-1, keepdims=True)  # (..., d_model)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)  # (..., 1)
    n = centred / sigma  # (..., d_model)
    grad_n = grad_output * gain  # (..., d_model)
    through_mean = grad_n.mean(axis=-1, keepdims=True)  # (..., 1)
    through_variance = n * (grad_n * n).mean(axis=-1, keepdims=True)  # (..., d_model)
    grad_x = (grad_n - through_mean - through_variance) / sigma  # (..., d_model)
    positions = tuple(range(x.ndim - 1))  # all axes but the features
    return grad_x, (grad_output * n).sum(axis=positions), grad_output.sum(axis=positions)


def feed_forward(x: X, w_1: W1, b_1: B1, w_2: W2, b_2: Vector) -> X:
    """Compute FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 at each position (§3.3, equation 2).

    The shapes are x (..., d_model), W_1 (d_model, d_ff), b_1 (d_ff), W_2 (d_ff, d_model) and b_2
    (d_model). The result has the shape of x.

    Raises:
        ValueError: If the width of x does not match W_1.
    """
    check_width(len(w_1), x=x)
    return np.maximum(0.0, x @ w_1 + b_1) @ w_2 + b_2


def feed_forward_backward(
    grad_output: X, x: X, w_1: W1, b_1: B1, w_2: W2
) -> tuple[X, W1, B1, W2, Vector]:
    """Return the gradients with respect to x, W_1, b_1, W_2 and b_2.

    Y = H W_2 + b_2:  dH, dW_2, db_2 by `linear_backward`
    H = max(0, Z):    dZ = dH where Z > 0, else 0 (also at Z = 0, as in PyTorch)
    Z = X W_1 + b_1:  dX, dW_1, db_1 by `linear_backward`
    """
    z = x @ w_1 + b_1  # (..., d_ff)
    grad_hidden, grad_w_2, grad_b_2 = linear_backward(grad_output, np.maximum(0.0, z), w_2)
    grad_x, grad_w_1, grad_b_1 = linear_backward(grad_hidden * (z > 0), x, w_1)
    return grad_x, grad_w_1, grad_b_1, grad_w_2, grad_b_2


def sinusoidal_positions(length: int, d_model: int) -> Float64[np.ndarray, "{length} {d_model}"]:
    """Return the sinusoidal positional encodings (length, d_model) of §3.5.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), and PE(pos, 2i+1) is the cosine of the same angle.
    If d_model is odd, the last sine has no matching cosine.
    """
    two_i = np.arange(0, d_model, 2)  # (pairs)
    angle = np.arange(length)[:, None] / 10_000 ** (two_i / d_model)  # (length, pairs)
    table = np.stack([np.sin(angle), np.cos(angle)], axis=-1)  # (length, pairs, 2)
    return table.reshape(length, 2 * len(two_i))[:, :d_model]  # (length, d_model)


@dataclass(frozen=True)
class EncoderLayerParameters:
    """The parameters of `encoder_layer`, or their gradients, in order of use."""

    attention: MultiHeadParameters
    gain_1: Vector
    bias_1: Vector
    w_1: W1
    b_1: B1
    w_2: W2
    b_2: Vector
    gain_2: Vector
    bias_2: Vector


def encoder_layer(
    x: Sentences, parameters: EncoderLayerParameters, num_heads: int, mask: Mask | None = None
) -> Sentences:
    """Apply LayerNorm(x + Sublayer(x)) for self-attention, then for the feed-forward layer (§3.1).

    The layer is post-norm, as in the paper, but has no dropout. The output has the shape of x,
    (batch, length, d_model). The mask broadcasts to (batch, heads, length, length).

    Raises:
        ValueError: If the shapes are incompatible, num_heads does not divide the width of the
            projections, or the mask is not boolean.
    """
    p = parameters
    attended, _ = multi_head_attention(x, x, x, p.attention, num_heads, mask)
    y = layer_norm(x + attended, p.gain_1, p.bias_1)
    return layer_norm(y + feed_forward(y, p.w_1, p.b_1, p.w_2, p.b_2), p.gain_2, p.bias_2)


def encoder_layer_backward(
    grad_output: Sentences,
    x: Sentences,
    parameters: EncoderLayerParameters,
    num_heads: int,
    mask: Mask | None = None,
) -> tuple[Sentences, EncoderLayerParameters]:
    """Rerun the forward pass, and return the gradients with respect to x and the parameters.

    output = LayerNorm(t), t = y + FFN(y):         dt by `layer_norm_backward`
    y reaches t in two ways, whose gradients add:  dy = dt + (dt through FFN)
    y = LayerNorm(s), s = x + Attention(x, x, x):  ds by `layer_norm_backward`
    x reaches s in four ways:                      dx = ds + (ds through query, key and value)
    """
    p = parameters
    attended, weights = multi_head_attention(x, x, x, p.attention, num_heads, mask)
    s = x + attended  # (batch, length, d_model)
    y = layer_norm(s, p.gain_1, p.bias_1)  # (batch, length, d_model)
    t = y + feed_forward(y, p.w_1, p.b_1, p.w_2, p.b_2)  # (batch, length, d_model)
    grad_t, gain_2, bias_2 = layer_norm_backward(grad_output, t, p.gain_2)
    grad_y, w_1, b_1, w_2, b_2 = feed_forward_backward(grad_t, y, p.w_1, p.b_1, p.w_2)
    grad_s, gain_1, bias_1 = layer_norm_backward(grad_t + grad_y, s, p.gain_1)
    grad_query, grad_key, grad_value, attention = multi_head_attention_backward(
        grad_s, x, x, x, p.attention, num_heads, weights
    )
    grad_x = grad_s + grad_query + grad_key + grad_value
    return grad_x, EncoderLayerParameters(
        attention, gain_1, bias_1, w_1, b_1, w_2, b_2, gain_2, bias_2
    )
