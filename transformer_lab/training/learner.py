"""A second set of modules around the same parameters, so that a model can learn while it is used.

The trainer uses it. Whether dropout is active is a flag of each module: a thread that translates puts
the model in evaluation mode, and would switch off the dropout of the thread that trains it, and the
other way round. With modules of its own, each thread has its own flag.
"""

from typing import TypeVar, cast

from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def clone_sharing_parameters(model: Model) -> Model:
    """Return new modules, in training mode, that share the model's parameters, buffers and hooks.

    A change made in place in one of the two is seen in the other. Only the mode (training or
    evaluation) is separate.
    """
    clones: dict[nn.Module, nn.Module] = {}

    def clone(module: nn.Module) -> nn.Module:
        if module not in clones:
            # Not `copy.copy`, which refuses parametrised modules.
            clones[module] = type(module).__new__(type(module))
            clones[module].__dict__ |= module.__dict__
            clones[module].__dict__["_modules"] = {
                name: None if child is None else clone(child)
                for name, child in module._modules.items()
            }
        return clones[module]

    return cast(Model, clone(model).train())
