"""Lesson 17, review."""

from transformer_lab.course.lesson_17 import decoder_layer, shapes, sizes
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(shapes, decoder_layer, sizes)
quiz = quiz_of(__name__)
