"""Studies that take too long for a page: one folder for each question, with the code and what it found.

Lessons and the list of findings read the results; `studies.common.store` loads them by name.
"""
