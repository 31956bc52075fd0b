"""Lesson 14: does it matter where dropout is applied?"""
