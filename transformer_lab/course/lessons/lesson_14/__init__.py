"""Lesson 14: ablations."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_14 import differences, metrics, variants

check = collect_checks(differences, variants, metrics)
quiz = load_quiz(__name__)
