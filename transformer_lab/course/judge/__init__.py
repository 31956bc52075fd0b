"""The exercise judge, which runs an answer and says whether it is right or what is wrong with it.

Every check in the lessons is a `Check` from this package.
"""
