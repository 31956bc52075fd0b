"""Tools that several studies share: a grid of runs, stored results, intervals, measurements."""
