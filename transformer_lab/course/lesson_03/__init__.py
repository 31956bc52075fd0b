"""Lesson 03, multi-head attention."""

from transformer_lab.course.lesson_03 import heads, layer
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(heads, layer)
quiz = quiz_of(__name__)
