"""Lesson 10, decoding."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_10 import (
    beam,
    cached,
    drawn,
    greedy,
    kept,
    prompt,
    sampling,
    speculative,
)

check = collect_checks(greedy, beam, sampling, cached, prompt, kept, speculative, drawn)
quiz = load_quiz(__name__)
