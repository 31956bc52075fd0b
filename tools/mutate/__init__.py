"""Change the solutions of the exercises a little, and see whether the checks refuse the results.

    python -m tools.mutate            # all mutants of all exercises, with a report
    python -m tools.mutate 06 10      # only those of these lessons
    python -m tools.mutate --write    # all, and write docs/checks.md

A mutant is a solution with one operator, axis, constant, sign, comparison, order or line changed. If the
check calls it right, either the change makes no difference on any input that the docstring allows, or
the check has a hole.
"""
