"""A model that learns while others read it: the same parameters, in a mode of its own.

Whether dropout is drawn is a flag of each module, so whoever puts a model in evaluation mode, to
translate, would switch dropout off under the thread that trains it, and the other way round. The trainer
therefore trains a second set of modules around the same parameters.
"""

from typing import TypeVar, cast

from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def learner_of(model: Model) -> Model:
    """The same parameters, buffers and hooks in modules of their own, in training mode.

    What is changed in place in one is changed in the other; only the mode is each one's own.
    """
    made: dict[nn.Module, nn.Module] = {}

    def twin(module: nn.Module) -> nn.Module:
        if module not in made:
            # Not `copy.copy`, which refuses parametrised modules.
            made[module] = type(module).__new__(type(module))
            made[module].__dict__ |= module.__dict__
            made[module].__dict__["_modules"] = {
                name: None if child is None else twin(child)
                for name, child in module._modules.items()
            }
        return made[module]

    return cast(Model, twin(model).train())
