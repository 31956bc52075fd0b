"""Wrong answers to the exercises of lesson 06, written as a learner writes them."""

import torch


def true_is_padding(ids, pad_id):
    return (ids == pad_id).unsqueeze(1).unsqueeze(2)


def hides_queries(ids, pad_id):
    return (ids != pad_id).unsqueeze(1).unsqueeze(-1)


def two_axes(ids, pad_id):
    return ids.ne(pad_id)


def zero_is_padding(ids, pad_id):
    return ids.bool()[:, None, None]


def larger_than_pad(ids, pad_id):
    return ids.gt(pad_id)[:, None, None]


def no_diagonal(length):
    i = torch.arange(length)
    return i[None, :] < i[:, None]


def upper_triangle(length):
    i = torch.arange(length)
    return i[None, :] >= i[:, None]


def marks_the_hidden(length):
    i = torch.arange(length)
    return i[None, :] > i[:, None]


def one_too_many(length):
    i = torch.arange(length)
    return i[None, :] <= i[:, None] + 1


def floats(length):
    return torch.tril(torch.ones(length, length))


def multiplied_after(scores, mask):
    return torch.softmax(scores, -1) * mask.double()


def zeros_before(scores, mask):
    return torch.softmax(scores * mask, -1)


def wrong_way_round(scores, mask):
    weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
    return weights.nan_to_num(0.0)


def wrong_way_round_unguarded(scores, mask):
    return torch.softmax(torch.where(mask, float("-inf"), scores), -1)


def over_the_queries(scores, mask):
    shown = mask.expand(scores.shape)
    weights = torch.where(shown, scores, float("-inf")).softmax(-2)
    return torch.where(shown.any(-2, keepdim=True), weights, 0.0)


def no_softmax(scores, mask):
    return torch.where(mask, scores, float("-inf"))


def zeros_and_no_softmax(scores, mask):
    return torch.where(mask, scores, 0.0)


def nan_rows(scores, mask):
    return torch.where(mask, scores, float("-inf")).softmax(-1)


def minus_a_billion(scores, mask):
    return torch.where(mask, scores, -1e9).softmax(-1)


def added_as_numbers(scores, mask):
    return torch.softmax(scores + mask.double(), -1)


def as_it_is(target, bos_id):
    return target


def to_the_left(target, bos_id):
    shifted = target.roll(-1, 1)
    shifted[:, -1] = bos_id
    return shifted


def too_long(target, bos_id):
    return torch.nn.functional.pad(target, (1, 0), value=bos_id)


def rolled(target, bos_id):
    return torch.roll(target, 1, 1)


def fixed_bos(target, bos_id):
    shifted = target.roll(1, 1)
    shifted[:, 0] = 1
    return shifted


def moves(function, x, j):
    other = x.clone()
    other[j, -1] += 0.5
    return ~torch.isclose(function(other), function(x)).all(-1)


def swapped(function, x):
    return torch.stack([moves(function, x, j) for j in range(len(x))])


def never_put_back(function, x):
    y, columns = x.clone(), []
    for j in range(len(x)):
        y[j, 1] = y[j, 1] + 0.5
        columns.append(~torch.isclose(function(y), function(x)).all(-1))
    return torch.stack(columns, 1)


def all_features(function, x):
    columns = []
    for j in range(len(x)):
        y = x.clone()
        y[j] += 0.5
        columns.append(~torch.isclose(function(y), function(x)).all(-1))
    return torch.stack(columns, 1)


def every_feature_must_move(function, x):
    rows = []
    for j in range(len(x)):
        y = x.clone()
        y[j, 0] += 0.01
        rows.append(((function(y) - function(x)) != 0).all(-1))
    return torch.stack(rows).T


def changes_that_cancel(function, x):
    map_of = torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        y = x.clone()
        y[j, 0] += 0.01
        map_of[:, j] = (function(y) - function(x)).sum(-1).abs() > 1e-10
    return map_of


def true_where_still(function, x):
    return ~swapped(function, x).T


def diagonal_only(function, x):
    return torch.diag(swapped(function, x).diagonal())


def one_for_each_output(function, x):
    return swapped(function, x).any(0)


# ---------------------------------------------------------------- the decoder layer


def hides_the_past(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, ~mask))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def as_the_encoder_did(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def source_without_a_mask(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory))
    return layer.add_norm_3(x, layer.feed_forward)


def results_handed_over(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, layer.self_attention(x, x, x, mask))
    x = layer.add_norm_2(x, layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward(x))


def sums_alone(layer, x, memory, mask, memory_mask):
    x = x + layer.self_attention(x, x, x, mask)
    x = x + layer.cross_attention(x, memory, memory, memory_mask)
    return x + layer.feed_forward(x)


def closes_over_x(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def computed_beforehand(layer, x, memory, mask, memory_mask):
    own = layer.self_attention(x, x, x, mask)
    theirs = layer.cross_attention(x, memory, memory, memory_mask)
    x = layer.add_norm_1(x, lambda _: own)
    x = layer.add_norm_2(x, lambda _: theirs)
    return layer.add_norm_3(x, layer.feed_forward)


def norms_miscounted(layer, x, memory, mask, memory_mask):
    norms = [layer.add_norm_1, layer.add_norm_1, layer.add_norm_2]
    x = norms[0](x, lambda y: layer.self_attention(y, y, y, mask))
    x = norms[1](x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return norms[2](x, layer.feed_forward)


def the_memory_asks(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(memory, y, y))
    return layer.add_norm_3(x, layer.feed_forward)


def memory_only_as_keys(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, y, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def masks_exchanged(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, None))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory, mask))
    return layer.add_norm_3(x, layer.feed_forward)


def mask_of_its_own(layer, x, memory, mask, memory_mask):
    triangle = torch.ones(x.shape[1], x.shape[1]).tril().bool()
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, triangle))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def memory_detached(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    memory = memory.detach()
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


@torch.no_grad()
def without_gradients(layer, x, memory, mask, memory_mask):
    x = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    x = layer.add_norm_2(x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def calls_the_package(layer, x, memory, mask, memory_mask):
    return layer(x, memory, mask, memory_mask)


def puts_it_into_x(layer, x, memory, mask, memory_mask):
    with torch.no_grad():
        x[:] = without_gradients(layer, x, memory, mask, memory_mask)
    return x


TABLE = [
    ("decoder_layer", hides_the_past, "are mixed up"),
    ("decoder_layer", as_the_encoder_did, "the words can see the future"),
    ("decoder_layer", source_without_a_mask, "the source's padding is visible"),
    ("decoder_layer", results_handed_over, "calls the sub-layer itself, but got the result"),
    ("decoder_layer", sums_alone, "never normalise the sum"),
    ("decoder_layer", closes_over_x, "its queries from the x that add_norm_2 passes to it"),
    ("decoder_layer", computed_beforehand, "both kinds of attention use the layer's input"),
    ("decoder_layer", norms_miscounted, "leave out add_norm_3"),
    ("decoder_layer", the_memory_asks, "the queries come from x"),
    ("decoder_layer", memory_only_as_keys, "both should come from the memory"),
    ("decoder_layer", masks_exchanged, "but its mask covers"),
    (
        "decoder_layer",
        mask_of_its_own,
        "of `layer.self_attention` has shape (5, 5), but should have (2, 1, 5, 5)",
    ),
    ("decoder_layer", memory_detached, "no gradient reaches memory"),
    ("decoder_layer", without_gradients, "no gradient flows through"),
    ("decoder_layer", calls_the_package, "your answer calls the package's own `DecoderLayer`"),
    ("decoder_layer", puts_it_into_x, "your answer changes x in place"),
    ("padding_mask", true_is_padding, "so words should be True"),
    ("padding_mask", hides_queries, "hides queries"),
    ("padding_mask", two_axes, "does not broadcast"),
    ("padding_mask", zero_is_padding, "0 is hard-coded"),
    ("padding_mask", larger_than_pad, "these ids stand for words"),
    ("causal_mask", no_diagonal, "the diagonal is missing"),
    ("causal_mask", upper_triangle, "the upper triangle"),
    ("causal_mask", marks_the_hidden, "True for what must be hidden"),
    ("causal_mask", one_too_many, "Check the diagonal of your mask"),
    ("causal_mask", floats, "this one holds floats"),
    ("masked_weights", multiplied_after, "no longer sum to 1"),
    ("masked_weights", zeros_before, "because e⁰ = 1"),
    ("masked_weights", wrong_way_round, "the wrong way round"),
    ("masked_weights", wrong_way_round_unguarded, "a row becomes NaN if all its keys are hidden"),
    ("masked_weights", over_the_queries, "over the queries"),
    ("masked_weights", no_softmax, "the softmax is missing."),
    ("masked_weights", zeros_and_no_softmax, "should be −∞, and the softmax is missing"),
    ("masked_weights", nan_rows, "Its weights are NaN"),
    ("masked_weights", minus_a_billion, "attends to all of them"),
    ("masked_weights", added_as_numbers, "add the mask (0 or 1)"),
    ("shift_right", as_it_is, "learns to copy"),
    ("shift_right", to_the_left, "shifted to the left"),
    ("shift_right", too_long, "one column too many"),
    ("shift_right", rolled, "wrapped around to the front"),
    ("shift_right", fixed_bos, "1 is hard-coded"),
    ("sees", swapped, "rows and columns are swapped"),
    ("sees", never_put_back, "your changes pile up"),
    ("sees", all_features, "LayerNorm cancels that"),
    ("sees", every_feature_must_move, "a change in one is enough"),
    ("sees", changes_that_cancel, "may cancel"),
    ("sees", true_where_still, "your map is inverted"),
    ("sees", diagonal_only, "only output j"),
    ("sees", one_for_each_output, "which inputs move that output"),
]
