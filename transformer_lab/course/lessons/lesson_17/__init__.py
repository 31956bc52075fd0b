"""Lesson 17: review."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_17 import decoder_layer, shapes, sizes

check = collect_checks(shapes, decoder_layer, sizes)
quiz = load_quiz(__name__)
