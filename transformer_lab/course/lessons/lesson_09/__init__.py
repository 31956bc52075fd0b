"""Lesson 09, training."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_09 import debugging, diagnostics, training_step

check = collect_checks(training_step, diagnostics, debugging)
quiz = load_quiz(__name__)
