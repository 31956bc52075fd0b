"""An answer that doesn't end is stopped, and its learner reads where it was."""

import threading
import time

import pytest

from transformer_lab.course.judge import time_limit as module
from transformer_lab.course.judge.check import call_answer
from transformer_lab.course.judge.outcome import run_case
from transformer_lab.course.judge.time_limit import EndlessError, time_limit
from transformer_lab.course.lessons import lesson

# Whoever merges byte pairs in a `while` forgets `i += 1` sooner or later.
MERGE = lesson("08").check.merge


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    monkeypatch.setattr(module, "REPEAT_AFTER", 0.1)


def complaint_of(answer, *case):
    return run_case(answer, call_answer, case, ["x"] * len(case)).complaint


def nothing_changes(n):
    i, out = 0, []
    while i < n:
        out.append(i)
    return out


def one_way_does_not_end(n):
    i = 0
    while i < n:
        if i != 3:
            i += 1
    return i


def no_break(n):
    while True:
        for i in range(n):
            if i > n:
                return i


def grows(items):
    for item in items:
        items.append(item)


def calls_itself_in_a_loop(n):
    while n:
        nothing_changes(n)


def takes_from_a_list(items):
    while items:
        for item in list(items):
            items.remove(item)
            items.append(item)


@pytest.mark.parametrize(
    ("answer", "case", "line", "advice"),
    [
        (
            nothing_changes,
            5,
            "while i < n:\n  at that point, i is 0, n is 5",
            "changes i and n, so",
        ),
        (
            one_way_does_not_end,
            5,
            "while i < n:\n  at that point, i is 3, n is 5",
            "leaves i and n unchanged",
        ),
        (no_break, 5, "while True:", "reach a break or a return?"),
        (grows, [1, 2], "for item in items:", "add items to the list that it runs over?"),
        (
            calls_itself_in_a_loop,
            5,
            "while i < n:\n  at that point, i is 0, n is 5",
            "Nothing in the loop",
        ),
        (takes_from_a_list, [1, 2], "while items:", "leaves items unchanged?"),
    ],
)
def test_the_loop_is_named_with_what_to_look_for(short, answer, case, line, advice):
    said = complaint_of(answer, case)
    assert said.startswith(
        "your answer does not finish: it was stopped after 0.2 seconds, in this loop\n"
    )
    assert line in said
    assert said.count("\n  at that point") <= 1
    assert advice in said.splitlines()[-1]


def test_without_a_loop_of_ones_own_the_line_is_named(short):
    def waits(n):
        return sum(x % 2 for x in iter(lambda: n, None))

    assert "return sum(" in complaint_of(waits, 5)


def test_an_answer_that_catches_everything_is_stopped(short):
    def catches(n):
        while n:
            try:
                n = abs(n)
            except:  # noqa: E722
                n = n + 0

    assert "while n:" in complaint_of(catches, 5)


def test_the_check_says_so_and_runs_no_further_case(short):
    calls = []

    def merge(pieces, pair):
        calls.append(pieces)
        merged, i = [], 0
        while i < len(pieces):
            merged = [*merged, pieces[i]][-3:]
        return merged

    verdict = MERGE.verdict(merge)
    assert not verdict.right
    assert verdict.text.startswith(
        "Not yet: your answer does not finish: it was stopped after 0.2 seconds"
    )
    assert "while i < len(pieces):\n  at that point, i is 0, pieces has length" in verdict.text
    assert (
        "Nothing in the loop changes i and pieces, so the condition never changes" in verdict.text
    )
    assert len(calls) == 1 < len(MERGE.all_cases)


@pytest.mark.parametrize("error", [TimeoutError("mine"), ValueError("mine"), SystemExit("mine")])
def test_a_learners_own_exception_is_told_as_ever(error):
    def raises(n):
        raise error

    assert "mine" in complaint_of(raises, 5)


def test_ctrl_c_still_interrupts_the_check():
    def interrupted(n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        complaint_of(interrupted, 5)


def test_nothing_is_raised_once_the_block_is_left(short):
    for _ in range(3):
        with time_limit():
            pass
    time.sleep(0.3)  # the limit passes here, where nobody is to be stopped


def test_time_in_which_nothing_is_computed_does_not_count(short, monkeypatch):
    monkeypatch.setattr(module.time, "process_time", lambda: 0.0)
    with time_limit():
        time.sleep(0.5)


def test_it_stops_the_thread_that_runs_the_answer_and_no_other(short):
    stopped = []

    def run():
        try:
            with time_limit():
                while True:
                    pass
        except EndlessError:
            stopped.append(threading.get_ident())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert stopped == [thread.ident]
