"""Mutants that a check calls right, because they do the same on every allowed input."""

from tools.mutate.mutants import Mutant

ORDER = "a sum, a product, a maximum, a comparison, a distance: none has an order"
LAST = "both numbers name the same axis, or the matrix is square"
TWICE = "two changes that undo each other"
WHOLE = "the division leaves no remainder, and 4.0 is as good as 4 if the answer is one number"
READ = "the value is only read: as a number, an index, or an array of the same values"
NUMBER = "a single number has no axes"
EQUIVALENT: dict[str, dict[str, str]] = {
    "02.score_variance": {"d_k * key_std ** 2 * query_std ** 2": ORDER},
    "02.softmax_jacobian": {"weights[:, ..., None]": LAST},
    "02.jacobian_norm": {"axis=(-1, -2)": ORDER},
    "03.multi_head_class": {"k.transpose(2, -1)": LAST},
    "03.multiplications": {
        "num_heads = 1": "the number of heads does not change the count",
    },
    "04.sinusoids": {
        "np.ones((length, d_model))": "every number in the table is overwritten later"
    },
    "04.alibi": {"np.arange(length) - np.arange(length)[:, None]": ORDER},
    "04.rotation": {
        "return matrix.squeeze()": "the matrix has at least two rows",
    },
    "05.feed_forward": {"np.maximum(x @ w_1 + b_1, 0)": ORDER},
    "06.padding_mask": {"pad_id != ids": ORDER},
    "06.masked_weights": {
        "masked_fill(~mask, 0.0)": "a row that sees nothing is hidden everywhere",
        "keepdim=True).detach()": "what is subtracted from all scores of a row has no gradient",
    },
    "06.sees": dict.fromkeys(
        (
            "changed[j, 0] += 2",
            "changed[j, 1] += 1",
            "changed[j, -1] += 1",
            ">= 1e-09",
            "> 2e-09",
            "amax(dim=1)",
            "before - function(changed)",
        ),
        "a link shows with any change, in any feature, above any tiny bound",
    ),
    "07.encoder_input": {"positions[:ids.size(-1)]": LAST},
    "07.layer_parameters": {"(2 + 2) * d_model": ORDER},
    "07.forward": {"padding_mask(model.config.pad_id, source)": ORDER},
    "08.paper_rate": {
        "min(step * warmup_steps ** (-1.5), step ** (-0.5))": ORDER,
        "step / warmup_steps ** 1.5": TWICE,
    },
    "08.smoothed_target": {
        "return target.squeeze()": "a vocabulary has at least two words",
    },
    "09.training_step": {"return (loss, norm)": READ},
    "09b.gradient_norms": {"p.grad.square().sum() for p": READ},
    "09b.mend_loss": {
        ".squeeze()": NUMBER,
        "--0.09999999999999998": TWICE,
        "--0.10000000000000009": TWICE,
    },
    "09b.mend_forward": {"padding_mask(model.config.pad_id, source)": ORDER},
    "09.unigram_loss": {
        ".squeeze()": NUMBER,
    },
    "10.greedy_words": {"ids.append(next_logits(ids).argmax())": READ},
    "10.beam_step": {
        "row.topk(min(len(row), k))": ORDER,
        "zip(top.values, top.indices.tolist())": READ,
    },
    "10c.keep_top_p": {
        "logits.sort(descending=True)": LAST,
        "logits.sort(dim=1, descending=True)": LAST,
        "ordered.softmax(dim=1)": LAST,
        "probabilities.cumsum(dim=1)": LAST,
        "scatter(1, words, kept)": LAST,
    },
    "10b.cached_step": {"dim=-2": LAST, "@ values)[:, -1]": LAST},
    "10b.continued": {"new = [logits[-1].argmax()]": READ},
    "10b.next_places": {"pad_id != ids": ORDER},
    "10b.cache_numbers": {"(written + source)": ORDER, "d_model / num_heads": WHOLE},
    "10c.keep_or_redraw": {"dim=1": LAST, "where(total > 0, 2)": "0 divided by 2 is 0, too"},
    "10c.accept": {"return best": READ},
    "11.looks_at": {"np.asarray(weights)[written.index(word)]": READ},
    "11.error_rate": {
        "{(np.argmax(weights[step]), step)": READ,
        "len(found & gold)": READ,
    },
    "11.mean_distance": {
        ".squeeze()": NUMBER,
        "def mean_distance(weights):\n    places": READ,
        "weights = np.asarray(weights)": READ,
        "abs(places - places[:, None])": ORDER,
        "(weights * distance).sum(axis=0).mean()": LAST,
        "(weights * distance).sum(axis=-2).mean()": LAST,
    },
    "11.previous_token": {
        ".squeeze()": NUMBER,
    },
    "12.point": {"pointed[query] = -0": "−0 is 0"},
    "12.rollout": {
        "layers[0].shape[1]": LAST,
        "layers[0].shape[-2]": LAST,
        "layers[-1].shape[-1]": "all layers have one shape",
    },
    "12.largest_by_chance": {
        ".squeeze()": NUMBER,
    },
    "13.full_turns": {"last * speed > 2 * np.pi": "no whole number of steps is a whole turn"},
    "13.reached_rows": {"(after != before).any(axis=1)": ORDER},
    "13.failure": {
        "'word' if want != 2 else 'went on'": TWICE,
    },
    "13.reach": {"share < --0.5": TWICE},
    "13.smallest_difference": {
        ".squeeze()": NUMBER,
        "np.sqrt(2 / len(other))": "both have the same number of runs",
    },
    "14.attention_size": {"d_model / num_heads": WHOLE},
    "14.first_sublayer": {"positions + embedded": ORDER},
    "14.perplexity_and_accuracy": {"log_p.argmax(axis=1)": LAST},
    "15.merge": {"np.maximum(largest_b, largest_a)": ORDER},
    "15.linear_mix": {"k.sum(axis=-2)": LAST},
    "15.cache_bytes": {
        "(d_v + d_k)": ORDER,
        "heads * layers * (d_k + d_v)": ORDER,
        "(d_k + d_v) * each * words": ORDER,
    },
    "15.exponent": {
        ".squeeze()": NUMBER,
    },
    "16.windows": {"ids[places - -1]": TWICE},
    "16.shared_keys": {
        "np.repeat(key, num_heads / len(key), axis=0)": READ,
        "axis=-3": LAST,
    },
    "16b.scan": {"np.zeros(decay.shape[1])": "decay and inputs have one shape"},
    "17.mended": {"k.transpose(2, -1)": LAST},
    "17.words_that_fit": {
        "heads * layers * 2": ORDER,
        "layers * d_k * 2 * heads": ORDER,
        "max(room // a_word - source, 0)": ORDER,
    },
    "18.best_offset": {"(steps[times.argmax()], times.max()": READ},
    "18.ssru_step": {"np.maximum(0, c)": ORDER},
}
"""For each exercise: parts of mutants, and why each changes nothing."""


def reason(mutant: Mutant) -> str | None:
    """Return why a mutant does the same as the solution, or None if that is not known."""
    known = EQUIVALENT.get(f"{mutant.solution.number}.{mutant.solution.check}", {})
    return next((why for part, why in known.items() if part in mutant.source), None)
