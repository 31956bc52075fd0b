"""Lesson 09, training: the checks of its exercises, and its quiz."""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_07 import forward_cases
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.model import Transformer
from transformer_lab.model.masks import padding_mask
from transformer_lab.training.loss import label_smoothed_loss
from transformer_lab.training.step import training_step as package_step

# ---------------------------------------------------------------- one step


class _Bowl(nn.Module):
    """A loss that is a bowl, with its lowest point away from 0; a batch stretches it."""

    def __init__(self, *start: float):
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(start, dtype=torch.float64))

    def forward(self, batch: Tensor) -> Tensor:
        return (batch * (self.weights - 1)).square().mean()


Step = Callable[..., Any]


def _steps(answer: Step, loss_of: nn.Module, batches: Tensor, rates: Sequence[float]) -> Any:
    """All steps with one optimizer; the losses, the norms, and the weights at the end."""
    # With momentum a step is more than rate times gradient: only optimizer.step() knows it.
    optimizer = torch.optim.SGD(loss_of.parameters(), lr=0.3, momentum=0.5)
    done = []
    for batch, rate in zip(batches, rates, strict=True):
        result = answer(loss_of, optimizer, batch, rate)
        if not (isinstance(result, tuple | list) and len(result) == 2):
            raise ValueError("a step should return two things, the loss and the norm")
        # A Python float is as right as a tensor, and must not be rounded to float32.
        done.append([float(p.detach()) if isinstance(p, Tensor) else p for p in result])
    losses, norms = torch.tensor(done, dtype=torch.float64).T
    (weights,) = (p.detach().clone() for p in loss_of.parameters())
    return losses, norms, weights


def _variant(
    *,
    zero: str = "before",
    set_rate: str = "before the step",
    clip: str = "before the step",
    loss_after: bool = False,
    norm_after: bool = False,
    step: str = "last",
) -> Step:
    """The step with each part that can be forgotten or misplaced as a switch."""

    def answer(
        loss_of: nn.Module, optimizer: torch.optim.Optimizer, batch: Tensor, rate: float
    ) -> tuple[Tensor, Tensor]:
        weights = [p for group in optimizer.param_groups for p in group["params"]]
        if set_rate == "before the step":
            for group in optimizer.param_groups:
                group["lr"] = rate
        loss = loss_of(batch)
        if zero == "before":
            optimizer.zero_grad()
        loss.backward()
        if clip == "by value":
            norm = nn.utils.get_total_norm([p.grad for p in weights])
            nn.utils.clip_grad_value_(weights, 1.0)
        else:
            norm = nn.utils.clip_grad_norm_(weights, math.inf if clip != "before the step" else 1.0)
        if norm_after:
            norm = nn.utils.get_total_norm([p.grad for p in weights])
        if zero == "after backward":
            optimizer.zero_grad()
        if clip == "always":
            for p in weights:
                p.grad = None if p.grad is None else p.grad / norm
        if step == "last":
            optimizer.step()
        if set_rate == "after the step":
            for group in optimizer.param_groups:
                group["lr"] = rate
        return (loss_of(batch) if loss_after else loss).detach(), norm

    return answer


training_step = Check(
    reference=package_step,
    run=_steps,
    cases=lambda: [
        (_Bowl(1.1, 0.8), torch.tensor([[0.5, 0.25]]), [0.1]),
        (_Bowl(1.2, 0.9, 1.1), torch.tensor([[1.0, 2.0, 0.5]] * 2), [0.05, 0.2]),
        (
            _Bowl(3.0, -2.0, 0.5, 7.0, 1.5),
            torch.tensor([[1.0, 2.0, 0.5, 0.1, 0.2], [3.0, 0.2, 0.5, 0.1, 2.0]] * 2),
            [0.5, 0.25, 0.125, 0.5],
        ),
    ],
    arguments=("loss_of", "the batches", "the rates"),
    results=("the losses", "the gradient norms", "the weights"),
    verified="losses, gradient norms and weights after one, two and four steps",
    mistakes=[
        Mistake(
            _variant(zero="never"),
            "gradients of earlier steps are still there: `backward` adds to what it finds. Empty "
            "them before it.",
        ),
        Mistake(
            _variant(step="never"),
            "the weights do not move: is there an `optimizer.step()`, and is the gradient there when "
            "it runs, after `backward` and before `zero_grad`?",
        ),
        Mistake(_variant(set_rate="never"), "the optimizer keeps its own rate; give it `rate`."),
        Mistake(
            _variant(set_rate="after the step"),
            "the rate is set after the step: each step takes the rate of the one before.",
        ),
        Mistake(
            _variant(clip="always"),
            "every gradient is scaled to length 1, short ones too; only those longer than 1 should.",
        ),
        Mistake(
            _variant(clip="never"),
            "a long gradient is not clipped: with a norm above 1 it is scaled down to 1.",
        ),
        Mistake(
            _variant(clip="by value"),
            "each number is clipped by itself, which turns the gradient; clip its norm.",
        ),
        Mistake(
            _variant(norm_after=True),
            "the norm is that of the clipped gradient: it can never be above 1 and so warns of "
            "nothing. Return the one from before.",
        ),
        Mistake(
            _variant(loss_after=True),
            "the loss is computed anew after the step; the one from before costs nothing.",
        ),
    ],
)

# ---------------------------------------------------------------- what a loss means


def _entropy(counts: Tensor) -> Tensor:
    p = counts[counts > 0] / counts.sum()
    return -(p * p.log()).sum()


unigram_loss = Check(
    reference=_entropy,
    cases=lambda: [
        (torch.tensor([3.0, 3.0], dtype=torch.float64),),
        (torch.tensor([6.0, 1.0, 3.0], dtype=torch.float64),),
        (torch.tensor([7.0, 0.0, 2.0, 11.0, 0.0], dtype=torch.float64),),
    ],
    arguments=("counts",),
    results=("the loss",),
    verified="the entropy of the frequencies in nats; a word that never occurs adds nothing",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            lambda counts: _entropy(counts) / math.log(2),
            "this is in bits; nats have the natural logarithm.",
        ),
        Mistake(lambda counts: -_entropy(counts), "the sign: a loss is not below 0."),
        Mistake(
            lambda counts: -(counts / counts.sum() * (counts / counts.sum()).log()).sum(),
            "0 · log 0 is NaN in PyTorch; a word that never occurs should add nothing.",
        ),
        Mistake(
            lambda counts: torch.tensor(math.log(len(counts)), dtype=torch.float64),
            "this is the loss of equal probabilities for all words; here they are the frequencies.",
        ),
        Mistake(
            lambda counts: _entropy(counts) / (counts > 0).sum(),
            "the mean over the words of the vocabulary; weigh each word by how often it occurs.",
        ),
        Mistake(
            lambda counts: -(counts[counts > 0] / counts.sum()).log().mean(),
            "every word counts alike here; weigh each by its frequency.",
        ),
        Mistake(
            lambda counts: _entropy(counts) * counts.sum(),
            "this is the sum over the text; the loss is that of one token.",
        ),
        Mistake(lambda counts: _entropy(counts).exp(), "this is the perplexity, e to the loss."),
    ],
)


class _Parts(nn.Module):
    """Three parts of different sizes; one of them the loss does not depend on."""

    def __init__(self, seed: int, unused: bool):
        super().__init__()
        with torch.random.fork_rng([]):
            torch.manual_seed(seed)
            self.first = nn.Linear(3, 5).double()
            self.second = nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 2)).double()
            self.third = nn.Linear(2, 2).double()
        self.unused = unused

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(self.first(x))
        return (y if self.unused else self.third(y)).square().sum()


def _norms(model: nn.Module, norm: Callable[[list[Tensor]], Any]) -> dict[str, Any]:
    children = model.named_children()
    return {
        name: norm([p.grad for p in child.parameters() if p.grad is not None])
        for name, child in children
    }


def _root_of_squares(grads: list[Tensor]) -> float:
    return math.sqrt(sum(float(g.square().sum()) for g in grads))


def _named_in_order(answer: Callable[[nn.Module], Any], model: nn.Module, x: Tensor) -> Any:
    """The norms in the order of the children, after a backward pass; a child left out is NaN."""
    model(x).backward()
    before = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    norms = answer(model)
    after = [p.grad for p in model.parameters()]
    for a, b in zip(before, after, strict=True):
        if a is not None and (b is None or not torch.equal(a, b)):
            raise ValueError("the gradients are no longer what they were; reading must not change")
    if not isinstance(norms, dict):
        return norms
    names = [name for name, _ in model.named_children()]
    unknown = sorted(set(norms) - set(names))
    if unknown:
        raise ValueError(f"the dictionary has the keys {unknown}; expected {names}")
    values = [torch.as_tensor(norms.get(name, math.nan)).detach().item() for name in names]
    return torch.tensor(values, dtype=torch.float64)


gradient_norms = Check(
    reference=lambda model: _norms(model, _root_of_squares),
    run=_named_in_order,
    cases=lambda: [
        (_Parts(0, unused=False), torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)),
        (_Parts(1, unused=False), torch.ones(11, 3, dtype=torch.float64)),
        (_Parts(2, unused=True), torch.ones(5, 3, dtype=torch.float64)),
    ],
    arguments=("model", "x"),
    results=("the norms",),
    verified="one length for each part, over all its parameters; 0 where no gradient came",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            lambda model: _norms(model, lambda gs: sum(float(g.norm()) for g in gs)),
            "the norms of a part's parameters are added; take the root of the sum of all squares.",
        ),
        Mistake(
            lambda model: _norms(model, lambda gs: _root_of_squares(gs) ** 2),
            "the root is missing: this is the square of the norm.",
        ),
        Mistake(
            lambda model: {
                name: _root_of_squares([p.detach() for p in child.parameters()])
                for name, child in model.named_children()
            },
            "this is the length of the weights; take `p.grad`.",
        ),
        Mistake(
            lambda model: _norms(
                model, lambda gs: max((float(g.abs().max()) for g in gs), default=0.0)
            ),
            "this is the largest number of the gradient, not its length.",
        ),
        Mistake(
            lambda model: {
                name: norm for name, norm in _norms(model, _root_of_squares).items() if norm
            },
            "a part without a gradient is left out: its 0 is what one wants to see.",
        ),
        Mistake(
            lambda model: _norms(model, lambda gs: float(gs[-1].norm()) if gs else 0.0),
            "only the last parameter of each part counts: the others are overwritten.",
        ),
        Mistake(
            lambda model: _norms(
                model,
                lambda gs: _root_of_squares(gs) / math.sqrt(max(1, sum(g.numel() for g in gs))),
            ),
            "divided by the number of parameters: this is the root mean square, not the length.",
        ),
    ],
)

# ---------------------------------------------------------------- three patients


def _loss_cases() -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    logits = [
        4 * torch.randn(*shape, dtype=torch.float64, generator=generator)
        for shape in ((1, 1, 3), (2, 3, 5), (3, 5, 7))
    ]
    targets = [[[2]], [[1, 4, 2], [3, 0, 0]], [[6, 5, 4, 3, 2], [1, 2, 0, 0, 0], [3, 2, 2, 1, 0]]]
    return [(x, torch.tensor(y)) for x, y in zip(logits, targets, strict=True)]


mend_loss = Check(
    reference=lambda logits, target: label_smoothed_loss(logits.double(), target, 0.1),
    cases=_loss_cases,
    arguments=("logits", "target"),
    results=("the loss",),
    verified="logits go into the loss as they are, and padding does not count",
    tolerance=1e-5,  # the package's loss computes in single precision
    mistakes=[
        Mistake(
            lambda logits, target: label_smoothed_loss(logits.softmax(dim=-1), target, 0.1),
            "the patient is not cured: the loss would still stop at 5.55. What does the loss do first "
            "with what it is given?",
        ),
        Mistake(
            lambda logits, target: label_smoothed_loss(logits.sigmoid(), target, 0.1),
            "sigmoid squeezes the logits into 0 to 1, as softmax did: the loss wants logits.",
        ),
        Mistake(
            lambda logits, target: label_smoothed_loss(logits, target, 0.0),
            "the smoothing is gone; keep ε = 0.1.",
        ),
        Mistake(
            lambda logits, target: label_smoothed_loss(logits, target, 0.1, pad_id=-1),
            "padding (id 0) is counted now; before it was not.",
        ),
        Mistake(
            lambda logits, target: (
                label_smoothed_loss(logits, target, 0.1) * (target != 0).sum() / target.numel()
            ),
            "the sum is divided by all places, padding included.",
        ),
        Mistake(
            lambda logits, target: F.nll_loss(
                logits.softmax(-1).flatten(0, 1), target.flatten(), ignore_index=0
            ),
            "this is minus the probability itself; the loss is minus its logarithm.",
        ),
    ],
)


def _forward(
    model: Transformer,
    source: Tensor,
    read: Tensor,
    *,
    cut: bool = False,
    cut_embedding: bool = False,
    mask: bool = True,
    memory_mask: bool = True,
    detached_logits: bool = False,
    cut_decoder: bool = False,
) -> Tensor:
    words = padding_mask(source, model.config.pad_id)
    seen = words if mask else torch.ones_like(words)
    memory = model.encode(source, seen)
    if cut_embedding:
        x = model.source_positions(model.embed(model.source_embedding, source).detach())
        memory = model.encoder(x, seen)
    memory = memory.detach() if cut else memory
    seen_by_decoder = words if memory_mask else torch.ones_like(words)
    features = model.decode(read, memory, seen_by_decoder)
    logits = model.output(features.detach() if cut_decoder else features)
    return logits.detach() if detached_logits else logits


def _logits_and_gradients(
    answer: Callable[[Transformer, Tensor, Tensor], Any],
    model: Transformer,
    source: Tensor,
    read: Tensor,
) -> Any:
    """The logits at the words, and the gradient norms of the parts from below to the output."""
    logits = answer(model, source, read)
    if not (isinstance(logits, Tensor) and logits.shape[:2] == read.shape):
        return logits, torch.zeros(4)
    logits = logits[read != model.config.pad_id]
    if logits.requires_grad:
        logits.square().sum().backward()
    parts = (model.source_embedding, model.encoder, model.decoder, model.output)
    grads = [[p.grad for p in part.parameters() if p.grad is not None] for part in parts]
    return logits, torch.tensor([_root_of_squares(g) for g in grads], dtype=torch.float64)


def _wrong_forward(hint: str, **switch: bool) -> Mistake:
    return Mistake(lambda model, source, read: _forward(model, source, read, **switch), hint)


mend_forward = Check(
    reference=lambda model, source, read: model(source, read),
    run=_logits_and_gradients,
    cases=forward_cases,
    arguments=("model", "source", "read"),
    results=("logits", "the gradient norms of source embedding, encoder, decoder and output"),
    verified="the right logits, and a gradient that reaches the source embedding",
    tolerance=1e-7,
    mistakes=[
        _wrong_forward(
            "the patient is not cured: the encoder still gets no gradient. Where is the path from "
            "the loss to the encoder cut?",
            cut=True,
        ),
        _wrong_forward(
            "the encoder learns again, its embedding does not: the path is cut once more below it.",
            cut_embedding=True,
        ),
        _wrong_forward(
            "now encoder and decoder get none: only the output projection learns.",
            cut_decoder=True,
        ),
        _wrong_forward(
            "now nothing gets a gradient: the logits are cut off too.", detached_logits=True
        ),
        _wrong_forward("the encoder sees padding: hand it the mask.", mask=False),
        _wrong_forward("cross-attention sees padding: hand it the mask.", memory_mask=False),
        _wrong_forward("padding is hidden nowhere.", mask=False, memory_mask=False),
    ],
)

mend_shift = Check(
    reference=lambda target: (target[:, :-1], target[:, 1:]),
    cases=lambda: [
        (torch.tensor([[1, 7, 2]]),),
        (torch.tensor([[1, 5, 9, 4, 2], [1, 6, 2, 0, 0]]),),
        (torch.tensor([[1, 8, 3, 9, 7, 2], [1, 4, 4, 6, 2, 0], [1, 2, 0, 0, 0, 0]]),),
    ],
    arguments=("target",),
    results=("what is read", "what is asked"),
    verified="the decoder reads bos and the words, and is asked for the words and eos",
    mistakes=[
        Mistake(
            lambda target: (target[:, 1:], target[:, 1:]),
            "the patient is not cured: at each place the decoder reads the very word that it is "
            "asked for.",
        ),
        Mistake(
            lambda target: (target[:, :-1], target[:, :-1]),
            "still the same word on both sides: copying it is all there is to learn.",
        ),
        Mistake(
            lambda target: (target[:, 1:], target[:, :-1]),
            "the wrong way round: this asks for the word before.",
        ),
        Mistake(
            lambda target: (target, target[:, 1:]),
            "one place more is read than is asked for: nothing comes after eos.",
        ),
        Mistake(
            lambda target: (target[:, :-2], target[:, 2:]),
            "two steps apart: the word in between is never asked for.",
        ),
        Mistake(
            lambda target: (target[:, 1:-1], target[:, 2:]),
            "bos is left out: nothing teaches the first word.",
        ),
    ],
)

check = SimpleNamespace(
    training_step=training_step,
    unigram_loss=unigram_loss,
    gradient_norms=gradient_norms,
    mend_loss=mend_loss,
    mend_forward=mend_forward,
    mend_shift=mend_shift,
)

quiz = Quiz(
    [
        Question(
            "A fresh model chooses among 633 words. Which first loss is a sign of health?",
            (
                (
                    "about 0.5: lower is healthier",
                    "Then it knows something that it cannot know: is the answer in its input?",
                ),
                (
                    "6.45, or a little more",
                    "ln 633 = 6.45: equal probabilities cost ln V; a fresh model's are not quite "
                    "equal.",
                ),
                (
                    "about 60: it knows nothing yet",
                    "To know nothing costs less. At 60 it is sure of wrong words: logits that "
                    "are far too large.",
                ),
            ),
            right=1,
        ),
        Question(
            "The loss falls to its floor within a few hundred steps, and what the model writes is "
            "nonsense. What is likely?",
            (
                ("the learning rate is too small", "Then the loss would fall slowly."),
                (
                    "the decoder reads the word that it should predict",
                    "In training the answer is there to be copied; in writing it is not.",
                ),
                (
                    "the model is too large: it learns the sentences by heart",
                    "It would overfit: bad on new sentences, good on those of training.",
                ),
            ),
            right=1,
        ),
        Question(
            "The gradient norm of the encoder is 0.0 at every step. What follows?",
            (
                (
                    "the encoder has learnt all that it needs",
                    "A finished part has small gradients, not none.",
                ),
                (
                    "warm-up is too short: the gradients vanish",
                    "A short warm-up makes them large, not absent.",
                ),
                (
                    "the encoder is cut off from the loss",
                    "No path leads back to it: look for a detach, a no_grad, an output that "
                    "nobody uses.",
                ),
            ),
            right=2,
        ),
        Question(
            "The loss stops at the entropy of the words' frequencies. What has the model learnt?",
            (
                (
                    "which words are frequent",
                    "And nothing from its inputs: that is the loss of the best guess that looks "
                    "at neither side.",
                ),
                ("to translate, but not to stop", "Then it would be far lower."),
                ("nothing at all", "Nothing at all costs ln V, which is more."),
            ),
            right=0,
        ),
        Question(
            "95 % of next words are right with teacher forcing. How many whole sentences of 12 words "
            "are right, if errors come independently?",
            (
                ("95 %", "Only if each sentence were one word."),
                ("about 54 %", "0.95 to the 12th; and in writing, an error spoils what follows."),
                ("about 5 %", "That is the share of wrong words."),
            ),
            right=1,
        ),
        Question(
            "Why return the gradient's norm from before clipping?",
            (
                ("it is cheaper", "Both cost the same."),
                ("it is what the optimizer steps with", "The optimizer uses the clipped one."),
                (
                    "after clipping it is never above the limit",
                    "So the number that should warn you could not.",
                ),
            ),
            right=2,
        ),
    ]
)
