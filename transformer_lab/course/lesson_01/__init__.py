"""Lesson 01, attention in NumPy."""

from transformer_lab.course.lesson_01 import attention, backward
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(attention, backward)
quiz = quiz_of(__name__)
