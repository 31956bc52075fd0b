"""Lesson 13, longer than it was trained on."""

from transformer_lab.course.lesson_13 import failures, positions
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(positions, failures)
quiz = quiz_of(__name__)
