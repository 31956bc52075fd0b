"""Lesson 10: what does it cost to read one's own words after a training that showed the right ones?"""
