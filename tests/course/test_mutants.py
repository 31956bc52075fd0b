"""The checks refuse solutions with one thing changed: a seeded sample of `python -m tools.mutate`."""

import ast
import random

import numpy as np
import pytest

from tools.mutate.equivalents import EQUIVALENT, reason
from tools.mutate.mutants import Mutant, mutants, regularity_mutants
from tools.mutate.regularities import list_regularities
from tools.mutate.solutions import solutions
from tools.mutate.verdicts import verdict_on
from transformer_lab.course.judge.check import NO_EXPLANATION
from transformer_lab.course.lessons import lesson, lesson_numbers

SAMPLE = 300
SLOW = ("forward", "mend_forward", "encoder_layer", "decoder_layer", "multi_head_class", "tie")
"""Checks that build whole models: of these, fewer mutants are drawn."""


def sample(solution, share):
    drawn = random.Random(solution.name)
    every = mutants(solution)
    few = min(len(every), 2 if solution.check in SLOW else max(1, share))
    return drawn.sample(every, few)


@pytest.mark.thorough(
    caught_by=[
        "tests/course/every_check.py::test_wrong_answers_as_learners_write_them_get_the_hint_that_fits",
        "tests/course/every_check.py::test_every_known_mistake_gets_its_own_hint",
    ]
)
@pytest.mark.slow
def test_a_changed_solution_is_refused():
    everyone = list(solutions())
    share = SAMPLE // len(everyone) + 1
    tried, passed, unexplained = 0, [], []
    for solution in everyone:
        for mutant in sample(solution, share):
            tried += 1
            verdict = verdict_on(mutant)
            what = f"{solution.number}.{solution.check}: {mutant.source}"
            if verdict.right and not reason(mutant):
                passed.append(what)
            if NO_EXPLANATION in verdict.text:
                unexplained.append(what)
    assert tried >= SAMPLE - 60
    assert passed == []
    assert unexplained == []


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


@pytest.mark.thorough(
    caught_by=["tests/course/every_check.py::test_no_right_answer_is_refused_for_its_style"]
)
@pytest.mark.slow
def test_every_mutant_that_is_known_to_be_equal_is_called_right():
    everyone = {f"{s.number}.{s.check}": s for s in solutions()}
    for name, parts in EQUIVALENT.items():
        solution = everyone[name]
        assert not any(part in ast.unparse(ast.parse(solution.source)) for part in parts), name
        for part in parts:
            equal = [mutant for mutant in mutants(solution) if part in mutant.source]
            assert equal, (name, part)
            verdicts = [verdict_on(mutant) for mutant in equal]
            # Two arguments exchanged may be right and not of the types that are checked here.
            assert any(v.right or "TypeCheckError" in v.text for v in verdicts), (name, part)


def test_a_mutant_without_end_is_cut():
    (solution,) = (s for s in solutions(("08",)) if s.check == "merge")
    endless = [m for m in mutants(solution) if m.source.count("i += 1") == 0]
    assert endless
    for mutant in endless:
        assert not verdict_on(mutant).right


def test_every_kind_of_regularity_is_used():
    source = """
def pick(rows, ids, size):
    for row in rows:
        if size == len(row) and row[ids.max()] != size:
            return [x for x in row if x]
"""
    found = list_regularities(source, {"size": 3, "ids": np.array([200, 1])})
    assert set(found.values()) == {
        "it is always the first",
        "it is always the last",
        "only the first counts",
        "the first never counts",
        "the last never counts",
        "a condition always holds",
        "a condition never holds",
        "a condition decides alone",
        "equal values are one object",
        "no axis has length 1",
        "size is always the same",
        "ids are small",
    }
    assert ast.unparse(ast.parse(source)) not in found
    for text in found:
        ast.parse(text)


@pytest.mark.thorough(
    caught_by=[
        "tests/course/every_check.py::test_wrong_answers_as_learners_write_them_get_the_hint_that_fits",
        "tests/course/every_check.py::test_every_known_mistake_gets_its_own_hint",
    ]
)
@pytest.mark.slow
def test_no_answer_that_uses_a_regularity_is_called_right():
    tried, passed = 0, []
    for solution in solutions():
        for mutant in regularity_mutants(solution):
            tried += 1
            if verdict_on(mutant).right and not reason(mutant):
                passed.append(
                    f"{solution.number}.{solution.check}: {mutant.change}: {mutant.source}"
                )
    assert tried > 300
    assert passed == []
