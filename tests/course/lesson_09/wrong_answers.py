"""Wrong answers to the exercises of lesson 09, written as a learner writes them."""

import math

import torch
from torch import nn


def parameters_of(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def set_rate(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


def forgets_to_zero(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(parameters_of(optimizer), 1.0)
    optimizer.step()
    return loss, norm


def zeroes_after_backward(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    loss = loss_of(batch)
    loss.backward()
    optimizer.zero_grad()
    norm = nn.utils.clip_grad_norm_(parameters_of(optimizer), 1.0)
    optimizer.step()
    return loss.item(), norm


def keeps_zeros_after_backward(loss_of, optimizer, batch, rate):
    loss = loss_of(batch)
    loss.backward()
    optimizer.zero_grad(set_to_none=False)
    norm = sum(p.grad.pow(2).sum() for p in loss_of.parameters()) ** 0.5
    set_rate(optimizer, rate)
    optimizer.step()
    return loss, norm


def norm_of_what_was_emptied(loss_of, optimizer, batch, rate):
    loss = loss_of(batch)
    loss.backward()
    optimizer.zero_grad()
    norm = sum((p.grad**2).sum() for p in loss_of.parameters()) ** 0.5
    return loss, norm


def lists_in_a_list(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    loss = loss_of(batch)
    optimizer.zero_grad()
    loss.backward()
    weights = [group["params"] for group in optimizer.param_groups]
    norm = nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
    return loss, norm


def groups_for_weights(loss_of, optimizer, batch, rate):
    loss_of(batch).backward()
    return loss_of(batch), nn.utils.clip_grad_norm_(optimizer.param_groups, 1.0)


def zeroes_too_late(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(loss_of.parameters(), max_norm=1.0)
    optimizer.zero_grad()
    optimizer.step()
    return loss, norm


def steps_first(loss_of, optimizer, batch, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = loss_of(batch)
    optimizer.step()
    loss.backward()
    return loss, nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)


def its_own_rate(loss_of, optimizer, batch, rate):
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    optimizer.step()
    return loss, norm


def never_clips(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = sum(p.grad.pow(2).sum() for p in loss_of.parameters()).sqrt()
    optimizer.step()
    return loss, norm


def clips_each_number(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = sum(p.grad.pow(2).sum() for p in loss_of.parameters()).sqrt()
    for p in loss_of.parameters():
        p.grad.clamp_(-1, 1)
    optimizer.step()
    return loss, norm


def norm_of_the_clipped(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    norm = torch.cat([p.grad.flatten() for p in loss_of.parameters()]).norm()
    optimizer.step()
    return loss, norm


def rate_for_the_next(loss_of, optimizer, batch, rate):
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    optimizer.step()
    set_rate(optimizer, rate)
    return loss, norm


def always_length_one(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = sum(p.grad.pow(2).sum() for p in loss_of.parameters()).sqrt()
    for p in loss_of.parameters():
        p.grad /= norm
    optimizer.step()
    return loss, norm


def rate_of_the_first_group(loss_of, optimizer, batch, rate):
    optimizer.param_groups[0]["lr"] = rate
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    optimizer.step()
    return loss, norm


def clips_the_first_group(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()
    return loss, norm


def knows_one_group(loss_of, optimizer, batch, rate):
    (group, *_) = optimizer.param_groups
    group["lr"] = rate
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(group["params"], 1.0)
    optimizer.step()
    return loss, norm


def clips_group_by_group(loss_of, optimizer, batch, rate):
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    for group in optimizer.param_groups:
        group["lr"] = rate
        norm = nn.utils.clip_grad_norm_(group["params"], 1.0)
    optimizer.step()
    return loss, norm


def clips_group_by_group_with_one_norm(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    groups = [group["params"] for group in optimizer.param_groups]
    norm = torch.stack([nn.utils.clip_grad_norm_(group, 1.0) for group in groups]).norm()
    optimizer.step()
    return loss, norm


def first_weight_of_each_group(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    firsts = [group["params"][0] for group in optimizer.param_groups]
    norm = nn.utils.clip_grad_norm_(firsts, 1.0)
    optimizer.step()
    return loss, norm


def only_the_loss(loss_of, optimizer, batch, rate):
    return forgets_to_zero(loss_of, optimizer, batch, rate)[0]


def by_hand(loss_of, optimizer, batch, rate):
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    with torch.no_grad():
        for p in loss_of.parameters():
            p -= rate * p.grad
    return loss, norm


def loss_of_afterwards(loss_of, optimizer, batch, rate):
    set_rate(optimizer, rate)
    optimizer.zero_grad()
    loss_of(batch).backward()
    norm = nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    optimizer.step()
    return loss_of(batch), norm


def in_bits(counts):
    p = counts / counts.sum()
    return -(p * torch.log2(p.clamp(min=1e-30))).sum()


def negative(counts):
    p = counts / counts.sum()
    return (p * torch.log(p.clamp(min=1e-30))).sum()


def not_a_number(counts):
    p = counts / counts.sum()
    return -torch.sum(p * torch.log(p))


def uniform(counts):
    return math.log(counts.numel())


def mean_over_words(counts):
    p = counts[counts > 0] / counts.sum()
    return -(p * p.log()).mean()


def each_word_alike(counts):
    p = counts[counts > 0] / counts.sum()
    return -p.log().sum() / len(p)


def perplexity(counts):
    p = counts[counts > 0] / counts.sum()
    return torch.exp(-(p * p.log()).sum())


TABLE = [
    ("training_step", forgets_to_zero, "the gradients of earlier"),
    ("training_step", zeroes_after_backward, "no gradient is left to clip"),
    ("training_step", keeps_zeros_after_backward, "no gradient is left to clip"),
    (
        "training_step",
        norm_of_what_was_emptied,
        "a .grad is None if `backward` has not been called yet",
    ),
    ("training_step", lists_in_a_list, "join those first, with +"),
    (
        "training_step",
        groups_for_weights,
        "each group is a dict that holds its parameters in a list",
    ),
    ("training_step", zeroes_too_late, "the weights do not change"),
    ("training_step", steps_first, "the weights do not change"),
    ("training_step", its_own_rate, "still uses its old rate"),
    ("training_step", never_clips, "you do not clip long gradients"),
    ("training_step", clips_each_number, "you clip each number separately"),
    ("training_step", norm_of_the_clipped, "you return the norm of the"),
    ("training_step", loss_of_afterwards, "you compute the loss again"),
    ("training_step", rate_for_the_next, "the previous step's rate"),
    ("training_step", always_length_one, "you scale every gradient"),
    ("training_step", rate_of_the_first_group, "you set the rate only for"),
    ("training_step", clips_the_first_group, "you clip only the first group's"),
    ("training_step", knows_one_group, "you set the rate and clip"),
    ("training_step", clips_group_by_group, "you clip each group of weights"),
    ("training_step", clips_group_by_group_with_one_norm, "the same factor"),
    ("training_step", first_weight_of_each_group, "entry [1] of the losses"),
    ("training_step", only_the_loss, "should return two values: the loss and the norm"),
    ("training_step", by_hand, "and only when the first axis of the batches has length 1"),
    ("unigram_loss", in_bits, "your loss is in bits, but"),
    ("unigram_loss", negative, "a loss is never negative"),
    ("unigram_loss", not_a_number, "is NaN in PyTorch"),
    ("unigram_loss", uniform, "this is the loss if all words"),
    ("unigram_loss", mean_over_words, "you divide by the number"),
    ("unigram_loss", each_word_alike, "you give every word the same"),
    ("unigram_loss", perplexity, "this is the perplexity"),
]
