"""Copy our weights into PyTorch's own Transformer modules, to compare the results.

Lessons 05 to 07 and tests use it.
"""

import torch
from torch import nn

from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.decoder import DecoderLayer
from transformer_lab.model.encoder import EncoderLayer


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy our four projections into PyTorch's module, which stacks W_Q, W_K and W_V."""
    parts = [ours.w_q, ours.w_k, ours.w_v]
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.w_o.state_dict())


def copy_layer(
    ours: EncoderLayer | DecoderLayer,
    theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> None:
    """Copy an encoder or decoder layer into PyTorch's, whose sub-layers have different names."""
    copy_attention(ours.self_attention, theirs.self_attn)
    if isinstance(ours, DecoderLayer) and isinstance(theirs, nn.TransformerDecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        theirs.norm3.load_state_dict(ours.add_norm_3.layer_norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.w_1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.w_2.state_dict())
    theirs.norm1.load_state_dict(ours.add_norm_1.layer_norm.state_dict())
    theirs.norm2.load_state_dict(ours.add_norm_2.layer_norm.state_dict())
