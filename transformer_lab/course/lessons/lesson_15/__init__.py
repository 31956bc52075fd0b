"""Lesson 15, what attention costs."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_15 import counting, ways

check = collect_checks(counting, ways)
quiz = load_quiz(__name__)
