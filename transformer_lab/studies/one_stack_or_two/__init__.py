"""Lesson 16: does a translator need an encoder?"""
