"""Lesson 14: which depths and peak rates can post-norm and pre-norm stand?"""
