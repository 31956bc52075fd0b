"""Lesson 18: a translator that people use."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_18 import quantization, recurrence, statistics, subwords

check = collect_checks(quantization, subwords, statistics, recurrence)
quiz = load_quiz(__name__)
