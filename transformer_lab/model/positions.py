"""Five ways to tell a model the order of its words, each in a small class (§3.5).

Two of them are *added* to the embeddings: `SinusoidalPositions` and
`LearnedPositions`. Two act on the *scores* of self-attention:
`RotaryPositions` rotates queries and keys, and `AlibiPositions` adds a bias.
`NoPositions` adds nothing.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig, check


def sinusoids(
    length: int, d_model: int, start: int = 0, device: torch.device | str | None = None
) -> Float[Tensor, "length d_model"]:
    """Return PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1) = cos(…) (§3.5).

    The first row belongs to position `start`. Angles are computed in float64, so the values follow
    the paper's formula even at large positions.
    """
    position = torch.arange(start, start + length, dtype=torch.float64)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position[:, None] * 10_000 ** (-even / d_model)  # (length, pairs)
    table = torch.stack([angle.sin(), angle.cos()], dim=-1)  # (length, pairs, 2)
    return table.flatten(1)[:, :d_model].float().to(device)


KEPT = 16_384
"""The maximum number of table rows to store, even if a model allows much longer sentences."""


class SinusoidTable(nn.Module):
    """A table of `sinusoids` that stores its first min(max_length, KEPT) rows.

    Rows for later positions are computed each time they are needed.
    """

    table: Tensor

    def __init__(self, width: int, max_length: int):
        super().__init__()
        kept = sinusoids(min(max_length, KEPT), width)
        self.register_buffer("table", kept, persistent=False)

    def forward(self, start: int, length: int) -> Float[Tensor, "length width"]:
        """Return the rows of positions `start` to `start` + length - 1."""
        if start + length > len(self.table):
            return sinusoids(length, self.table.size(1), start).to(self.table)
        return self.table[start : start + length]


class SinusoidalPositions(nn.Module):
    """Position encoding that adds `sinusoids` to the embeddings (§3.5); it has no parameters.

    Sentences may have any length, because rows beyond `max_length` are computed when needed.
    """

    def __init__(self, d_model: int, max_length: int = 512):
        super().__init__()
        self.table = SinusoidTable(d_model, max_length)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], start: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Return x plus the rows of positions `start` to `start` + length - 1."""
        return x + self.table(start, x.size(-2))


class LearnedPositions(nn.Module):
    """Position encoding that adds a learned vector for each position (Table 3, row E).

    No sentence may be longer than `max_length`.
    """

    def __init__(self, d_model: int, max_length: int):
        super().__init__()
        self.table = nn.Embedding(max_length, d_model)

    @property
    def longest(self) -> int:
        """The number of rows in the table, which is the maximum sentence length."""
        return self.table.num_embeddings

    def forward(
        self, x: Float[Tensor, "batch length d_model"], start: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Return x plus the vectors of positions `start` to `start` + length - 1.

        Raises:
            ValueError: If a position lies beyond the end of the table.
        """
        last, limit = start + x.size(-2), self.longest
        check("length", last, f"at most max_length={limit} for learned positions", last <= limit)
        return x + self.table.weight[start:last]


class NoPositions(nn.Module):
    """Position encoding that adds nothing.

    Without positions, the model sees an unordered bag of words, except where a causal mask reveals
    their order.
    """

    def forward(
        self, x: Float[Tensor, "batch length d_model"], start: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Return x unchanged."""
        return x


class RotaryPositions(nn.Module):
    """Rotary position encoding (Su et al. 2021), applied to queries and keys before their product.

    Each pair of features is rotated by an angle that grows with the position. The product of a
    query and a key therefore depends on the distance between them, but not on where they are in the
    sentence. The frequencies are those of §3.5.
    """

    def __init__(self, d_k: int, max_length: int = 512):
        super().__init__()
        self.table = SinusoidTable(d_k, max_length)

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch shared key d_k"],
    ) -> tuple[Tensor, Tensor, None]:
        """Return the rotated queries and keys, and None for the bias.

        The keys are at positions 0, 1, 2 and so on; the queries are at the last positions.
        """
        start = key.size(-2) - query.size(-2)
        return self.turn(query, start), self.turn(key, 0), None

    def turn(self, x: Float[Tensor, "batch heads length d_k"], start: int) -> Tensor:
        """Rotate feature pair i at position p by the angle p · 10000^(-2i/d_k).

        The first vector of x is at position `start`.
        """
        table = self.table(start, x.size(-2))
        sin, cos = table[:, 0::2], table[:, 1::2]  # (length, pairs)
        even, odd = x[..., 0::2], x[..., 1::2]  # (batch, heads, length, pairs)
        turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
        return turned.flatten(-2).to(x.dtype)  # (batch, heads, length, d_k)


class AlibiPositions(nn.Module):
    """ALiBi (Press et al. 2022): a bias that lowers each score in proportion to the distance.

    Of h heads, head n (counted from 1) has the slope 2^(-8n/h). In the encoder, the
    bias applies in both directions.
    """

    slopes: Tensor

    def __init__(self, num_heads: int):
        super().__init__()
        slopes = [2 ** (-8 * n / num_heads) for n in range(1, num_heads + 1)]
        self.register_buffer("slopes", torch.tensor(slopes), persistent=False)

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch shared key d_k"],
    ) -> tuple[Tensor, Tensor, Float[Tensor, "heads query key"]]:
        """Return query and key unchanged, and the bias −slope · distance for their scores."""
        keys = torch.arange(key.size(-2), device=key.device)
        queries = keys[key.size(-2) - query.size(-2) :]
        distance = (queries[:, None] - keys[None, :]).abs()
        return query, key, -self.slopes[:, None, None] * distance


def added_positions(config: TransformerConfig) -> nn.Module:
    """Build the module that adds positions to the embeddings of the source or the target.

    This is `NoPositions` if the configuration has no positions, or has positions that act on scores
    (see `score_positions`).
    """
    kind = config.positions
    if kind == "sinusoidal":
        return SinusoidalPositions(config.d_model, config.max_length)
    if kind == "learned":
        return LearnedPositions(config.d_model, config.max_length)
    if kind == "none" or score_positions(config) is not None:
        return NoPositions()
    raise NotImplementedError(
        f"positions={kind!r} is listed in config.Positions, but no module implements it"
    )


def score_positions(config: TransformerConfig) -> nn.Module | None:
    """Build the module for positions that act on scores (rotary, ALiBi); return None for others."""
    if config.positions == "rotary":
        return RotaryPositions(config.key_size, config.max_length)
    if config.positions == "alibi":
        return AlibiPositions(config.num_heads)
    return None


def longest(model: nn.Module) -> float | int:
    """Return the maximum number of words in a sentence, or infinity if there is no limit.

    It is the smallest `longest` attribute of any module; only `LearnedPositions` has one.
    """
    return min(getattr(part, "longest", math.inf) for part in model.modules())
