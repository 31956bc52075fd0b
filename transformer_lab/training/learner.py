"""A second set of modules that share a model's parameters, for using the model during training.

The trainer uses it. In every module, a flag turns dropout on or off. With only one set of modules,
a translating thread would switch dropout off for the training thread, and the training thread would
switch it back on for the translating thread. With two sets, each thread has its own flags.
"""

from typing import TypeVar, cast

from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def clone_sharing_parameters(model: Model) -> Model:
    """Return new modules, in training mode, that share the model's parameters, buffers and hooks.

    A change made in place to either model shows up in the other. Only the mode (training or
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
