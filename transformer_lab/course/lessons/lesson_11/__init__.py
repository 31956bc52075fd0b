"""Lesson 11, explore the heads."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_11 import rows, scores

check = collect_checks(rows, scores)
quiz = load_quiz(__name__)
