"""Lesson 09: what happens without warm-up, with ten times the rate, or with pre-norm?"""
