"""Lesson 05: the encoder."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_05 import checks

check = collect_checks(checks)
quiz = load_quiz(__name__)
