"""Lesson 12: where "it" is resolved."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_12 import checks

check = collect_checks(checks)
quiz = load_quiz(__name__)
