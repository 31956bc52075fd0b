"""The decoder, the right half of Figure 1: layers that read the target and the memory (§3.1)."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.hooks import hook_residual
from transformer_lab.model.add_norm import AddNorm
from transformer_lab.model.attention import AttentionCore
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.grouped_attention import build_attention
from transformer_lab.model.kv_cache import LayerCache
from transformer_lab.model.positions import score_positions


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each inside Add & Norm."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        c = config
        self_core = AttentionCore(c.attention_dropout, score_positions(c))
        # Rotary and ALiBi measure distances within one sentence; between a
        # source and a target position there is none to measure.
        cross_core = AttentionCore(c.attention_dropout)
        self.self_attention = build_attention(c, self_core)
        self.cross_attention = build_attention(c, cross_core)
        self.feed_forward = FeedForward(c.d_model, c.d_ff, c.feed_forward_dropout, c.activation)
        self.add_norm_1 = AddNorm(c.d_model, c.dropout, c.norm)
        self.add_norm_2 = AddNorm(c.d_model, c.dropout, c.norm)
        self.add_norm_3 = AddNorm(c.d_model, c.dropout, c.norm)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Return the layer's output for each target position.

        `mask`, usually causal, says which target positions each position may see; `memory_mask`
        hides the padding of the source. With a `cache`, pass only the new positions of x and
        memory; they follow the cached positions and are appended to the cache.
        """
        words, known = cache or (None, None)
        # Each line is x = LayerNorm(x + Dropout(Sublayer(x))), §5.4. With pre-norm the sub-layer gets a
        # normalised x instead; y is what it gets.
        x = self.add_norm_1(x, lambda y: self.self_attention(y, y, y, mask, words))
        x = self.add_norm_2(
            x, lambda y: self.cross_attention(y, memory, memory, memory_mask, known)
        )
        return self.add_norm_3(x, self.feed_forward)


class Decoder(nn.Module):
    """A stack of N decoder layers. With pre-norm, a final LayerNorm normalises its output."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        self.final_norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        cache: Sequence[LayerCache] | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Return the decoder's output vector at each target position.

        x holds the embedded target words, and `memory` is the encoder's output. For `mask`,
        `memory_mask` and `cache` (one per layer), see `DecoderLayer.forward`.
        """
        x = hook_residual(self, x)
        for number, layer in enumerate(self.layers):
            x = hook_residual(
                layer, layer(x, memory, mask, memory_mask, cache[number] if cache else None)
            )
        return self.final_norm(x)
