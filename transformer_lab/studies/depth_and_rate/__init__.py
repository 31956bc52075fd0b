"""Lesson 14: which depth and which peak rate can post-norm and pre-norm stand?"""
