"""The checks of exercises know a right answer, name each known mistake, and are honest about the rest."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.course.right_answers import RIGHT
from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.model.masks import causal_mask, padding_mask

CHECKS = {
    f"{number}.{name}": check
    for number in lesson_numbers()
    for name, check in vars(lesson(number).check).items()
}
WRITTEN = {
    path.parent.name[-2:]: importlib.import_module(f"tests.course.{path.parent.name}.wrong_answers")
    for path in sorted(Path(__file__).parent.glob("lesson_*/wrong_answers.py"))
}
ROWS = [
    (f"{number}.{name}", answer, hint)
    for number, module in WRITTEN.items()
    for name, answer, hint in module.TABLE
]
"""(lesson and check, a wrong answer as a learner writes it, words of the hint that fits)"""


@pytest.fixture(params=CHECKS.values(), ids=list(CHECKS))
def check(request):
    return request.param


def test_the_reference_is_right(check):
    verdict = check.verdict(check.reference)
    assert verdict.right
    assert verdict.text.startswith("Right: ")
    assert check.verified in verdict.text
    assert not any(outcome.error for outcome in check.known_outcomes(check.reference))


def test_every_known_mistake_gets_its_own_hint(check):
    hints = [mistake.hint for mistake in check.mistakes]
    assert len(hints) == len(set(hints)) >= 5
    for mistake in check.mistakes:
        verdict = check.judge(check.known_outcomes(mistake.answer))
        assert not verdict.right
        assert mistake.hint in verdict.text


@pytest.mark.parametrize(("name", "answer", "hint"), ROWS, ids=lambda x: getattr(x, "__name__", x))
def test_wrong_answers_as_learners_write_them_get_the_hint_that_fits(name, answer, hint):
    verdict = CHECKS[name].verdict(answer)
    assert not verdict.right
    assert hint in verdict.text


def test_each_check_has_five_such_answers_or_more():
    counts = {name: sum(row[0] == name for row in ROWS) for name in CHECKS}
    assert min(counts.values()) >= 5, counts


def test_a_stub_is_not_written_yet(check):
    def stub(*arguments):
        raise NotImplementedError

    assert check.verdict(stub).text.startswith("Not written yet")


# ---------------------------------------------------------------- the machinery, on one small check

TWICE = Check(
    reference=lambda x: 2 * x,
    cases=lambda: [(np.arange(3.0),), (np.arange(10.0).reshape(2, 5),)],
    mistakes=[Mistake(lambda x: x * x, "you squared it")],
    verified="doubled",
    results=("the double",),
)


def nothing(x):
    2 * x


def in_place(x):
    x *= 2
    return x


def only_rows(x):
    return 2 * x if x.ndim == 1 else x.T


def stops(x):
    raise KeyError("no such word")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: x * x, "you squared it"),
        (lambda x: 2 * x + (x == 2) * 0.5, "the double[2] is 4.5; expected 4"),
        (lambda x: np.where(x > 8, np.nan, 2 * x), "the double[1, 4] is nan; expected 18"),
        (lambda x: 2 * x[:2], "the double has shape (2,); expected (3,)"),
        (lambda x: (2 * x, x), "it returns 2 things; expected 1: the double"),
        (lambda x: x > 0, "the double has dtype bool; expected float64"),
        (nothing, "it returns None: is there a `return`?"),
        (in_place, "it changes x in place"),
        (only_rows, "the double has shape (5, 2); expected (2, 5)"),
        (stops, "it stops with KeyError: 'no such word'"),
    ],
)
def test_an_answer_on_no_list_gets_the_smallest_failing_case(answer, words):
    verdict = TWICE.verdict(answer)
    assert not verdict.right
    assert words in verdict.text
    assert "seen with x of shape" in verdict.text


def test_the_smallest_failing_case_is_the_one_shown():
    assert "seen with x of shape (2, 5)" in TWICE.verdict(only_rows).text
    assert "seen with x of shape (3,)" in TWICE.verdict(stops).text


def greedy_by_recursion(next_logits, ids, eos, left):
    if left == 0 or ids[-1] == eos:
        return []
    word = next_logits(torch.tensor(ids)).argmax()
    return [word, *greedy_by_recursion(next_logits, [*ids, int(word)], eos, left - 1)]


def top_p_by_a_loop(row, p):
    kept, total = torch.full_like(row, float("-inf")), 0.0
    for word in row.argsort(descending=True):
        if total < p:
            kept[word] = row[word]
            total += row.softmax(0)[word]
    return kept


def step_in_numbers(loss_of, optimizer, batch, rate):
    optimizer.zero_grad(set_to_none=False)
    optimizer.param_groups[0].update(lr=rate)
    loss = loss_of(batch)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    optimizer.step()
    return loss.item(), norm.item()


RIGHT_IN_ANOTHER_WAY = {
    "05.feed_forward": lambda x, w1, b1, w2, b2: (
        np.where(x @ w1 + b1 > 0, x @ w1 + b1, 0) @ w2 + b2
    ),
    "06.masked_weights": lambda scores, mask: torch.where(
        mask, torch.where(mask, scores, -torch.inf).softmax(-1), 0.0
    ),
    "10.greedy_words": lambda next_logits, bos, eos, limit: greedy_by_recursion(
        next_logits, [bos], eos, limit
    ),
    "10.beam_step": lambda beams, rows, k: [
        [value, (*beams[place // rows.shape[1]][1], place % rows.shape[1])]
        for value, place in zip(
            *(
                part.tolist()
                for part in (torch.tensor([[b[0]] for b in beams]) + rows).flatten().topk(k)
            ),
            strict=True,
        )
    ],
    "10.keep_top_p": lambda logits, p: torch.stack([top_p_by_a_loop(row, p) for row in logits]),
    "10.keep_top_p: log-probabilities are logits too": lambda logits, p: torch.stack(
        [top_p_by_a_loop(row, p) for row in logits.log_softmax(-1)]
    ),
    "10.keep_top_p: shares of the kept words, as logarithms": lambda logits, p: torch.stack(
        [top_p_by_a_loop(row, p).softmax(-1).log() for row in logits]
    ),
    "09.training_step": step_in_numbers,
    "10.accept": lambda proposed, best: [
        word for n, word in enumerate(best) if proposed[:n] == best[:n]
    ],
    "07.encoder_input": lambda ids, table, positions: (
        torch.nn.functional.embedding(ids, table) * torch.tensor(table.shape[1]).sqrt()
        + positions[: ids.shape[1]]
    ),
    "07.forward": lambda model, source, target: model.output(
        model.decoder(
            model.target_positions(model.embed(model.target_embedding, target)),
            model.encode(source, padding_mask(source, model.config.pad_id)),
            causal_mask(target.size(1)) & padding_mask(target, model.config.pad_id),
            padding_mask(source, model.config.pad_id),
        )
    ),
    "18.eight_bits: a list of a tensor and a number": lambda weights: [
        (torch.tensor(weights) * (127 / abs(weights).max())).round().to(torch.int8),
        127 / abs(weights).max(),
    ],
    "18.join: rows as lists": lambda weights, words: [
        [
            weights[np.ix_(words == asks, words == gives)].sum() / (words == asks).sum()
            for gives in range(max(words) + 1)
        ]
        for asks in range(max(words) + 1)
    ],
    "18.interval: one array of both ends": lambda values, draws: np.percentile(
        values[draws].mean(axis=1), (2.5, 97.5)
    ),
    "18.interval: PyTorch": lambda values, draws: torch.quantile(
        torch.tensor(values[draws].mean(axis=1)), torch.tensor([0.025, 0.975], dtype=torch.float64)
    ),
}


@pytest.mark.parametrize("name", RIGHT_IN_ANOTHER_WAY)
def test_what_is_right_in_another_way_is_right(name):
    verdict = CHECKS[name.partition(":")[0]].verdict(RIGHT_IN_ANOTHER_WAY[name])
    assert verdict.right, verdict.text


@pytest.mark.parametrize(("name", "answer"), RIGHT, ids=lambda x: getattr(x, "__name__", x))
def test_no_right_answer_is_refused_for_its_style(name, answer):
    verdict = CHECKS[name].verdict(answer)
    assert verdict.right, verdict.text


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        (
            "06.shift_right",
            lambda t, b: torch.cat([t[:, :1] * 0.0 + b, t[:, :-1]], 1),
            "whole numbers",
        ),
        (
            "07.layer_parameters",
            lambda d, f: 4.0 * (d * d + d) + 2 * d * f + f + 5 * d,
            "whole numbers",
        ),
        (
            "06.sees",
            lambda f, x: torch.stack(
                [
                    (f(x + torch.eye(len(x)).double()[:, j : j + 1] * e) - f(x))[:, 0].abs() > 1e-9
                    for j in range(len(x))
                    for e in [torch.eye(x.shape[1]).double()[0]]
                ],
                1,
            ),
            "the map[",
        ),
    ],
)
def test_what_only_looks_right_is_not(name, answer, words):
    verdict = CHECKS[name].verdict(answer)
    assert not verdict.right
    assert words in verdict.text


def test_a_module_among_the_arguments_is_named_by_its_kind():
    verdict = CHECKS["07.forward"].verdict(lambda model, source, target: source)
    assert "seen with model a Transformer, source of shape (1, 3)" in verdict.text


def test_calling_a_check_prints_the_verdict_and_returns_nothing(capsys):
    assert TWICE(lambda x: x + x) is None
    assert capsys.readouterr().out == "Right: doubled (2 cases).\n"


def test_what_is_known_is_run_once_however_many_answers_are_compared_with_it():
    ran = []

    def squares(x):
        ran.append(len(x))
        return x * x

    check = replace(TWICE, mistakes=[Mistake(squares, "you squared it")])
    for answer in (lambda x: 3 * x, lambda x: 4 * x, lambda x: x * x):
        assert not check.verdict(answer).right
    assert ran == [3, 2]  # the second case, too, as the last answer was like it in the first


def test_an_answer_cannot_spoil_the_cases_of_the_next():
    TWICE.verdict(in_place)
    assert TWICE.verdict(lambda x: 2 * x).right


def test_a_size_of_0_explains_no_factor():
    """A count that is wrong by a factor, where one of the numbers given is 0."""
    counts = Check(
        reference=lambda n, more: 6 * n * (more + 1),
        cases=lambda: [(2, 3), (5, 0), (7, 2)],
        mistakes=[],
        verified="counted",
    )
    text = counts.verdict(lambda n, more: 6 * n * (more + 1) * (n + 1)).text
    assert "for which there are no words" not in text
    assert "the result" in text


def test_lists_of_tensors_are_shown_by_their_kind():
    verdict = CHECKS["10.reordered"].verdict(lambda cache, parents: cache)
    assert (
        "cache a list of 1 thing (a tuple of 2 things (a tensor of shape (3, 2, 2, 5)"
        in verdict.text
    )
