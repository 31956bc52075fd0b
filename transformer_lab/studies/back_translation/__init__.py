"""Lesson 09: what are French sentences without a translation worth?"""
