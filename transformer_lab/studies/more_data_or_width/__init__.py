"""Lesson 14: does a translator keep improving with more data, and with more width?"""
