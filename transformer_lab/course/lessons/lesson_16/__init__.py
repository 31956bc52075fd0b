"""Lesson 16: the family tree."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_16 import pretraining, sharing

check = collect_checks(pretraining, sharing)
quiz = load_quiz(__name__)
