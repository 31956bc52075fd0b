"""Checks for the exercises of lesson 09b on debugging: three training runs that do not learn."""

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_lab.course.judge.cases import forward_cases, random_forward_case, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.forward_pass import (
    DECODER_SEES_PADDING,
    ENCODER_SEES_PADDING,
    drop_padding,
    edit_forward_pass,
)
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.training.loss import label_smoothed_loss


def _loss_cases() -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    logits = [
        4 * torch.randn(*shape, dtype=torch.float64, generator=generator)
        for shape in ((1, 3, 5), (2, 3, 5), (3, 5, 263))
    ]
    targets = [
        [[2, 1, 0]],
        [[1, 4, 2], [3, 0, 0]],
        [[6, 131, 4, 262, 2], [1, 2, 0, 0, 0], [3, 2, 2, 1, 0]],
    ]
    # The vocabulary is longer than the sentence, so a loss along the wrong axis raises an error
    # here.
    small = [[2, -3, 1, 0, -1], [0, 4, -1, 1, 2], [1, 1, 5, -2, 0]]
    logits[0] = torch.tensor([small], dtype=torch.float64)
    cases = [(x, torch.tensor(y)) for x, y in zip(logits, targets, strict=True)]
    front = torch.tensor([[0, 0, 4], [1, 0, 2]])  # padding need not come after the words
    # In the last case, some probabilities are so small that a float rounds them to 0.
    return [
        *cases,
        require_gradients(0.1 * logits[1], front),
        (300 * logits[1], front),
    ]


def _random_loss(chance: RandomValues) -> tuple[Tensor, Tensor]:
    batch, length, vocabulary = chance.sizes(3)
    target = chance.padded(batch, length, vocabulary, 0, chance.one_of(True, False))
    return require_gradients(chance.tensor(batch, length, vocabulary, scale=2.0), target)


SENTENCE_MEANS = "(losses.where(real, 0.0).sum(dim=1) / real.sum(dim=1)).mean()"


def _smooth_loss(logits: Tensor, target: Tensor) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, target[..., None])[..., 0]
    losses = -0.9 * right - 0.1 * log_p.mean(dim=-1)
    real = target != 0
    return losses.where(real, 0.0).sum() / real.sum()


def _work_out_loss(logits: Tensor, target: Tensor, at: tuple) -> Iterator[Step]:
    real = target != 0
    log_p, words = logits[real].log_softmax(dim=-1), target[real]
    right, mean = log_p[torch.arange(len(words)), words], log_p.mean(dim=-1)
    yield "log_softmax of the logits at the first position that is not padding", log_p[0]
    yield "the first part, log p of the right words, without padding", right
    yield "the second part, the mean of log p over the whole vocabulary at these positions", mean
    yield (
        "0.9 times the first part plus 0.1 times the second part, with the sign changed",
        -0.9 * right - 0.1 * mean,
    )
    yield (
        f"their sum divided by {len(words)}, the number of words",
        (-0.9 * right - 0.1 * mean).mean(),
    )


_edit_loss = partial(edit_reference, _smooth_loss)

mend_loss = Check(
    reference=_smooth_loss,
    cases=_loss_cases,
    drawn=_random_loss,
    arguments=("logits", "target"),
    results=("the loss",),
    working=_work_out_loss,
    verified="logits go into the loss as they are, and padding does not count",
    tolerance=1e-5,  # the package's loss computes in single precision
    mistakes=[
        Mistake(
            lambda logits, target: label_smoothed_loss(logits.softmax(dim=-1), target, 0.1),
            "the patient is not cured, because the loss would still level off at 5.55. What is the first "
            "thing that the loss function does to its input?",
        ),
        Mistake(
            lambda logits, target: label_smoothed_loss(logits.sigmoid(), target, 0.1),
            "sigmoid squeezes the logits into the range from 0 to 1, as softmax did, but the loss "
            "function expects logits.",
        ),
        Mistake(
            lambda logits, target: label_smoothed_loss(logits, target, 0.0),
            "the smoothing is gone. Keep ε = 0.1.",
        ),
        Mistake(
            _edit_loss(
                ("0.9 * right", "0.9 * right + 0.1 * right / (logits.shape[-1] - 1)"),
                ("log_p.mean(dim=-1)", "log_p.sum(dim=-1) / (logits.shape[-1] - 1)"),
            ),
            "you spread ε over the V − 1 wrong words, but it should be spread over all V words, "
            "as in the paper.",
        ),
        Mistake(
            _edit_loss(("0.9 * right", "right")),
            "you spread ε over the vocabulary, but the right word keeps its full weight of 1. It "
            "should give up ε.",
        ),
        Mistake(
            _edit_loss((" / real.sum()", "")),
            "this is the sum over the tokens. Divide it by the number of tokens, not counting "
            "padding.",
        ),
        Mistake(
            _edit_loss(("losses.where(real, 0.0).sum() / real.sum()", SENTENCE_MEANS)),
            "this is the mean of the sentences' means, so words in short sentences count more. "
            "Take a single mean over all tokens.",
        ),
        Mistake(
            _edit_loss((" / real.sum()", " / len(target)")),
            "you divide by the number of sentences. Divide by the number of tokens instead.",
        ),
        Mistake(
            lambda logits, target: label_smoothed_loss(logits, target, 0.1, pad_id=-1),
            "padding (id 0) now counts towards the loss, but it should not.",
        ),
        Mistake(
            lambda logits, target: (
                label_smoothed_loss(logits, target, 0.1) * (target != 0).sum() / target.numel()
            ),
            "you divide the sum by the number of positions, including padding. Count only the "
            "words.",
        ),
        Mistake(
            lambda logits, target: F.nll_loss(
                logits.softmax(-1).flatten(0, 1), target.flatten(), ignore_index=0
            ),
            "this is minus the probability. The loss should be minus its logarithm.",
        ),
        Mistake(
            _edit_loss(("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()")),
            "you take the logarithm of a softmax, but a probability that is too small for a float "
            "becomes 0, and the logarithm of 0 is −∞. Use `log_softmax`, which computes both in "
            "one step.",
        ),
    ],
)


mend_forward = Check(
    reference=lambda model, source, read: model(source, read),
    run=drop_padding,
    cases=forward_cases,
    drawn=random_forward_case,
    arguments=("model", "source", "read"),
    results=("the logits",),
    verified="the right logits, and a gradient that reaches the source embedding",
    tolerance=1e-7,
    mistakes=[
        Mistake(
            edit_forward_pass(("model.encoder(x, words)", "model.encoder(x, words).detach()")),
            "the patient is not cured, because the encoder still gets no gradient. Where is it cut "
            "off from the loss?",
        ),
        Mistake(
            edit_forward_pass(("source_embedding, source)", "source_embedding, source).detach()")),
            "the encoder learns again, but its embedding does not, because the path is now cut "
            "between the two.",
        ),
        Mistake(
            edit_forward_pass(("output(features)", "output(features.detach())")),
            "now neither the encoder nor the decoder gets a gradient, and only the output "
            "projection learns.",
        ),
        Mistake(
            edit_forward_pass(("output(features)", "output(features).detach()")),
            "now nothing gets a gradient, because the logits themselves are cut off from the "
            "model.",
        ),
        Mistake(
            edit_forward_pass(ENCODER_SEES_PADDING), "the encoder sees padding. Pass it the mask."
        ),
        Mistake(
            edit_forward_pass(DECODER_SEES_PADDING),
            "cross-attention sees padding. Pass the mask to the decoder as well.",
        ),
        Mistake(
            edit_forward_pass(ENCODER_SEES_PADDING, DECODER_SEES_PADDING),
            "you do not hide the padding anywhere. Pass the mask to both the encoder and the "
            "decoder.",
        ),
    ],
)


def _random_target(chance: RandomValues) -> tuple[Tensor]:
    batch, length = chance.sizes(2)
    pad_id, bos_id = chance.different(2, 9)
    return (
        torch.cat([torch.full((batch, 1), bos_id), chance.padded(batch, length, 17, pad_id)], 1),
    )


def _work_out_shift(target: Tensor, at: tuple) -> Iterator[Step]:
    row, place = target[at[0]], at[1]
    yield f"row {at[0]} of target", row
    yield "what the decoder reads, which is everything but the last token", row[:-1]
    yield "the targets, which are everything but the first token", row[1:]
    yield (
        f"so at position {place}",
        f"{int(row[place])} is read and {int(row[place + 1])} is the target",
    )


mend_shift = Check(
    reference=lambda target: (target[:, :-1], target[:, 1:]),
    cases=lambda: [
        (torch.tensor([[1, 7, 2]]),),
        (torch.tensor([[1, 5, 9, 4, 2], [1, 6, 2, 0, 0]]),),
        (torch.tensor([[1, 8, 3, 9, 7, 2], [1, 4, 4, 6, 2, 0], [1, 2, 0, 0, 0, 0]]),),
        (torch.tensor([[7, 500, 3], [7, 3, 2]]),),  # other ids of bos, eos and padding
    ],
    drawn=_random_target,
    arguments=("target",),
    results=("what is read", "what is asked for"),
    working=_work_out_shift,
    verified="the decoder reads bos and the words, and is asked for the words and eos",
    mistakes=[
        Mistake(
            lambda target: (target[:, 1:], target[:, 1:]),
            "the patient is not cured, because at each position the decoder reads the very word that it "
            "should predict.",
        ),
        Mistake(
            lambda target: (target[:, :-1], target[:, :-1]),
            "the decoder still reads the same word that it should predict, so it only learns to "
            "copy.",
        ),
        Mistake(
            lambda target: (target[:, 1:], target[:, :-1]),
            "this is the wrong way round. The target should be the word after the one that is "
            "read, not the word before it.",
        ),
        Mistake(
            lambda target: (target, target[:, 1:]),
            "the decoder reads one more position than there are targets. Leave out the last "
            "position, because it has no target.",
        ),
        Mistake(
            lambda target: (target[:, :-2], target[:, 2:]),
            "the input and the targets are two steps apart, so the word in between is never "
            "predicted.",
        ),
        Mistake(
            lambda target: (target[:, 1:-1], target[:, 2:]),
            "you leave out bos, so nothing teaches the model to write the first word.",
        ),
    ],
)
