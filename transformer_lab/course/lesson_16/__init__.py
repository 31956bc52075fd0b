"""Lesson 16, the family tree."""

from transformer_lab.course.lesson_16 import relatives, tasks
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(tasks, relatives)
quiz = quiz_of(__name__)
