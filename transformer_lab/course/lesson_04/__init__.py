"""Lesson 04, positions."""

from transformer_lab.course.lessons import checks_of, quiz_of

check = checks_of(__name__)
quiz = quiz_of(__name__)
