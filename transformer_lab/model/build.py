"""Build the model that a configuration describes: the paper's, or a variant from a later paper.

Loaders use it, because a file may hold either kind of model. No other file directly in `model/`
imports from `model/later/`.
"""

from transformer_lab.config import TransformerConfig
from transformer_lab.model.later.recurrence import RecurrentTransformer
from transformer_lab.model.transformer import Transformer


def model_class(config: TransformerConfig) -> type[Transformer]:
    """Return the class of the model that `build_model` builds for a configuration.

    It is `RecurrentTransformer` if `recurrent_decoder` is set, and `Transformer` otherwise.
    """
    return RecurrentTransformer if config.recurrent_decoder else Transformer


def build_model(config: TransformerConfig) -> Transformer:
    """Build a model with this configuration and freshly initialised weights."""
    return model_class(config)(config)
