"""Wrong answers to the exercises of lesson 07, written as a learner writes them."""

import torch
from torch import nn

from transformer_lab.model.masks import causal_mask, padding_mask


def no_root(ids, table, positions):
    return nn.functional.embedding(ids, table) + positions[None, : ids.shape[1]]


def words_alone(ids, table, positions):
    return table[ids] * table.shape[-1] ** 0.5


def root_of_the_sum(ids, table, positions):
    return (table[ids] + positions[: ids.shape[1]]) * table.shape[-1] ** 0.5


def divided(ids, table, positions):
    return table[ids] * table.shape[-1] ** -0.5 + positions[: ids.shape[1]]


def no_square_root(ids, table, positions):
    return table.shape[-1] * table[ids] + positions[: ids.shape[1]]


def positions_of_the_word(ids, table, positions):
    return table[ids] * table.shape[-1] ** 0.5 + positions[ids]


def side_by_side(ids, table, positions):
    words = table[ids] * table.shape[-1] ** 0.5
    places = positions[: ids.shape[1]].repeat(ids.shape[0], 1, 1)
    return torch.cat((words, places), -1)


def sees_the_future(model, source, target):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encoder(
        model.source_positions(model.embed(model.source_embedding, source)), mask
    )
    y = model.target_positions(model.embed(model.target_embedding, target))
    return model.output(model.decoder(y, memory, memory_mask=mask))


def no_mask_in_the_encoder(model, source, target):
    x = model.source_positions(model.embed(model.source_embedding, source))
    y = model.target_positions(model.embed(model.target_embedding, target))
    mask = padding_mask(source, model.config.pad_id)
    return model.output(model.decoder(y, model.encoder(x), causal_mask(y.shape[1]), mask))


def no_mask_on_the_memory(model, source, target):
    mask = padding_mask(source, model.config.pad_id)
    x = model.source_positions(model.embed(model.source_embedding, source))
    y = model.target_positions(model.embed(model.target_embedding, target))
    return model.output(model.decoder(y, model.encoder(x, mask), causal_mask(y.shape[1])))


def causal_everywhere(model, source, target):
    pad = padding_mask(source, model.config.pad_id)
    x = model.source_positions(model.embed(model.source_embedding, source))
    memory = model.encoder(x, causal_mask(source.shape[1]) & pad)
    y = model.target_positions(model.embed(model.target_embedding, target))
    return model.output(model.decoder(y, memory, causal_mask(y.shape[1]), pad))


def no_positions(model, source, target):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encoder(model.embed(model.source_embedding, source), mask)
    y = model.embed(model.target_embedding, target)
    return model.output(model.decoder(y, memory, causal_mask(y.shape[1]), mask))


def bare_embeddings(model, source, target):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encoder(model.source_positions(model.source_embedding(source)), mask)
    y = model.target_positions(model.target_embedding(target))
    return model.output(model.decoder(y, memory, causal_mask(y.shape[1]), mask))


def inverted(model, source, target):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encode(source, mask)
    y = model.target_positions(model.embed(model.target_embedding, target))
    future = torch.triu(torch.ones(y.shape[1], y.shape[1]), diagonal=1).bool()
    return model.output(model.decoder(y, memory, future, mask))


def no_positions_in_the_decoder(model, source, target):
    mask = padding_mask(source, model.config.pad_id)
    memory = model.encode(source, mask)
    y = model.embed(model.target_embedding, target)
    return model.output(model.decoder(y, memory, causal_mask(y.shape[1]), mask))


def no_output(model, source, target):
    return model.features(source, target)


def probabilities(model, source, target):
    return torch.softmax(model(source, target), -1)


def the_models_own(model, source, target):
    return model(source, target)


def all_but_the_logits(model, source, target):
    return model.output(model.features(source, target))


def zero_is_padding(model, source, target):
    mask = (source != 0)[:, None, None]
    return model(source, target, mask)


def matrices_alone(d_model, d_ff):
    return 4 * d_model**2 + 2 * d_model * d_ff


def no_biases(d_model, d_ff):
    return 4 * d_model**2 + 2 * d_model * d_ff + 2 * 2 * d_model


def no_output_projection(d_model, d_ff):
    return 3 * (d_model + 1) * d_model + (d_model + 1) * d_ff + (d_ff + 1) * d_model + 4 * d_model


def no_norms(d_model, d_ff):
    return 4 * (d_model + 1) * d_model + (d_model + 1) * d_ff + (d_ff + 1) * d_model


def gains_without_biases(d_model, d_ff):
    return no_norms(d_model, d_ff) + 2 * d_model


def no_network_biases(d_model, d_ff):
    return 4 * (d_model + 1) * d_model + 2 * d_model * d_ff + 4 * d_model


def with_cross_attention(d_model, d_ff):
    return no_norms(d_model, d_ff) + 4 * (d_model + 1) * d_model + 6 * d_model


def copied(embedding, output):
    output.weight.data.copy_(embedding.weight.data)


def a_new_parameter(embedding, output):
    output.weight = nn.Parameter(embedding.weight.data.clone())


def shared_storage(embedding, output):
    output.weight.data = embedding.weight.data


def a_new_parameter_on_the_same_numbers(embedding, output):
    output.weight = nn.Parameter(embedding.weight.data)


def the_other_way_round(embedding, output):
    embedding.weight = output.weight


def a_frozen_copy(embedding, output):
    output.weight = nn.Parameter(embedding.weight.data.clone(), requires_grad=False)


def only_compared(embedding, output):
    output.weight == embedding.weight  # noqa: B015


TABLE = [
    ("encoder_input", no_root, "√d_model is missing"),
    ("encoder_input", words_alone, "the positions are missing"),
    ("encoder_input", root_of_the_sum, "multiply the positions by √d_model"),
    ("encoder_input", divided, "divide the embeddings by √d_model"),
    ("encoder_input", no_square_root, "you multiplied by d_model"),
    ("encoder_input", positions_of_the_word, "positions by word id"),
    ("encoder_input", side_by_side, "concatenate the positions"),
    ("forward", sees_the_future, "sees the future"),
    ("forward", no_mask_in_the_encoder, "the encoder's self-attention sees padding"),
    ("forward", no_mask_on_the_memory, "cross-attention sees padding"),
    ("forward", causal_everywhere, "you give the encoder a causal mask"),
    ("forward", no_positions, "the positions are missing"),
    ("forward", inverted, "your causal mask is inverted"),
    ("forward", no_positions_in_the_decoder, "the decoder's positions are missing"),
    ("forward", bare_embeddings, "Call model.embed"),
    ("forward", no_output, "you return the decoder's vectors"),
    ("forward", probabilities, "you return probabilities"),
    ("forward", zero_is_padding, "0 is hard-coded"),
    ("forward", the_models_own, "calls the package's own `forward`. Write your own"),
    ("forward", all_but_the_logits, "the package's own `features`"),
    ("layer_parameters", matrices_alone, "only the matrices"),
    ("layer_parameters", no_biases, "the biases of the six"),
    ("layer_parameters", no_output_projection, "W_O is missing"),
    ("layer_parameters", no_norms, "4 · d_model parameters are missing"),
    ("layer_parameters", gains_without_biases, "each with a gain and a bias"),
    ("layer_parameters", no_network_biases, "biases of the feed-forward network"),
    ("layer_parameters", with_cross_attention, "no cross-attention"),
    ("tie", copied, "you copied the numbers"),
    ("tie", a_new_parameter, "you copied the numbers"),
    ("tie", shared_storage, "are two parameters"),
    ("tie", a_new_parameter_on_the_same_numbers, "are two parameters"),
    ("tie", the_other_way_round, "now has the output's numbers"),
    ("tie", a_frozen_copy, "it does not learn"),
    ("tie", only_compared, "two separate matrices"),
]
