"""The checks refuse solutions with one thing changed: a seeded sample of `python -m tools.mutate`."""

import ast
import random

import pytest

from tools.mutate import Mutant, mutants, solutions, verdict_on
from transformer_lab.course.lessons import lesson, lesson_numbers

SAMPLE = 300
SLOW = ("forward", "mend_forward", "encoder_layer", "decoder_layer", "multi_head_class", "tie")
"""Checks that build whole models: of these, fewer mutants are drawn."""


def sample(solution, share):
    drawn = random.Random(solution.name)
    every = mutants(solution)
    few = min(len(every), 2 if solution.check in SLOW else max(1, share))
    return drawn.sample(every, few)


@pytest.mark.slow
def test_a_changed_solution_is_refused():
    everyone = list(solutions())
    share = SAMPLE // len(everyone) + 1
    tried, passed = 0, []
    for solution in everyone:
        for mutant in sample(solution, share):
            tried += 1
            if verdict_on(mutant).right and not is_equivalent(mutant):
                passed.append(f"{solution.number}.{solution.check}: {mutant.source}")
    assert tried >= SAMPLE - 60
    assert passed == []


EQUIVALENT = {
    # The larger of two, a product, a comparison and a distance have no order.
    "05.feed_forward": ("np.maximum(x @ w_1 + b_1, 0)",),
    "06.padding_mask": ("pad_id != ids",),
    "02.score_variance": ("d_k * key_std ** 2 * query_std ** 2",),
    "02.jacobian_norm": ("axis=(-1, -2)",),
    # Every number of the table is written afterwards.
    "04.sinusoids": ("np.ones((length, d_model))",),
    # `weights[:, ..., None]` of a row of weights is one more axis at the end, too.
    "02.softmax_jacobian": ("weights[:, ..., None]",),
    # A row that sees nothing is hidden everywhere: its mask is its own opposite.
    "06.masked_weights": ("masked_fill(~mask, 0.0)", "keepdim=True).detach()"),
    # Any change shows a link, by any amount, in any feature, and any bound far below it.
    "06.sees": (
        "changed[j, 0] += 2",
        "changed[j, 1] += 1",
        "changed[j, -1] += 1",
        ">= 1e-09",
        "> 2e-09",
        "amax(dim=1)",
        "before - function(changed)",
    ),
    # What distance is taken from what makes no difference to its size.
    "04.alibi": ("np.arange(length) - np.arange(length)[:, None]",),
    # The loss may be a tensor that still knows its gradient, the norm one without `item`.
    "09.training_step": ("return (loss, norm)",),
    "09.gradient_norms": ("p.grad.square().sum() for p",),
    "07.layer_parameters": ("(2 + 2) * d_model",),
    # The smaller of two has no order; a step and a warm-up are positive.
    "08.paper_rate": ("min(step * warmup_steps ** (-1.5), step ** (-0.5))",),
    # An id in an array or tensor of one number indexes and compares as the number does.
    "10.greedy_words": ("ids.append(next_logits(ids).argmax())",),
    # Every place of what is made empty is written.
    # In two dimensions the last is number 1.
    "10.keep_top_p": (
        "torch.empty_like(logits)",
        "dim=1",
        "sort(descending=True)",
        "scatter(1, words",
    ),
    # Of three axes number 1 is number −2; there is one query, the first and the last.
    "10.cached_step": ("dim=-2", "@ values)[:, -1]"),
    # An id in a tensor of one number, as in greedy_words.
    "10.continued": ("new = [logits[-1].argmax()]",),
    "10.next_places": ("pad_id != ids",),
    "10.cache_numbers": ("(written + source)",),
    # 0 divided by 2 is 0, too.
    "10.keep_or_redraw": ("dim=1", "where(total > 0, 2)"),
    "11.looks_at": ("(source[row.argmax()], row.max())",),
    # The mean over the columns of a square matrix's sums is that over its rows.
    "11.mean_distance": ("(weights * distance).sum(axis=-2).mean()",),
    "14.first_sublayer": ("positions + embedded",),
    "14.perplexity_and_accuracy": ("(np.exp(-right.mean()), (log_p",),
    "15.cache_bytes": ("(d_v + d_k)",),
    "17.words_that_fit": ("heads * layers * 2",),
    # padding_mask compares its two arguments, and comparing has no order.
    "07.forward": ("padding_mask(model.config.pad_id, source)",),
    "09.mend_forward": ("padding_mask(model.config.pad_id, source)",),
}
"""By exercise, parts of mutants that do the same as the solution, with the reason."""


def is_equivalent(mutant):
    name = f"{mutant.solution.number}.{mutant.solution.check}"
    return any(part in mutant.source for part in EQUIVALENT.get(name, ()))


def test_every_solution_of_the_pages_is_right():
    everyone = list(solutions())
    assert len(everyone) == sum(len(vars(lesson(n).check)) for n in lesson_numbers())
    for solution in everyone:
        unchanged = Mutant(solution, solution.source, "none")
        verdict = verdict_on(unchanged)
        assert verdict.right, f"{solution.number}.{solution.check}: {verdict.text}"


def test_mutants_differ_from_their_solution_and_from_each_other():
    for solution in solutions(("01", "15")):
        found = mutants(solution)
        assert len(found) >= 8
        assert len({mutant.source for mutant in found}) == len(found)
        for mutant in found:
            assert mutant.source != ast.unparse(ast.parse(solution.source))


def test_a_mutant_without_end_is_cut():
    (solution,) = (s for s in solutions(("08",)) if s.check == "merge")
    endless = [m for m in mutants(solution) if m.source.count("i += 1") == 0]
    assert endless
    for mutant in endless:
        assert not verdict_on(mutant).right
