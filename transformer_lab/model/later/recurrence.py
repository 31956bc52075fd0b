"""A recurrence that replaces the decoder's self-attention (not in the paper)."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.later.state_space import scan
from transformer_lab.model.transformer import Transformer


class SSRU(nn.Module):
    """The simpler simple recurrent unit (Kim et al. 2019, §3.1.1).

    f_t = σ(W_f x_t + b_f), c_t = f_t ⊙ c_{t−1} + (1 − f_t) ⊙ W x_t, h_t = ReLU(c_t), with c_0 = 0.
    All information about earlier words is held in one vector of d_model numbers, however long the
    sentence is.
    """

    def __init__(self, d_model: int):
        super().__init__()
        self.w = nn.Linear(d_model, d_model, bias=False)
        self.w_f = nn.Linear(d_model, d_model)
        for linear in (self.w, self.w_f):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.w_f.bias)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        _key: Any = None,
        _value: Any = None,
        _mask: Any = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Return the hidden states h_t of all positions, computed one position at a time.

        The arguments are the same as for self-attention, which this module replaces, but keys,
        values and mask are ignored. With a `cache`, pass only the new positions of x; they continue
        from the state in the cache.
        """
        forget = self.w_f(x).sigmoid()
        inputs = (1 - forget) * self.w(x)
        if cache is not None and cache.key is not None:
            state = cache.key.tensor[:, 0, -1]  # (batch, d_model)
            inputs = torch.cat([inputs[:, :1] + forget[:, :1] * state[:, None], inputs[:, 1:]], 1)
        states = scan(forget, inputs)
        if cache is not None:
            kept = states[:, None]  # (batch, 1, length, d_model): one head
            cache.append(kept, kept[..., :0])
        return states.relu()


class RecurrentTransformer(Transformer):
    """A `Transformer` whose decoder has an `SSRU` instead of self-attention."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        for layer in self.decoder.layers:
            layer.self_attention = SSRU(config.d_model)
