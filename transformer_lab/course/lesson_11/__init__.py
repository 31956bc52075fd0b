"""Lesson 11, explore the heads."""

from transformer_lab.course.lesson_11 import rows, scores
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(rows, scores)
quiz = quiz_of(__name__)
