"""Lesson 02: what helps learning, dividing by √d_k or the initial size of W_Q and W_K?"""
