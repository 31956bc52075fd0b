"""Lesson 02: is it the root √d_k that helps to learn, or the size at which W_Q and W_K start?"""
