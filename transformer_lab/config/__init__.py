"""Configurations of models and training runs, under the paper's names, and checks of arguments.

Other modules import them from here.
"""

from transformer_lab.config.checks import (
    MOST_SEED,
    check,
    check_boolean,
    check_choice,
    check_count,
    check_dict,
    check_mask,
    check_positive_integer,
    check_seed,
    describe_count,
    describe_type,
    is_integer,
    is_number,
    join_with_and,
    join_with_or,
)
from transformer_lab.config.training import Decay, Precision, TrainingConfig
from transformer_lab.config.transformer import (
    EXTRA_TOKENS,
    MOST_LAYERS,
    MOST_PARAMETERS,
    Activation,
    Norm,
    Positions,
    TransformerConfig,
)

__all__ = [
    "EXTRA_TOKENS",
    "MOST_LAYERS",
    "MOST_PARAMETERS",
    "MOST_SEED",
    "Activation",
    "Decay",
    "Norm",
    "Positions",
    "Precision",
    "TrainingConfig",
    "TransformerConfig",
    "check",
    "check_boolean",
    "check_choice",
    "check_count",
    "check_dict",
    "check_mask",
    "check_positive_integer",
    "check_seed",
    "describe_count",
    "describe_type",
    "is_integer",
    "is_number",
    "join_with_and",
    "join_with_or",
]
