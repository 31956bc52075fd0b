"""Lesson 10, decoding."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_10 import (
    beam,
    cached_attention,
    greedy,
    kv_cache,
    left_padding,
    prefill,
    sampling,
    speculative,
    speculative_sampling,
)

check = collect_checks(
    greedy,
    beam,
    sampling,
    cached_attention,
    prefill,
    left_padding,
    kv_cache,
    speculative,
    speculative_sampling,
)
quiz = load_quiz(__name__)
