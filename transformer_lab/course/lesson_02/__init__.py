"""Lesson 02, why √d_k."""

from transformer_lab.course.lesson_02 import checks
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(checks)
quiz = quiz_of(__name__)
