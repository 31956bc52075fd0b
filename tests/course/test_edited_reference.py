"""`edit_reference` changes a function or a class, and refuses a change that would change nothing."""

import pytest

from transformer_lab.course.judge.edited_reference import edit_reference

STEP = 3


def add_step(x):
    return x + STEP


class Adder:
    def run(self, x):
        return add_step(x)


def test_a_function_is_changed_in_turn_and_sees_the_globals_of_its_module():
    edited = edit_reference(add_step, ("x + STEP", "x - STEP"), ("- STEP", "- 2 * STEP"))
    assert edited(10) == 4
    assert add_step(10) == 13


def test_a_class_is_changed_and_the_reference_stays():
    edited = edit_reference(Adder, ("add_step(x)", "-add_step(x)"))
    assert edited().run(1) == -4
    assert Adder().run(1) == 4


def test_what_the_source_does_not_contain_is_named():
    expected = "expected text that occurs in the source of add_step"
    with pytest.raises(ValueError, match=f"old is 'y'; {expected}"):
        edit_reference(add_step, ("y", "z"))
