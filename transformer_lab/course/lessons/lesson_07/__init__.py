"""Lesson 07: the whole Transformer."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_07 import embeddings, forward

check = collect_checks(embeddings, forward)
quiz = load_quiz(__name__)
