"""Lesson 08: text to batches."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_08 import batches, byte_pairs

check = collect_checks(byte_pairs, batches)
quiz = load_quiz(__name__)
