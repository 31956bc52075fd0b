"""Lesson 10: decoding."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_10 import beam, greedy

check = collect_checks(greedy, beam)
quiz = load_quiz(__name__)
