"""Lesson 10c: dice, votes and drafts."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_10c import sampling, speculative, speculative_sampling

check = collect_checks(sampling, speculative, speculative_sampling)
quiz = load_quiz(__name__)
