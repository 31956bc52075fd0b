"""A second set of modules that share a model's parameters, to use the model while it is trained.

The trainer uses it. Every module has a flag that turns dropout on. With only one set of modules, a
thread that translates would switch dropout off for the thread that trains, and the training thread
would switch it back on for the translating thread. With two sets of modules, each thread has its
own flag.
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
