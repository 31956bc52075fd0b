"""Lesson 15, what attention costs."""

from transformer_lab.course.lesson_15 import counting, ways
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(counting, ways)
quiz = quiz_of(__name__)
