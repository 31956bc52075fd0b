"""Checks for the exercise of lesson 09b on the gradient norm of each part of a model."""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


class _Parts(nn.Module):
    """A model of three parts of different sizes; the third may be unused.

    If `odd` is set, the model has a fourth part without parameters, and the bias of the first part
    gets no gradient.
    """

    def __init__(self, seed: int, unused: bool, odd: bool = False):
        super().__init__()
        with torch.random.fork_rng([]):
            torch.manual_seed(seed)
            self.first = nn.Linear(3, 5).double()
            if odd:
                self.bend = nn.Tanh()
            self.second = nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 2)).double()
            self.third = nn.Linear(2, 2).double()
        self.unused, self.odd = unused, odd
        self.first.bias.requires_grad_(not odd)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        y = self.second(self.bend(x) if self.odd else x)
        return (y if self.unused else self.third(y)).square().sum()


def _measure_parts(model: nn.Module, norm: Callable[[list[Tensor]], Any]) -> dict[str, Any]:
    children = model.named_children()
    return {
        name: norm([p.grad for p in child.parameters() if p.grad is not None])
        for name, child in children
    }


def compute_norm(grads: list[Tensor]) -> float:
    """Compute the L2 norm of all gradients together, as if they were one vector."""
    return math.sqrt(sum(float(g.square().sum()) for g in grads))


def _run_and_order(answer: Callable[[nn.Module], Any], model: nn.Module, x: Tensor) -> Any:
    """Run a backward pass, then call the answer; return the norm of each part, in order.

    The norm is NaN for a part that the answer omits.
    """
    model(x).backward()
    before = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    norms = answer(model)
    after = [p.grad for p in model.parameters()]
    for a, b in zip(before, after, strict=True):
        if a is not None and (b is None or not torch.equal(a, b)):
            raise UnusableError(
                "the gradients have changed, but measuring them should not change them"
            )
    if norms is None:
        return None
    if not isinstance(norms, dict):
        raise UnusableError(
            f"your answer returns {describe_kind(norms)}, but should return a dict that maps "
            "names to numbers"
        )
    names = [name for name, _ in model.named_children()]
    unknown = sorted(set(norms) - set(names))
    if unknown:
        raise UnusableError(
            f"the dictionary has the keys {unknown}, but its keys should be {names}"
        )
    values = [torch.as_tensor(norms.get(name, math.nan)).detach().item() for name in names]
    return torch.tensor(values, dtype=torch.float64)


def _work_out_norm(model: nn.Module, x: Tensor, at: tuple) -> Iterator[Step]:
    copied = copy.deepcopy(model)
    copied(x).backward()
    name, child = [*copied.named_children()][at[0]]
    having = {key: p.grad for key, p in child.named_parameters() if p.grad is not None}
    squares = [float(gradient.square().sum()) for gradient in having.values()]
    yield f"the parameters of {name} that have a gradient", ", ".join(having) or "none"
    yield "each gradient's numbers, squared and summed", squares
    yield "the sum of these", sum(squares)
    yield f"the square root of that, the norm of {name}", math.sqrt(sum(squares))


def _random_parts(chance: RandomValues) -> tuple:
    unused, odd = chance.one_of(True, False), chance.one_of(True, True, False)
    model = _Parts(chance.between(3, 99), unused, odd)
    return model, chance.tensor(*chance.sizes(1), 3)


gradient_norms = Check(
    reference=lambda model: _measure_parts(model, compute_norm),
    run=_run_and_order,
    cases=lambda: [
        (_Parts(0, unused=False), torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)),
        (_Parts(1, unused=False), torch.ones(11, 3, dtype=torch.float64)),
        (_Parts(2, unused=True), torch.ones(5, 3, dtype=torch.float64)),
        (_Parts(3, unused=False, odd=True), torch.ones(2, 3, dtype=torch.float64)),
    ],
    drawn=_random_parts,
    arguments=("model", "x"),
    results=("the norms",),
    working=_work_out_norm,
    verified="one norm for each part, over all its parameters, and 0 for a part without gradients",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            lambda model: _measure_parts(model, lambda gs: sum(float(g.norm()) for g in gs)),
            "you add up the norms of a part's gradients. Add up the squares of these norms "
            "instead, and take the square root of the sum.",
        ),
        Mistake(
            lambda model: _measure_parts(model, lambda gs: compute_norm(gs) ** 2),
            "the square root is missing: this is the square of the norm.",
        ),
        Mistake(
            lambda model: {
                name: compute_norm([p.detach() for p in child.parameters()])
                for name, child in model.named_children()
            },
            "this is the norm of the weights. Use each weight's gradient, `p.grad`, instead.",
        ),
        Mistake(
            lambda model: _measure_parts(
                model, lambda gs: max((float(g.abs().max()) for g in gs), default=0.0)
            ),
            "this is the largest absolute value in the gradient, but it should be the gradient's "
            "norm.",
        ),
        Mistake(
            lambda model: {
                name: norm for name, norm in _measure_parts(model, compute_norm).items() if norm
            },
            "you leave out parts without a gradient. Include them with a norm of 0, which shows "
            "that they do not learn.",
        ),
        Mistake(
            lambda model: {
                name: compute_norm([p.grad for p in child.parameters() if p.grad is not None])
                for name, child in model.named_children()
                if list(child.parameters())
            },
            "you leave out parts without parameters, but their norm should be 0.",
        ),
        Mistake(
            lambda model: {
                name: 0.0
                if any(p.grad is None for p in child.parameters())
                else compute_norm([p.grad for p in child.parameters()])
                for name, child in model.named_children()
            },
            "you give a part a norm of 0 as soon as one of its parameters has no gradient. That "
            "parameter should only add 0 to the sum.",
        ),
        Mistake(
            lambda model: _measure_parts(model, lambda gs: float(gs[-1].norm()) if gs else 0.0),
            "you use only the gradient of each part's last parameter. The gradients of all its "
            "parameters should count.",
        ),
        Mistake(
            lambda model: _measure_parts(
                model,
                lambda gs: compute_norm(gs) / math.sqrt(max(1, sum(g.numel() for g in gs))),
            ),
            "this is the root mean square. For the norm, take the sum of the squares, not their "
            "mean.",
        ),
    ],
)
