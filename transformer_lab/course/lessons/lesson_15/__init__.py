"""Lesson 15: what attention costs."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_15 import complexity, efficient_attention

check = collect_checks(complexity, efficient_attention)
quiz = load_quiz(__name__)
