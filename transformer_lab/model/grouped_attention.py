"""Attention whose heads share keys and values, which makes the cache smaller (not in the paper)."""

from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig, check
from transformer_lab.model.attention import AttentionCore, MultiHeadAttention


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention in which several query heads share one key head and one value head.

    Each key and value head serves a group of num_heads / num_key_value_heads neighbouring query
    heads (Ainslie et al. 2023). With num_heads key and value heads this is multi-head attention,
    and with just one it is multi-query attention (Shazeer 2019).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_key_value_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        core: AttentionCore | None = None,
    ):
        super().__init__(d_model, num_heads, d_k, d_v, core)
        divides = num_key_value_heads >= 1 and num_heads % num_key_value_heads == 0
        expected = f"a divisor of num_heads={num_heads}"
        check("num_key_value_heads", num_key_value_heads, expected, divides)
        self.num_key_value_heads = num_key_value_heads
        group = num_heads // num_key_value_heads
        self.w_k = nn.Linear(d_model, self.w_k.out_features // group)
        self.w_v = nn.Linear(d_model, self.w_v.out_features // group)

    def keys_and_values(
        self,
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
    ) -> tuple[Tensor, Tensor]:
        """Return the projected keys (batch, num_key_value_heads, key, d_k) and values (…, d_v).

        `AttentionCore` repeats each of these heads for the query heads in its group.
        """
        heads = (self.num_key_value_heads, -1)
        k, v = self.w_k(key).unflatten(-1, heads), self.w_v(value).unflatten(-1, heads)
        return k.transpose(1, 2), v.transpose(1, 2)  # (batch, num_key_value_heads, key, width)


def build_attention(config: TransformerConfig, core: AttentionCore) -> MultiHeadAttention:
    """Build multi-head attention, or grouped-query attention if `num_key_value_heads` is set."""
    c = config
    if c.num_key_value_heads is None:
        return MultiHeadAttention(c.d_model, c.num_heads, c.d_k, c.d_v, core)
    sizes = (c.d_model, c.num_heads, c.num_key_value_heads, c.d_k, c.d_v)
    return GroupedQueryAttention(*sizes, core)
