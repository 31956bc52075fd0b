"""Lesson 09, training."""

from transformer_lab.course.lesson_09 import patients, readings, step
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(step, readings, patients)
quiz = quiz_of(__name__)
