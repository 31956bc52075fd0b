"""Lesson 10, decoding."""

from transformer_lab.course.lesson_10 import (
    beam,
    cached,
    drawn,
    greedy,
    kept,
    prompt,
    sampling,
    speculative,
)
from transformer_lab.course.lessons import checks_in, quiz_of

check = checks_in(greedy, beam, sampling, cached, prompt, kept, speculative, drawn)
quiz = quiz_of(__name__)
