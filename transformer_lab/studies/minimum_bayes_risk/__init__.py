"""Lesson 10c: is the sample that agrees best with the others better than the beam's output?"""
