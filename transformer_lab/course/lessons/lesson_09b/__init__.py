"""Lesson 09b: when it does not learn."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_09b import debugging, gradient_lengths

check = collect_checks(gradient_lengths, debugging)
quiz = load_quiz(__name__)
