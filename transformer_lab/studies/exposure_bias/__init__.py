"""Lesson 10: what does it cost to read your own words after training on the right ones?"""
