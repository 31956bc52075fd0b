"""Lesson 13: longer than it was trained on."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_13 import failures, positions

check = collect_checks(positions, failures)
quiz = load_quiz(__name__)
