"""Lesson 15: which models can answer from a word far away, and at what cost?"""
