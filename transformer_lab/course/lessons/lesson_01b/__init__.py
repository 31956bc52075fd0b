"""Lesson 01b: the backward pass by hand."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_01b import checks

check = collect_checks(checks)
quiz = load_quiz(__name__)
