"""Lesson 10b: the KV cache."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_10b import (
    cached_attention,
    kv_cache,
    left_padding,
    prefill,
)

check = collect_checks(cached_attention, prefill, left_padding, kv_cache)
quiz = load_quiz(__name__)
