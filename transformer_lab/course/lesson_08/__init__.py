"""Lesson 08, text to batches."""

from transformer_lab.course.lesson_08 import batches, byte_pairs
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(byte_pairs, batches)
quiz = quiz_of(__name__)
