"""Lesson 11: explore the heads."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_11 import attention_weights, scores

check = collect_checks(attention_weights, scores)
quiz = load_quiz(__name__)
