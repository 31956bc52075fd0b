"""Wrong answers to the exercises of lesson 09b, written as a learner writes them."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lab.model.masks import padding_mask
from transformer_lab.training.loss import label_smoothed_loss


def takes_none_for_a_gradient(model):
    return {
        name: sum(p.grad.square().sum().item() for p in child.parameters()) ** 0.5
        for name, child in model.named_children()
    }


def takes_none_under_a_name(model):
    norms = {}
    for name, child in model.named_children():
        total = 0.0
        for p in child.parameters():
            gradient = p.grad
            total += gradient.norm().item() ** 2
        norms[name] = math.sqrt(total)
    return norms


def squares_none(model):
    return {
        name: sum(float(torch.square(p.grad).sum()) for p in child.parameters()) ** 0.5
        for name, child in model.named_children()
    }


def lists_of_gradients(model):
    norms = {}
    for name, child in model.named_children():
        lists = [list(part.parameters(recurse=False)) for part in child.modules()]
        norms[name] = sum(float(p.grad.square().sum()) for p in lists) ** 0.5
    return norms


def norm_of_a_list(model):
    return {
        name: torch.norm([p.grad for p in child.parameters() if p.grad is not None])
        for name, child in model.named_children()
    }


def joins_nothing(model):
    return {
        name: torch.cat([p.grad.flatten() for p in child.parameters() if p.grad is not None]).norm()
        for name, child in model.named_children()
    }


def sum_of_norms(model):
    return {
        name: sum(p.grad.norm().item() for p in child.parameters() if p.grad is not None)
        for name, child in model.named_children()
    }


def squares(model):
    norms = {}
    for name, child in model.named_children():
        norms[name] = 0.0
        for p in child.parameters():
            if p.grad is not None:
                norms[name] += (p.grad**2).sum().item()
    return norms


def of_the_weights(model):
    return {
        name: sum(p.square().sum().item() for p in child.parameters()) ** 0.5
        for name, child in model.named_children()
    }


def largest(model):
    norms = {}
    for name, child in model.named_children():
        grads = [p.grad.abs().max() for p in child.parameters() if p.grad is not None]
        norms[name] = max(grads) if grads else 0
    return norms


def skips_the_silent(model):
    norms = {}
    for name, child in model.named_children():
        grads = [p.grad.flatten() for p in child.parameters() if p.grad is not None]
        if grads:
            norms[name] = torch.cat(grads).norm()
    return norms


def skips_the_empty(model):
    norms = {}
    for name, child in model.named_children():
        parameters = list(child.parameters())
        if parameters:
            squares = [(p.grad**2).sum() for p in parameters if p.grad is not None]
            norms[name] = float(sum(squares)) ** 0.5
    return norms


def one_missing_is_all_missing(model):
    norms = {}
    for name, child in model.named_children():
        grads = [p.grad for p in child.parameters()]
        is_whole = all(grad is not None for grad in grads)
        norms[name] = float(sum((grad**2).sum() for grad in grads)) ** 0.5 if is_whole else 0.0
    return norms


def overwrites(model):
    norms = dict.fromkeys((name for name, _ in model.named_children()), 0.0)
    for name, p in model.named_parameters():
        if p.grad is not None:
            norms[name.split(".")[0]] = p.grad.norm()
    return norms


def clips_while_reading(model):
    return {
        name: nn.utils.clip_grad_norm_(parameters, 1.0)
        for name, child in model.named_children()
        if (parameters := list(child.parameters()))
    }


def by_parameter(model):
    return {name: p.grad.norm() for name, p in model.named_parameters() if p.grad is not None}


def softmax_twice(logits, target):
    return label_smoothed_loss(torch.softmax(logits, -1), target)


def squeezed(logits, target):
    return label_smoothed_loss(torch.sigmoid(logits), target)


def hard_targets(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)


def vocabulary_last(logits, target):
    return F.cross_entropy(logits, target, ignore_index=0, label_smoothing=0.1)


def vocabulary_last_without_smoothing(logits, target):
    return F.nll_loss(logits.log_softmax(-1), target)


def joins_the_logits_alone(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target, ignore_index=0, label_smoothing=0.1)


def target_first(logits, target):
    return F.cross_entropy(target, logits, ignore_index=0, label_smoothing=0.1)


def counts_padding(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), label_smoothing=0.1)


def divides_by_all(logits, target):
    losses = F.cross_entropy(
        logits.flatten(0, 1),
        target.flatten(),
        ignore_index=0,
        label_smoothing=0.1,
        reduction="none",
    )
    return losses.mean()


def no_logarithm(logits, target):
    p = logits.softmax(-1).gather(-1, target[..., None])[..., 0]
    return -p[target != 0].mean()


def still_no_grad(model, source, read):
    mask = padding_mask(source, model.config.pad_id)
    with torch.no_grad():
        memory = model.encode(source, mask)
    return model.output(model.decode(read, memory, mask))


def still_detached(model, source, read):
    mask = padding_mask(source, model.config.pad_id)
    return model.output(model.decode(read, model.encode(source, mask).data, mask))


def embedding_frozen(model, source, read):
    mask = padding_mask(source, model.config.pad_id)
    with torch.no_grad():
        x = model.source_positions(model.embed(model.source_embedding, source))
    return model.output(model.decode(read, model.encoder(x, mask), mask))


def decoder_cut(model, source, read):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encode(source, mask)
    with torch.no_grad():
        x = model.decode(read, memory, mask)
    return model.output(x)


def all_cut(model, source, read):
    with torch.no_grad():
        return model(source, read)


def sees_padding(model, source, read):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encode(source, torch.ones_like(mask))
    return model.output(model.decode(read, memory, mask))


def memory_unmasked(model, source, read):
    mask = padding_mask(source, model.config.pad_id)
    return model.output(model.decode(read, model.encode(source, mask), mask | True))


def no_mask_at_all(model, source, read):
    everything = torch.ones_like(source, dtype=torch.bool)[:, None, None]
    return model(source, read, everything)


def reads_the_answer(target):
    answer = target[:, 1:]
    return answer, answer


def copies(target):
    return target[:, :-1], target[:, :-1]


def backwards(target):
    return target[:, 1:], target[:, :-1]


def one_too_many(target):
    return target, target[:, 1:]


def two_apart(target):
    return target[:, :-2], target[:, 2:]


def no_bos(target):
    words = target[:, 1:]
    return words[:, :-1], words[:, 1:]


def logarithm_of_softmax(logits, target):
    log_p = torch.log(torch.softmax(logits, dim=-1))
    hard = -log_p.gather(2, target.unsqueeze(2)).squeeze(2)
    each = 0.9 * hard - 0.1 * log_p.mean(dim=2)
    words = target != 0
    return (each[words]).sum() / words.sum()


TABLE = [
    ("gradient_norms", takes_none_for_a_gradient, "In the last case, leave that parameter out"),
    ("gradient_norms", takes_none_under_a_name, "In the last case, leave that parameter out"),
    ("gradient_norms", squares_none, "In the last case, leave that parameter out"),
    ("gradient_norms", lists_of_gradients, "join those first, with +"),
    ("gradient_norms", norm_of_a_list, "where one tensor is needed"),
    ("gradient_norms", joins_nothing, "the list is empty in this case"),
    ("gradient_norms", sum_of_norms, "you add up the norms of a"),
    ("gradient_norms", squares, "the square root is missing"),
    ("gradient_norms", of_the_weights, "this is the norm of the weights"),
    ("gradient_norms", largest, "the largest absolute value in the gradient"),
    ("gradient_norms", skips_the_silent, "you leave out parts without a"),
    ("gradient_norms", skips_the_empty, "you leave out parts without parameters"),
    ("gradient_norms", one_missing_is_all_missing, "only add 0 to the sum"),
    ("gradient_norms", overwrites, "only the gradient of each part's last parameter"),
    ("gradient_norms", by_parameter, "should be ['first', 'second', 'third']"),
    ("gradient_norms", clips_while_reading, "the gradients have changed"),
    ("mend_loss", logarithm_of_softmax, "computes both in one step"),
    ("mend_loss", softmax_twice, "the patient is not cured"),
    ("mend_loss", squeezed, "sigmoid squeezes"),
    ("mend_loss", hard_targets, "the smoothing is gone"),
    ("mend_loss", vocabulary_last, "axis 1 to be the vocabulary"),
    ("mend_loss", vocabulary_last_without_smoothing, "axis 1 to be the vocabulary"),
    ("mend_loss", joins_the_logits_alone, "Did you flatten batch and steps in both?"),
    ("mend_loss", target_first, "Are two arguments swapped?"),
    ("mend_loss", counts_padding, "padding (id 0) now counts"),
    ("mend_loss", divides_by_all, "you divide the sum by the"),
    ("mend_loss", no_logarithm, "this is minus the probability"),
    ("mend_forward", still_no_grad, "the encoder still gets no gradient"),
    ("mend_forward", still_detached, "the encoder still gets no gradient"),
    ("mend_forward", embedding_frozen, "its embedding does not"),
    ("mend_forward", decoder_cut, "only the output projection learns"),
    ("mend_forward", all_cut, "nothing gets a gradient"),
    ("mend_forward", sees_padding, "the encoder sees padding"),
    ("mend_forward", memory_unmasked, "cross-attention sees padding"),
    ("mend_forward", no_mask_at_all, "you do not hide the padding"),
    ("mend_shift", reads_the_answer, "reads the very word"),
    ("mend_shift", copies, "the decoder still reads the"),
    ("mend_shift", backwards, "the wrong way round"),
    ("mend_shift", one_too_many, "the decoder reads one more"),
    ("mend_shift", two_apart, "the input and the targets"),
    ("mend_shift", no_bos, "nothing teaches the model to write the first word"),
]
