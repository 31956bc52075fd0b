"""Lesson 02: what helps learning, the root √d_k or the size at which W_Q and W_K start?"""
