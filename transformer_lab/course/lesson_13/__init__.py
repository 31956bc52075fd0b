"""Lesson 13, longer than it was trained on."""

from transformer_lab.course.lessons import checks_of, quiz_of

check = checks_of(__name__)
quiz = quiz_of(__name__)
