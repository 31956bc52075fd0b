"""Lesson 18, a translator that people use."""

from transformer_lab.course.lesson_18 import evidence, parts, recurrence
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(parts, evidence, recurrence)
quiz = quiz_of(__name__)
