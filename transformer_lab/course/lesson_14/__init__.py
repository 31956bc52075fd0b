"""Lesson 14, ablations."""

from transformer_lab.course.lesson_14 import results, variants
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(variants, results)
quiz = quiz_of(__name__)
