"""Lesson 07, the whole Transformer."""

from transformer_lab.course.lesson_07 import embeddings, forward
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(embeddings, forward)
quiz = quiz_of(__name__)
