"""The judge of the exercises: it runs an answer and says whether it is right, or what is wrong with it.

Every check of every lesson is a `Check` from here.
"""
