"""Lesson 03: multi-head attention."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_03 import heads, layer

check = collect_checks(heads, layer)
quiz = load_quiz(__name__)
