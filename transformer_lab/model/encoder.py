"""The encoder, the left half of Figure 1: layers of self-attention and feed-forward (§3.1)."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.hooks import hook_residual
from transformer_lab.model.add_norm import AddNorm
from transformer_lab.model.attention import AttentionCore
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.grouped_attention import build_attention
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.positions import score_positions


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each inside Add & Norm."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        c = config
        core = AttentionCore(c.attention_dropout, score_positions(c))
        self.self_attention = build_attention(c, core)
        self.feed_forward = FeedForward(c.d_model, c.d_ff, c.feed_forward_dropout, c.activation)
        self.add_norm_1 = AddNorm(c.d_model, c.dropout, c.norm)
        self.add_norm_2 = AddNorm(c.d_model, c.dropout, c.norm)

    def forward(
        self,
        x: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch source d_model"]:
        """Return the layer's output for each position.

        `mask` hides the padding and broadcasts to (batch, heads, source, source). With a `cache`,
        pass only the new positions of x; they follow the cached positions and are appended to the
        cache.
        """
        # Each line is x = LayerNorm(x + Dropout(Sublayer(x))), §5.4. With pre-norm the sub-layer gets a
        # normalised x instead; y is what it gets.
        x = self.add_norm_1(x, lambda y: self.self_attention(y, y, y, mask, cache))
        return self.add_norm_2(x, self.feed_forward)


class Encoder(nn.Module):
    """A stack of N encoder layers. With pre-norm, a final LayerNorm normalises its output."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.final_norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        cache: Sequence[KVCache] | None = None,
    ) -> Float[Tensor, "batch source d_model"]:
        """Return the memory that the decoder reads: one vector for each source position.

        x holds the embedded source words. For `mask` and `cache` (one per layer), see
        `EncoderLayer.forward`.
        """
        x = hook_residual(self, x)
        for number, layer in enumerate(self.layers):
            x = hook_residual(layer, layer(x, mask, cache[number] if cache else None))
        return self.final_norm(x)
