"""Lesson 04, positions."""

from transformer_lab.course.lesson_04 import checks
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(checks)
quiz = quiz_of(__name__)
