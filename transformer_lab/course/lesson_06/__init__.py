"""Lesson 06, masks and the decoder."""

from transformer_lab.course.lesson_06 import checks, decoder_layer
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(checks, decoder_layer)
quiz = quiz_of(__name__)
