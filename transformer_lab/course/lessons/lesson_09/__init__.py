"""Lesson 09, training."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_09 import debugging, readings, step

check = collect_checks(step, readings, debugging)
quiz = load_quiz(__name__)
