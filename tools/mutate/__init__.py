"""Change the solutions of the exercises a little, and see whether the checks refuse what comes out.

    python -m tools.mutate            # all mutants of all exercises, with a report
    python -m tools.mutate 06 10      # of these lessons
    python -m tools.mutate --write    # all, and docs/checks.md from them

A mutant is a solution with one operator, axis, constant, sign, comparison, order or line changed. One
that the check calls right either changes nothing that the docstring allows to be seen, or shows a hole in
the check.
"""
