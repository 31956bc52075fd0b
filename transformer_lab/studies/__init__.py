"""Studies that take too long for a lesson: one folder per question, with the code and the results.

Lessons and the list of findings read the results, and `studies.common.store` loads them by name.
"""
