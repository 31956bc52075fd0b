"""Checks for the exercise of lesson 09 on one training step."""

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.training.step import training_step as package_step


class _Quadratic(nn.Module):
    """A quadratic loss with its minimum at 1, scaled by the batch.

    It has one or more groups of parameters. A group is given as a list of parameters, and each
    parameter as a list of its initial values.
    """

    def __init__(self, *groups: list[list[float]]):
        super().__init__()
        self.groups = nn.ModuleList(
            nn.ParameterList(torch.tensor(start, dtype=torch.float64) for start in group)
            for group in groups
        )

    def forward(self, batch: Tensor) -> Tensor:
        return (batch * (torch.cat(list(self.parameters())) - 1)).square().mean()


def _make_optimizer(loss_of: _Quadratic) -> torch.optim.Optimizer:
    # With momentum, a step is more than rate times gradient, so only optimizer.step() can take it.
    groups = [{"params": list(group)} for group in loss_of.groups]
    return torch.optim.SGD(groups, lr=0.3, momentum=0.5)


def _run_steps(
    answer: Callable[..., Any], loss_of: _Quadratic, batches: Tensor, rates: Sequence[float]
) -> Any:
    """Run all steps with one optimizer; return the losses, gradient norms and final weights."""
    optimizer = _make_optimizer(loss_of)
    done = []
    for batch, rate in zip(batches, rates, strict=True):
        result = answer(loss_of, optimizer, batch, rate)
        if not (isinstance(result, tuple | list) and len(result) == 2):
            said = describe_kind(result)
            raise UnusableError(
                f"your answer returns {said}, but should return two values: the loss and the norm"
            )
        # A Python float is as good as a tensor, and must not be rounded to float32.
        done.append([float(p.detach()) if isinstance(p, Tensor) else p for p in result])
    losses, norms = torch.tensor(done, dtype=torch.float64).T
    return losses, norms, torch.cat([p.detach() for p in loss_of.parameters()])


def _take_step(
    loss_of: nn.Module, optimizer: torch.optim.Optimizer, batch: Tensor, rate: float
) -> tuple[Tensor, Tensor]:
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss = loss_of(batch)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
    return loss.detach(), norm


def _work_out_steps(
    loss_of: _Quadratic, batches: Tensor, rates: Sequence[float], at: tuple
) -> Iterator[Step]:
    model, rows = copy.deepcopy(loss_of), []
    optimizer, weights = _make_optimizer(model), [*model.parameters()]
    for batch, rate in zip(batches, rates, strict=True):
        gradient = torch.cat(torch.autograd.grad(model(batch), weights))
        rows.append((gradient, *_take_step(model, optimizer, batch, rate)))
    gradients, losses, norms = map(torch.stack, zip(*rows, strict=True))
    yield "the loss before each step", losses
    yield "the gradient of all weights, one row for each step", gradients
    yield "the norm of each row, the square root of the sum of its squared numbers", norms
    yield (
        "the gradients after clipping, each divided by its norm if that is above 1",
        gradients / norms[:, None].clamp(1),
    )
    yield "the rate of each step", rates
    yield (
        "the weights after the last step (the optimizer has momentum)",
        torch.cat([w.detach() for w in weights]),
    )


_edit_step = partial(edit_reference, _take_step)
_EVERY_RATE = '    for group in optimizer.param_groups:\n        group["lr"] = rate\n'
_ALL_WEIGHTS = '[p for group in optimizer.param_groups for p in group["params"]]'


def _random_steps(chance: RandomValues) -> tuple:
    steps, count = chance.sizes(2)
    start = chance.numbers(count, scale=chance.one_of(1.0, 3.0)).tolist()
    first = chance.between(1, count)  # the first group's size; the rest form a second
    groups = [[start[:first]], [[number] for number in start[first:]]]
    return (
        _Quadratic(*(group for group in groups if group)),
        chance.tensor(steps, count),
        [chance.real(0.05, 0.5) for _ in range(steps)],
    )


training_step = Check(
    reference=package_step,
    run=_run_steps,
    cases=lambda: [
        (_Quadratic([[1.3, 0.9]]), torch.tensor([[1.0, 2.0]]), [0.1]),
        (_Quadratic([[1.2]], [[0.9, 1.1]]), torch.tensor([[1.0, 2.0, 0.5]] * 2), [0.05, 0.2]),
        (
            _Quadratic([[3.0, -2.0], [0.5]], [[7.0]], [[1.5]]),
            torch.tensor([[1.0, 2.0, 0.5, 0.1, 0.2], [3.0, 0.2, 0.5, 0.1, 2.0]] * 2),
            [0.5, 0.25, 0.125, 0.5],
        ),
    ],
    drawn=_random_steps,
    arguments=("loss_of", "the batches", "the rates"),
    results=("the losses", "the gradient norms", "the weights"),
    working=_work_out_steps,
    verified="losses, gradient norms and weights after one, two and four steps",
    mistakes=[
        Mistake(
            _edit_step(("    optimizer.zero_grad()\n", "")),
            "the gradients of earlier steps are still there, because `backward` adds to them. "
            "Zero them before you call `backward`.",
        ),
        Mistake(
            _edit_step(
                ("    optimizer.zero_grad()\n", ""),
                ("    loss.backward()\n", "    loss.backward()\n    optimizer.zero_grad()\n"),
            ),
            "no gradient is left to clip. Either you do not call `backward`, or you call "
            "`zero_grad` after `backward`, which throws the new gradients away. Call `zero_grad` "
            "first, and then `backward`.",
        ),
        Mistake(
            _edit_step(("    optimizer.step()\n", "")),
            "the weights do not change. Call `optimizer.step()` after `backward`, and before "
            "`zero_grad` clears the gradients.",
        ),
        Mistake(
            _edit_step((" = rate\n", ' = group["lr"]\n')),
            "the optimizer still uses its old rate. Set `lr` to `rate` in each of its parameter "
            "groups.",
        ),
        Mistake(
            _edit_step(
                ('        group["lr"] = rate\n', "        pass\n"),
                (
                    "    return",
                    "    for group in optimizer.param_groups:\n        group['lr'] = rate\n    return",
                ),
            ),
            "the rate is set after the step, so each step uses the previous step's rate.",
        ),
        Mistake(
            _edit_step(
                ("1.0", "torch.inf"),
                (
                    "    optimizer.step",
                    "    for p in weights:\n        p.grad /= norm\n    optimizer.step",
                ),
            ),
            "you scale every gradient to norm 1, even if its norm is below 1. Scale down only "
            "gradients whose norm is above 1.",
        ),
        Mistake(
            _edit_step(("1.0", "torch.inf")),
            "you do not clip long gradients. If the norm is above 1, scale the gradient down to "
            "norm 1.",
        ),
        Mistake(
            _edit_step(
                (
                    "nn.utils.clip_grad_norm_(weights, 1.0)",
                    "nn.utils.get_total_norm([p.grad for p in weights])\n"
                    "    nn.utils.clip_grad_value_(weights, 1.0)",
                )
            ),
            "you clip each number separately, which changes the gradient's direction. Clip the "
            "gradient's norm instead.",
        ),
        Mistake(
            _edit_step(
                (
                    "    optimizer.step",
                    "    norm = nn.utils.get_total_norm([p.grad for p in weights])\n"
                    "    optimizer.step",
                )
            ),
            "you return the norm of the clipped gradient, which is never above 1 and so cannot "
            "warn you of anything. Return the norm that the gradient had before you clipped it.",
        ),
        Mistake(
            _edit_step((_EVERY_RATE, '    optimizer.param_groups[0]["lr"] = rate\n')),
            "you set the rate only for the first group of weights, but an optimizer may have "
            "several groups.",
        ),
        Mistake(
            _edit_step((_ALL_WEIGHTS, 'optimizer.param_groups[0]["params"]')),
            "you clip only the first group's gradients. Clip the gradients of all groups together.",
        ),
        Mistake(
            _edit_step(
                (_EVERY_RATE, '    optimizer.param_groups[0]["lr"] = rate\n'),
                (_ALL_WEIGHTS, 'optimizer.param_groups[0]["params"]'),
            ),
            "you set the rate and clip the gradients only for the first group of weights, but an "
            "optimizer may have several groups.",
        ),
        Mistake(
            _edit_step(
                (
                    "    norm = nn.utils.clip_grad_norm_(weights, 1.0)\n",
                    "    for group in optimizer.param_groups:\n"
                    '        norm = nn.utils.clip_grad_norm_(group["params"], 1.0)\n',
                )
            ),
            "you clip each group of weights separately, which changes the gradient's direction. "
            "Clip all groups together, by their common norm.",
        ),
        Mistake(
            _edit_step(
                (
                    "    optimizer.step",
                    "    norm = nn.utils.get_total_norm([p.grad for p in weights])\n"
                    "    for group in optimizer.param_groups:\n"
                    '        nn.utils.clip_grad_norm_(group["params"], 1.0)\n'
                    "    optimizer.step",
                ),
                ("    norm = nn.utils.clip_grad_norm_(weights, 1.0)\n", ""),
            ),
            "you return the right norm, but you clip each group by its own norm. Scale all groups "
            "by the same factor.",
        ),
        Mistake(
            _edit_step(("loss.detach()", "loss_of(batch).detach()")),
            "you compute the loss again after the step. Return the loss that you computed before "
            "the step.",
        ),
    ],
)
