"""Lesson 14: which depths and peak rates do post-norm and pre-norm tolerate?"""
