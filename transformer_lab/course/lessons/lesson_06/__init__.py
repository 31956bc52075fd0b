"""Lesson 06: masks and the decoder."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_06 import checks, decoder_layer

check = collect_checks(checks, decoder_layer)
quiz = load_quiz(__name__)
